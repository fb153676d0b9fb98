// A process of bench/faults.mjs: calls that syntheses make of the native kernels are made again with the n-th allocation
// failing, for every n, and the n-th and all behind it; those with threads also with the n-th thread. Each must end in an
// error that says so, or in the same answer; nothing may stay allocated, and the next call must give the same answer.
// Prints one JSON object. Arguments: calls of each kernel that are tried.
import { isDeepStrictEqual } from "node:util";
import { loadKernels } from "../dist/engine/kernels/load.js";
import { FaultPage, KINDS, WAYS } from "./faults-page.mjs";
import { kernelProblems, outcome } from "./faults-problems.mjs";

const CALLS_PER_KERNEL = Number(process.argv[2] ?? 4);
const FOREVER = 2 ** 40;
const THREADS = 4;

const page = new FaultPage(process.env.BANYAN_FAULTS);
const { kernels } = await loadKernels("native");

const problems = await kernelProblems(kernels);
const rows = [];
const faults = [];

/** Fails the n-th call of a kind for every n, until one number is not reached; returns how many runs there were. */
function failEach(name, problem, kind, isForever) {
  const expected = outcome(kernels[name], problem);
  const before = page.read().blocks;
  for (let n = 1; ; n++) {
    page.arm(kind, { first: n, last: isForever ? FOREVER : n, how: WAYS.ENOMEM });
    const { answer, error } = outcome(kernels[name], problem);
    page.disarm();
    const { fired, blocks } = page.read();
    const say = (what) => faults.push(`${name}, call ${n} of ${kind === KINDS.memory ? "memory" : "threads"}: ${what}`);
    if (error !== undefined && !(error.outOfMemory === true && fired > 0)) say(error.message);
    if (error === undefined && !isDeepStrictEqual(answer, expected.answer)) say("another answer");
    if (blocks !== before) say(`${blocks - before} blocks are not freed`);
    if (!isDeepStrictEqual(outcome(kernels[name], problem), expected)) say("the next call gives another answer");
    if (fired === 0) return n - 1;
  }
}

for (const [name, known] of problems) {
  const allocations = (problem) => {
    page.arm(KINDS.memory);
    outcome(kernels[name], problem);
    page.disarm();
    return page.read().calls;
  };
  const counted = known.map((problem) => ({ problem, count: allocations(problem) }));
  const tried = counted.sort((a, b) => b.count - a.count).slice(0, CALLS_PER_KERNEL);
  let [memory, threads] = [0, 0];
  for (const { problem } of tried) {
    for (const isForever of [false, true]) {
      memory += failEach(name, problem, KINDS.memory, isForever);
      if (!("threads" in problem)) continue;
      const shared = { ...problem, threads: THREADS };
      memory += failEach(name, shared, KINDS.memory, isForever);
      threads += failEach(name, shared, KINDS.threads, isForever);
    }
  }
  rows.push({ name, calls: tried.length, memory, threads });
}
console.log(JSON.stringify({ rows, faults }));
