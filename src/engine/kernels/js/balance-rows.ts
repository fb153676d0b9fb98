import type { BalanceColumns } from "../outputs.ts";
import type { Pouring } from "./balance-pour.ts";

/** The shards of one step: nodes ascending, each with its class. */
export interface StepShards {
  readonly nodes: Int32Array;
  readonly classOf: Int32Array;
  readonly count: number;
}

/**
 * The JavaScript twin of native/kernels/balance_rows.h: writes the rows of a step from `at` on and returns where they end. The
 * shards of a class fill its ports in turn, those first that get a part of a shard, so that only shards between two of them
 * are cut. O(shards + edges).
 */
export function writeRows(
  p: Pouring,
  { nodes, classOf, count }: StepShards,
  unit: number,
  step: number,
  out: BalanceColumns,
  at: number,
): number {
  const { classes, offset, flow, edgePort } = p;
  const turn = new Int32Array(offset[classes]);
  for (let c = 0, used = 0; c < classes; c++) {
    for (let e = offset[c]; e < offset[c + 1]; e++) if (flow[e] % unit !== 0) turn[used++] = e;
    for (let e = offset[c]; e < offset[c + 1]; e++) if (flow[e] % unit === 0) turn[used++] = e;
  }
  const place = new Int32Array(p.ports + 1);
  const walk = (take: (port: number, node: number, from: number, to: number) => void): void => {
    const next = offset.slice(0, classes);
    const left = Float64Array.from(next, (first) => flow[turn[first]]);
    for (let i = 0; i < count; i++) {
      const c = classOf[i];
      for (let from = 0; from < unit; ) {
        while (left[c] === 0) left[c] = flow[turn[++next[c]]];
        const to = Math.min(unit, from + left[c]);
        take(edgePort[turn[next[c]]], nodes[i], from, to);
        left[c] -= to - from;
        from = to;
      }
    }
  };
  walk((port) => {
    place[port + 1]++;
  });
  for (let k = 0; k < p.ports; k++) place[k + 1] += place[k];
  const end = at + place[p.ports];
  walk((port, node, from, to) => {
    const row = at + place[port]++;
    out.step[row] = step;
    out.port[row] = port;
    out.source[row] = node;
    out.from[row] = from;
    out.to[row] = to;
  });
  return end;
}
