import type { NetworkDimension } from "../../src/model/dimensions/dimensions.ts";
import { PHASE_REDUCE_SCATTER } from "../../src/model/phases/phase-schedule.ts";
import { type PhaseRow, type PlainPhases, phaseCost } from "./phase-schedules.ts";

/** Blocks that an NPU holds of a chunk, each with the NPUs whose contributions are in it. */
type Held = Map<number, ReadonlySet<number>>;

/**
 * Returns whether the phases of every chunk do their work, by carrying them out on every NPU with sets, in the time that they
 * need, one after the other; and whether no dimension serialises two at once, by comparing all pairs.
 */
export function phasesWork(schedule: PlainPhases): boolean {
  const { collective, rows } = schedule;
  const spans: { readonly lane: string; readonly from: number; readonly to: number }[] = [];
  for (let chunk = 0; chunk < collective.chunksPerNpu; chunk++) {
    const own = rows.filter((row) => row.chunk === chunk).sort((a, b) => a.startPs - b.startPs || a.endPs - b.endPs);
    if (!chunkWorks(schedule, own, spans)) return false;
  }
  return spans.every((a, i) => spans.every((b, j) => i === j || a.lane !== b.lane || a.to <= b.from || b.to <= a.from));
}

function chunkWorks(
  schedule: PlainPhases,
  rows: readonly PhaseRow[],
  spans: { readonly lane: string; readonly from: number; readonly to: number }[],
): boolean {
  const { collective, dimensions, algorithms } = schedule;
  // ranks: all groups do the same
  const npus = collective.groupSize;
  const all = Array.from({ length: npus }, (_, npu) => npu);
  const gathers = collective.kind === "allgather";
  let state = all.map(
    (npu): Held => new Map((gathers ? [npu] : all).map((block) => [block, new Set(gathers ? all : [npu])])),
  );
  let ready = 0;
  for (const { dimension: d, op, startPs, endPs } of rows) {
    const next = state.map((_, npu) => moved(state, lineOf(npu, d, dimensions), npu, d, op, dimensions));
    if (next.some((held) => held === null)) return false;
    const [before, after] = [state, next as Held[]].map((held) => (held[0] as Held).size) as [number, number];
    const { serialPs, latencyPs } = phaseCost(schedule, d, before, after);
    if (startPs < ready || endPs - startPs < serialPs + latencyPs) return false;
    spans.push({ lane: `${d} ${algorithms[d] === "offload" ? op : 0}`, from: startPs, to: startPs + serialPs });
    state = next as Held[];
    ready = endPs;
  }
  return state.every((held, npu) => {
    const wanted = collective.kind === "reducescatter" ? [npu] : all;
    return held.size === wanted.length && wanted.every((block) => held.get(block)?.size === npus);
  });
}

const strideOf = (d: number, dimensions: readonly NetworkDimension[]): number =>
  dimensions.slice(0, d).reduce((product, { size }) => product * size, 1);

function lineOf(npu: number, d: number, dimensions: readonly NetworkDimension[]): number[] {
  const { size } = dimensions[d] as NetworkDimension;
  const stride = strideOf(d, dimensions);
  const x = Math.floor(npu / stride) % size;
  return Array.from({ length: size }, (_, other) => npu + (other - x) * stride);
}

/** What an NPU holds after a phase; null where the line's NPUs cannot carry it out. */
function moved(
  state: readonly Held[],
  line: readonly number[],
  npu: number,
  d: number,
  op: number,
  dimensions: readonly NetworkDimension[],
): Held | null {
  const held = line.map((member) => state[member] as Held);
  const stride = strideOf(d, dimensions);
  const x = (id: number): number => Math.floor(id / stride) % (dimensions[d] as NetworkDimension).size;
  if (op === PHASE_REDUCE_SCATTER) {
    const kept: Held = new Map();
    for (const block of (state[npu] as Held).keys()) {
      if (x(block) !== x(npu)) continue;
      const sum = new Set<number>();
      for (const own of held) {
        const contributions = own.get(block);
        if (contributions === undefined || [...contributions].some((one) => sum.has(one))) return null;
        for (const one of contributions) sum.add(one);
      }
      kept.set(block, sum);
    }
    return kept;
  }
  const union: Held = new Map();
  for (const own of held) {
    for (const [block, contributions] of own) {
      if (union.has(block)) return null;
      union.set(block, contributions);
    }
  }
  return union;
}
