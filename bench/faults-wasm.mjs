// A memory of WebAssembly that cannot grow: calls that syntheses make are made again by modules whose memory ends at every page
// up to what they need. Each ends in an error that says so, or in the same answer, and the next small call in the right one.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { wasmKernels } from "../dist/engine/kernels/wasm.js";
import { kernelProblems, outcome } from "./faults-problems.mjs";

const MODULE = new URL("../wasm/build/banyan.wasm", import.meta.url);
const MEMORY_SECTION = 5;
const HEADER_BYTES = 8;
/** Problems of a kernel that are tried. */
const TRIED = 4;

/** Returns a number as WebAssembly writes it (LEB128). */
const numberBytes = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...numberBytes(value >>> 7)]);

/** Returns the module with a memory of so many pages, that grows to `most`. */
function withMemory(module, pages, most) {
  for (let at = HEADER_BYTES; at < module.length; ) {
    const [id, start] = [module[at], at];
    let [length, shift, byte] = [0, 0, 0];
    do {
      byte = module[++at];
      length += (byte & 127) * 2 ** shift;
      shift += 7;
    } while (byte >= 128);
    at += 1 + length;
    if (id !== MEMORY_SECTION) continue;
    const body = [1, 1, ...numberBytes(pages), ...numberBytes(most)];
    const section = Uint8Array.of(id, ...numberBytes(body.length), ...body);
    return Buffer.concat([module.subarray(0, start), section, module.subarray(at)]);
  }
  throw new Error("the module has no memory of its own");
}

/** Returns the kernels of a module with such a memory. */
const kernelsWith = (module, pages, most) => wasmKernels(new WebAssembly.Module(withMemory(module, pages, most)));

/** Returns the fewest pages with which a module has room for a byte. */
function leastPages(module) {
  const imports = {
    banyan: { cancelled: () => 0 },
    env: { emscripten_notify_memory_growth: () => {} },
    wasi_snapshot_preview1: { proc_exit: () => {} },
  };
  for (let pages = 1; ; pages++) {
    try {
      const compiled = new WebAssembly.Module(withMemory(module, pages, pages));
      const { _initialize, banyan_alloc } = new WebAssembly.Instance(compiled, imports).exports;
      _initialize?.();
      if (banyan_alloc(1) !== 0) return pages;
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
    }
  }
}

/** Tries every kernel; gives what is wrong to `onFault`. Returns a row for each. */
export async function growMemory({ share, onFault }) {
  const module = readFileSync(MODULE);
  const least = leastPages(module) - 1;
  const problems = await kernelProblems(kernelsWith(module, least, 65536), [16, 16]);
  const rows = [];
  for (const [kernel, known] of problems) {
    const tried = known
      .map((problem) => ({ problem, bytes: JSON.stringify(problem).length }))
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, Math.ceil(TRIED * share));
    const small = known.at(0);
    let [failed, answered] = [0, 0];
    for (const { problem } of tried) {
      const whole = kernelsWith(module, least, 65536);
      const [expected, expectedSmall] = [outcome(whole[kernel], problem), outcome(whole[kernel], small)];
      for (let most = least; ; most++) {
        const kernels = kernelsWith(module, least, most);
        const { answer, error } = outcome(kernels[kernel], problem);
        const say = (what) => onFault(`${kernel}, ${most} pages: ${what}`);
        if (error === undefined) {
          answered++;
          if (!isDeepStrictEqual(answer, expected.answer)) say("another answer");
          break;
        }
        if (isDeepStrictEqual(error, expected.error)) break;
        failed++;
        if (error.outOfMemory !== true) say(error.message);
        const next = outcome(kernels[kernel], small);
        if (next.error?.outOfMemory !== true && !isDeepStrictEqual(next, expectedSmall))
          say("a wrong answer behind it");
      }
    }
    rows.push({ kernel, calls: tried.length, failed, answered });
  }
  return rows;
}
