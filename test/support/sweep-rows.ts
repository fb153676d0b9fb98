import type { Row } from "../../src/model/sweep/task.ts";
import { contentHash } from "../../src/model/sweep/task.ts";

const TOPOLOGIES = ["mesh:4x4", "torus:4x4", "dgx-a100:2", "L3(C(16,{3,4}))", 'a "b" <c> é漢'];
const SIZES = ["1KiB", "64KiB", "1MiB", "1GiB"];
const ALGORITHMS = ["tacos", "ring", "forestcoll"];

/** Returns whole numbers below a bound, the same for the same seed. */
function drawing(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Returns rows as sweeps have them: axes as texts, figures, cells that are nothing, columns that only some rows have. */
export function sweepRows(count: number, seed: number): Row[] {
  const draw = drawing(seed);
  const of = <T>(list: readonly T[]): T => list[draw(list.length)] as T;
  return Array.from({ length: count }, (_, i): Row => {
    const failed = draw(10) === 0;
    return {
      task: contentHash(`${seed} ${i >> 1}`),
      topology: of(TOPOLOGIES),
      without: of([null, "0-1", "3>4"]),
      collective: of(["allgather", "allreduce"]),
      size: of(SIZES),
      algorithm: of(ALGORITHMS),
      count: 1 + draw(4),
      status: failed ? "timeout" : "done",
      why: failed ? "it took more than 60 s" : null,
      ...(failed ? {} : { us: draw(1000) / 8, price: draw(50), kept: draw(2) === 0, of_limit: draw(64) / 64 }),
      ...(draw(3) === 0 ? { algbw_GBps: draw(2 ** 20) / 1024 } : {}),
      schedule: null,
    };
  });
}
