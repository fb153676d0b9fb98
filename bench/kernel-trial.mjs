// One backend on one case of a table of trials, in a process of its own: kernel-trial.mjs FILE CASE BACKEND. First message ({ runs: 0 }): calls that
// are not timed, for half a second and at least one, answered by a digest of all bits of the result. Second: `runs` timed
// calls, answered by their wall and processor seconds and the digest.
import { createHash } from "node:crypto";
import { loadKernels } from "../dist/engine/kernels/load.js";
import { answerWith } from "./support.mjs";

const [file, index, backend] = process.argv.slice(2);
const { CASES, problemOf } = await import(`./${file}`);
const trial = CASES[Number(index)];
const WARM_UP_MS = 500;
let call;
let moved;

/** The columns of a result, those of its parts in turn, chunks or sources first where there are any; single values as columns of text. */
function columnsOf(found) {
  if (ArrayBuffer.isView(found)) return [found];
  if (typeof found !== "object" || found === null) return [new TextEncoder().encode(String(found))];
  const { chunk, source, ...others } = found;
  return [chunk, source, ...Object.values(others)].filter((part) => part !== undefined).flatMap(columnsOf);
}

function digest(columns) {
  const hash = createHash("sha256");
  for (const column of columns) {
    hash.update(`${column.length}:`);
    const bytes = new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
    for (let at = 0; at < bytes.length; at += 2 ** 28) hash.update(bytes.subarray(at, at + 2 ** 28));
  }
  return hash.digest("hex");
}

answerWith(async ({ runs }) => {
  if (call === undefined) {
    const { kernels } = await loadKernels(backend);
    const problem = await problemOf(trial, kernels);
    moved = problem.chunk?.length;
    call = () => kernels[trial.kernel](problem);
  }
  if (runs === 0) {
    const start = performance.now();
    let found = call();
    while (performance.now() - start < WARM_UP_MS) found = call();
    return { digest: digest(columnsOf(found)), transfers: moved ?? columnsOf(found)[0].length };
  }
  const seconds = [];
  const processorSeconds = [];
  let last;
  for (let i = 0; i < runs; i++) {
    last = undefined;
    const used = process.cpuUsage();
    const start = performance.now();
    last = call();
    seconds.push((performance.now() - start) / 1000);
    const { user, system } = process.cpuUsage(used);
    processorSeconds.push((user + system) / 1e6);
  }
  return { digest: digest(columnsOf(last)), seconds, processorSeconds };
});
