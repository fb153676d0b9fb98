// One matching in slots: `node scale-trial.mjs TOPOLOGY BACKEND THREADS SYMMETRIC`, where yes makes the schedule the same under
// all maps of the network onto itself; answers with seconds, these included, and a digest of the logs.
import { createHash } from "node:crypto";
import { loadKernels } from "../dist/engine/kernels/load.js";
import { presetTopology } from "../dist/model/presets/preset.js";
import { routesOf } from "../dist/model/routes/routing.js";
import { automorphismsOf } from "../dist/model/symmetry/automorphisms.js";
import { answerWith } from "./support.mjs";

const [expression, backend, threads, symmetric] = process.argv.slice(2);
const topology = presetTopology(expression);
const npus = topology.npuCount;
const { source, target } = routesOf(topology, 1);
const { kernels } = await loadKernels(backend);
const problem = {
  npuCount: npus,
  chunkCount: npus,
  routeSource: source,
  routeTarget: target,
  heldOffset: Int32Array.from({ length: npus + 1 }, (_, v) => v),
  heldChunk: Int32Array.from({ length: npus }, (_, v) => v),
  wanted: null,
  choosers: null,
  policy: { seed: 1, choice: 0, window: 1, lateLimit: 0 },
  threads: Number(threads),
  maxSlots: Math.ceil((npus - 1) / 2) + 64,
};

function mapColumns() {
  if (symmetric !== "yes") return null;
  const maps = automorphismsOf(npus, source, target);
  const columns = new Int32Array(maps.length * npus);
  for (const [g, map] of maps.entries()) columns.set(map, g * npus);
  return columns;
}

function digestOf({ chunk, ports, slots }) {
  const hash = createHash("sha256");
  for (const column of [chunk, ports, slots]) {
    for (let at = 0; at < column.byteLength; at += 2 ** 30) {
      hash.update(new Uint8Array(column.buffer, column.byteOffset + at, Math.min(2 ** 30, column.byteLength - at)));
    }
  }
  return hash.digest("hex").slice(0, 16);
}

answerWith(({ runs }) => {
  const seconds = [];
  let digest = null;
  let slots = 0;
  let symmetries = 1;
  for (let i = 0; i < Math.max(1, runs); i++) {
    const start = performance.now();
    const maps = mapColumns();
    const logs = kernels.spread({ ...problem, maps });
    seconds.push((performance.now() - start) / 1000);
    const found = digestOf(logs);
    if (digest !== null && digest !== found) throw new Error(`${expression}: ${backend} does not repeat itself`);
    digest = found;
    if (maps !== null) symmetries = maps.length / npus;
    slots = logs.slots.reduce((most, count) => Math.max(most, count), 0);
  }
  return { seconds, digest, slots, symmetries, transfers: npus * (npus - 1) };
});
