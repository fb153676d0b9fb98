// One schedule in a process of its own: simulator-trial.mjs CASE. One message, answered by the seconds of every verb on every
// backend; simulations are compared bit for bit with those in JavaScript before anything is timed.
import { isDeepStrictEqual } from "node:util";
import { BACKENDS } from "../dist/engine/contract/kernels.js";
import { loadKernels } from "../dist/engine/kernels/load.js";
import { openEngine, simulate, synthesize, verify } from "../dist/index.js";
import { CASES, SWITCHINGS } from "./simulator-cases.mjs";
import { answerWith } from "./support.mjs";

const trial = CASES[Number(process.argv[2])];

/** Returns the kernels of every backend that loads. */
async function kernelsHere() {
  const found = [];
  for (const backend of BACKENDS) {
    try {
      found.push((await loadKernels(backend)).kernels);
    } catch {
      // the report says which backends were measured
    }
  }
  return found;
}

/** Returns the seconds of each call; the first is not timed. */
function timed(call) {
  const seconds = [];
  for (let i = -1; i < trial.runs; i++) {
    const start = performance.now();
    call();
    if (i >= 0) seconds.push((performance.now() - start) / 1000);
  }
  return seconds;
}

answerWith(async () => {
  const engine = await openEngine();
  const { schedule } = await synthesize({ engine, trials: 1, sizeBytes: 2 ** 30, ...trial.request });
  await engine.close();
  const { route, chunk, routes } = schedule;
  let hops = 0;
  for (let i = 0; i < route.length; i++) hops += routes.linkOffset[route[i] + 1] - routes.linkOffset[route[i]];
  const results = [];
  for (const switching of SWITCHINGS) {
    const expected = simulate(schedule, { switching, timeline: true });
    for (const { backend, replay } of await kernelsHere()) {
      if (!isDeepStrictEqual(simulate(schedule, { switching, timeline: true, replay }), expected)) {
        throw new Error(`${backend} simulates ${trial.name} otherwise than JavaScript`);
      }
      const seconds = timed(() => simulate(schedule, { switching, replay }));
      results.push({ verb: `simulate, ${switching}`, backend, seconds });
    }
  }
  const check = () => {
    if (verify(schedule).violationCount > 0) throw new Error(`${trial.name} is not valid`);
  };
  results.push({ verb: "verify", backend: "js", seconds: timed(check) });
  return { transfers: chunk.length, hops, results };
});
