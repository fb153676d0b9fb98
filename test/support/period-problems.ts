import * as fc from "fast-check";
import { random } from "../../src/base/random.ts";
import type { PeriodProblem, PeriodTimetable } from "../../src/engine/contract/kernels.ts";

/** Problems of the period kernel, and the laws of its answers. */

/** Random networks and random spanning trees of them; figures alike or not, edges side by side, periods long or just long enough. */
export const periodProblems = (mostNpus = 9, mostTrees = 5): fc.Arbitrary<PeriodProblem> =>
  fc
    .record({
      seed: fc.nat({ max: 2 ** 31 }),
      npuCount: fc.integer({ min: 1, max: mostNpus }),
      treeCount: fc.nat({ max: mostTrees }),
      scale: fc.constantFrom(1, 7, 2 ** 20),
    })
    .map(({ seed, npuCount, treeCount, scale }) => {
      const draws = random(seed, 103);
      const alike = draws.below(2) === 0;
      const rows: [number, number, number, number][] = [];
      for (let i = 1; i < npuCount + draws.below(2 * npuCount) && npuCount > 1; i++) {
        const [from, to] = i < npuCount ? [i, draws.below(i)] : [draws.below(npuCount), draws.below(npuCount)];
        if (from !== to)
          rows.push([from, to, alike ? 10 * scale : 1 + draws.below(20 * scale), alike ? 0 : draws.below(60)]);
      }
      const used = new Uint8Array(treeCount * rows.length);
      const busy = rows.map(() => 0);
      for (let i = 0; i < treeCount; i++) {
        const part = Array.from({ length: npuCount }, (_, v) => v);
        while (new Set(part).size > 1) {
          const e = draws.below(rows.length);
          const [a, b] = [part[rows[e][0]], part[rows[e][1]]];
          if (a === b) continue;
          for (const [v, own] of part.entries()) if (own === a) part[v] = b;
          used[i * rows.length + e] = 1;
          busy[e] += rows[e][2];
        }
      }
      return {
        npuCount,
        treeCount,
        tail: Int32Array.from(rows, ([from]) => from),
        head: Int32Array.from(rows, ([, to]) => to),
        serialPs: Float64Array.from(rows, ([, , serial]) => serial),
        latencyPs: Float64Array.from(rows, ([, , , latency]) => latency),
        used,
        periodPs: Math.max(1, ...busy) + draws.below(2) * draws.below(30 * scale),
        shakePs: draws.below(2) * draws.below(100 * scale),
        seed: draws.next(),
        turn: draws.below(9),
      };
    });

/** Returns what is wrong with a timetable by the words of its contract. */
export function brokenPeriodLaws(problem: PeriodProblem, { entry, startPs }: PeriodTimetable): string[] {
  const { npuCount, treeCount, tail, head, serialPs, latencyPs, used, periodPs } = problem;
  const broken: string[] = [];
  const far = (edge: number, npu: number): number => (tail[edge] === npu ? head[edge] : tail[edge]);
  const busy = new Map<string, number[]>();
  for (let i = 0; i < treeCount; i++) {
    const entryOf = (npu: number): number => entry[i * npuCount + npu];
    const edges = [...tail.keys()].filter((e) => used[i * tail.length + e] === 1);
    const farthest = (from: number): number => {
      const hops = new Map([[from, 0]]);
      for (const [npu, count] of hops) {
        for (const e of edges) {
          if ((tail[e] === npu || head[e] === npu) && !hops.has(far(e, npu))) hops.set(far(e, npu), count + 1);
        }
      }
      return Math.max(...hops.values());
    };
    const npus = Array.from({ length: npuCount }, (_, v) => v);
    const [root, ...more] = npus.filter((npu) => entryOf(npu) === -1);
    if (root === undefined || more.length > 0) broken.push(`tree ${i} has not one root`);
    else if (farthest(root) > Math.min(...npus.map(farthest))) broken.push(`tree ${i} is not rooted in its middle`);
    for (const npu of npus.filter((v) => v !== root)) {
      const edge = entryOf(npu);
      if (!edges.includes(edge) || (tail[edge] !== npu && head[edge] !== npu)) broken.push(`tree ${i}, ${npu}: edge`);
      const above = far(edge, npu);
      const [up, down] = [startPs[2 * i * npuCount + npu], startPs[(2 * i + 1) * npuCount + npu]];
      const lastsPs = serialPs[edge] + latencyPs[edge];
      if (up < 0 || down < 0) broken.push(`tree ${i}, ${npu}: no start`);
      if (above !== root) {
        const next = entryOf(above);
        if (startPs[2 * i * npuCount + above] < up + lastsPs) broken.push(`tree ${i}, ${npu}: sum`);
        const there = startPs[(2 * i + 1) * npuCount + above] + serialPs[next] + latencyPs[next];
        if (down < there) broken.push(`tree ${i}, ${npu}: result`);
      } else {
        const early = npus.some(
          (v) => v !== root && far(entryOf(v), v) === root && startPs[(2 * i + 1) * npuCount + v] < up + lastsPs,
        );
        if (early) broken.push(`tree ${i}, ${npu}: root`);
      }
      for (const [from, start] of [
        [npu, up],
        [above, down],
      ])
        busy.set(`${edge} ${from}`, [...(busy.get(`${edge} ${from}`) ?? []), start]);
    }
  }
  for (const [line, starts] of busy) {
    const slot = serialPs[Number.parseInt(line, 10)];
    for (const [a, start] of starts.entries()) {
      for (const other of starts.slice(0, a)) {
        const apart = Math.abs(start - other) % periodPs;
        if (Math.min(apart, periodPs - apart) < slot) broken.push(`line ${line}: ${start}, ${other}`);
      }
    }
  }
  return broken;
}
