import { collective, type NamedCollective } from "../../src/model/collective/collective.ts";
import type { LineAlgorithm, NetworkDimension } from "../../src/model/dimensions/dimensions.ts";
import { multiply, rational, toNumber } from "../../src/model/numbers/rational.ts";
import { PHASE_ALL_GATHER, PHASE_REDUCE_SCATTER, type PhaseSchedule } from "../../src/model/phases/phase-schedule.ts";
import { indexColumn } from "../../src/model/steps/step-schedule.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { everyone } from "./everyone.ts";

/** A phase as a row. */
export interface PhaseRow {
  chunk: number;
  dimension: number;
  op: number;
  startPs: number;
  endPs: number;
}

/** A schedule with its rows as objects. */
export interface PlainPhases {
  readonly topology: Topology;
  readonly collective: PhaseSchedule["collective"];
  readonly dimensions: readonly NetworkDimension[];
  readonly algorithms: readonly LineAlgorithm[];
  readonly rows: readonly PhaseRow[];
}

const byTime = (a: PhaseRow, b: PhaseRow): number =>
  a.startPs - b.startPs || a.dimension - b.dimension || a.chunk - b.chunk || a.op - b.op;

/** Returns the columns of rows in any order. */
export function builtPhases({ rows, ...rest }: PlainPhases): PhaseSchedule {
  const sorted = [...rows].sort(byTime);
  const chunk = indexColumn(sorted.length, rest.collective.chunksPerNpu - 1);
  sorted.forEach((row, i) => {
    chunk[i] = row.chunk;
  });
  return {
    kind: "phases",
    ...rest,
    chunk,
    dimension: Uint8Array.from(sorted, ({ dimension }) => dimension),
    op: Uint8Array.from(sorted, ({ op }) => op),
    startPs: Float64Array.from(sorted, ({ startPs }) => startPs),
    endPs: Float64Array.from(sorted, ({ endPs }) => endPs),
  };
}

const STEPS: Readonly<Record<LineAlgorithm, (size: number) => number>> = {
  ring: (size) => size - 1,
  line: (size) => size - 1,
  direct: () => 1,
  "halving-doubling": (size) => size.toString(2).length - 1,
  offload: () => 1,
};

/** Returns serialisation and latency of a phase that leaves an NPU `after` N-th parts of a chunk instead of `before`. */
export function phaseCost(
  { collective: { chunkBytes }, dimensions, algorithms }: Pick<PlainPhases, "collective" | "dimensions" | "algorithms">,
  d: number,
  before: number,
  after: number,
): { readonly serialPs: number; readonly latencyPs: number } {
  const { bytesPerSecond, size, stepPs } = dimensions[d] as NetworkDimension;
  const algorithm = algorithms[d] as LineAlgorithm;
  const blocks = algorithm === "offload" ? before + after : Math.abs(before - after);
  const ps = multiply(chunkBytes, rational(BigInt(blocks) * 10n ** 12n, BigInt(bytesPerSecond)));
  return { serialPs: Math.ceil(toNumber(ps)), latencyPs: STEPS[algorithm](size) * stepPs };
}

export interface PhasePlan {
  readonly topology: Topology;
  readonly dimensions: readonly NetworkDimension[];
  readonly algorithms: readonly LineAlgorithm[];
  readonly kind: NamedCollective;
  readonly sizeBytes: number;
  /** NPUs of groups in rank order; without them one of all NPUs. */
  readonly groups?: readonly Int32Array[];
  /** The dimensions of each chunk's reduce-scatters (all-gathers for an all-gather) in order. */
  readonly orders: readonly (readonly number[])[];
}

/** Returns phases that start as soon as chunk and dimension allow, chunk after chunk; all-gathers in reversed order. */
export function plannedPhases(plan: PhasePlan): PlainPhases {
  const { topology, dimensions, algorithms, kind, sizeBytes, orders, groups = [everyone(topology.npuCount)] } = plan;
  const npus = (groups[0] as Int32Array).length;
  const frame = {
    topology,
    dimensions,
    algorithms,
    collective: collective({ kind, groups, sizeBytes, chunksPerNpu: orders.length, rootRank: 0 }),
  };
  const free = new Map<string, number>();
  const rows: PhaseRow[] = [];
  for (const [chunk, order] of orders.entries()) {
    const scatters = kind === "allgather" ? [] : order.map((d) => [d, PHASE_REDUCE_SCATTER] as const);
    const back = kind === "allgather" ? order : [...order].reverse();
    const gathers = kind === "reducescatter" ? [] : back.map((d) => [d, PHASE_ALL_GATHER] as const);
    let held = kind === "allgather" ? 1 : npus;
    let ready = 0;
    for (const [dimension, op] of [...scatters, ...gathers]) {
      const { size } = dimensions[dimension] as NetworkDimension;
      const after = op === PHASE_REDUCE_SCATTER ? held / size : held * size;
      const { serialPs, latencyPs } = phaseCost(frame, dimension, held, after);
      const lane = `${dimension} ${algorithms[dimension] === "offload" ? op : 0}`;
      const startPs = Math.max(ready, free.get(lane) ?? 0);
      free.set(lane, startPs + serialPs);
      ready = startPs + serialPs + latencyPs;
      held = after;
      rows.push({ chunk, dimension, op, startPs, endPs: ready });
    }
  }
  return { ...frame, rows: rows.sort(byTime) };
}
