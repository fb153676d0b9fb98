import type { Random } from "../../../../src/base/random.ts";
import type { HopsView } from "../../../../src/web/protocol.ts";

interface Row {
  readonly chunk: number;
  readonly source: number;
  readonly target: number;
  readonly start: number;
  readonly end: number;
  readonly reduces: number;
}

/** Returns hops of random chunks: some are spread from their owner, some summed along a random tree and then spread from its root. */
export function randomHops(random: Random, npus: number, chunks: number): HopsView {
  const rows: Row[] = [];
  const held: number[][] = Array.from({ length: npus }, () => []);
  const wanted: number[][] = Array.from({ length: npus }, () => []);
  const origin: number[] = [];
  for (let chunk = 0; chunk < chunks; chunk++) {
    const root = random.below(npus);
    origin.push(root);
    const others = Array.from({ length: npus }, (_, npu) => npu).filter((npu) => npu !== root);
    for (let i = others.length - 1; i > 0; i--) {
      const j = random.below(i + 1);
      [others[i], others[j]] = [others[j], others[i]];
    }
    const isSum = random.below(2) === 1;
    const time = (after: number): [number, number] => {
      const start = after + random.below(4);
      return [start, start + 1 + random.below(5)];
    };
    let readyAt = 0;
    if (isSum) {
      // children send when all their own children have: the other way round, order[k] sends to one before it
      const order = [root, ...others];
      const ready = new Array<number>(npus).fill(0);
      for (let k = npus - 1; k > 0; k--) {
        const target = order[random.below(k)];
        const [start, end] = time(ready[order[k]]);
        rows.push({ chunk, source: order[k], target, start, end, reduces: 1 });
        ready[target] = Math.max(ready[target], end);
      }
      readyAt = ready[root];
    }
    const holders = [[root, readyAt]];
    for (const target of others) {
      if (random.below(6) === 0) continue;
      const [source, since] = holders[random.below(holders.length)];
      const [start, end] = time(since);
      rows.push({ chunk, source, target, start, end, reduces: 0 });
      holders.push([target, end]);
    }
    for (let npu = 0; npu < npus; npu++) if (isSum || npu === root) held[npu].push(chunk);
    for (const [npu] of holders) if (random.below(4) > 0) wanted[npu].push(chunk);
  }
  rows.sort((a, b) => a.end - b.end);
  const offsets = (lists: readonly number[][]): Int32Array => {
    const offset = new Int32Array(npus + 1);
    lists.forEach((list, npu) => {
      offset[npu + 1] = offset[npu] + list.length;
    });
    return offset;
  };
  return {
    chunk: Int32Array.from(rows, (row) => row.chunk),
    source: Int32Array.from(rows, (row) => row.source),
    target: Int32Array.from(rows, (row) => row.target),
    startPs: Float64Array.from(rows, (row) => row.start),
    endPs: Float64Array.from(rows, (row) => row.end),
    reduces: Uint8Array.from(rows, (row) => row.reduces),
    wireOffset: new Int32Array(rows.length + 1),
    wires: new Int32Array(0),
    chunkCount: chunks,
    chunkBytes: 1,
    chunkOrigin: Int32Array.from(origin),
    heldOffset: offsets(held),
    held: Int32Array.from(held.flat()),
    wantedOffset: offsets(wanted),
    wanted: Int32Array.from(wanted.flat()),
    isPipelined: false,
    note: "",
    totalPs: rows.reduce((last, row) => Math.max(last, row.end), 0),
  };
}
