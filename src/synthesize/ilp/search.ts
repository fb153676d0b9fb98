import type { Topology } from "../../model/topology.ts";
import { type Move, movesOf } from "./found-rows.ts";
import { orbitsOfColumns, withExchanges } from "./orbits.ts";
import type { FlowProblem, Resource } from "./problem.ts";
import { feasibility, type Program, sizeOf } from "./solve-program.ts";
import type { Stages } from "./stages.ts";
import { freeGroups } from "./subgroups.ts";
import { symmetriesOf } from "./symmetries.ts";
import { firstFrom } from "./ticks.ts";
import { columnsOf } from "./windows.ts";

/** Which programs are tried: all, only symmetric ones, no symmetric ones, or only relaxations, until one has a point. */
export type Trying = "all" | "symmetric" | "whole" | "relaxed";

export interface SearchProblem {
  readonly topology: Topology;
  readonly problem: FlowProblem;
  readonly resources: readonly Resource[];
  /** All times at which a transfer may start or end, ascending. */
  readonly ticks: Float64Array;
  /** No schedule ends before. */
  readonly low: number;
  /** One that ends then is known. */
  readonly high: number;
  /** In what times are shown: "8 slots". */
  readonly timeName: (tick: number) => string;
  readonly trying: Trying;
  /** Whether programs describe all schedules: then times are refuted one by one; else they are sampled, to find any. */
  readonly provable: boolean;
}

/** A program that has no point. */
export interface Refutation {
  /** Index of the tick by which no schedule of the program ends. */
  readonly tick: number;
  readonly columns: number;
  readonly rows: number;
  readonly nodes: number;
}

export interface Searched {
  /** In order of start; null where none shorter than known was found. */
  readonly moves: readonly Move[] | null;
  /** The last tick by which no schedule of the program ends; null where none was refuted. */
  readonly refuted: Refutation | null;
  /** Whether every tick before that of the answer (or of the schedule known) was refuted. */
  readonly closed: boolean;
}

/** Shares of the time left: where a refutation is worth something, and where it is not. */
const FOR_RELAXATION = 0.25;
const FOR_SYMMETRIC = [0.1, 0.2];
const FOR_WHOLE = [0.2, 0.6];
/** Times that are sampled: the first so many, then so many more, evenly. */
const FIRST_TIMES = 3;
const SPREAD_TIMES = 3;

/**
 * Returns a schedule that ends before `high`, from the least time upwards (TACOS 2023, section V-A). For each time first the
 * relaxation over orbits of all symmetries, which is small and refutes as much as the whole one; then symmetric schedules;
 * then the whole program.
 */
export async function search(given: SearchProblem, stages: Stages): Promise<Searched> {
  const { topology, problem, resources, ticks, low, high, timeName, trying, provable } = given;
  const worth = provable ? 1 : 0;
  const maps = symmetriesOf(topology, problem, resources);
  const groups = trying === "whole" || trying === "relaxed" ? [] : freeGroups(problem, maps);
  const past = firstFrom(ticks, high);
  let refuted: Refutation | null = null;
  let closed = true;
  for (let tick = firstFrom(ticks, low), tried = 0; tick < past; tick = nextTick(tick, past, tried)) {
    const columns = columnsOf(problem, ticks, ticks[tick]);
    const size = sizeOf(problem, resources, columns);
    const refute = (program: Program, nodes: number): void => {
      const { rows, objective } = program.milp;
      refuted = { tick, columns: objective.length, rows: rows.lower.length, nodes };
    };
    const build = (orbit: Int32Array | null, whole: boolean): Program =>
      feasibility(problem, resources, columns, orbit, whole);
    const attempt = async (orbit: Int32Array | null, name: string, share: number) => {
      const program = build(orbit, true);
      const found = program.impossible ? null : await stages.solve(`${timeName(tick)}, ${name}`, program.milp, share);
      const { place } = program;
      const point = found?.primal ?? new Float64Array(0);
      const moves =
        point.length === 0
          ? null
          : movesOf(problem, columns, (column) => point[place === null ? column : place[column]]);
      return { program, found, moves };
    };
    if (trying !== "symmetric" && closed && fitsIn(stages, `${timeName(tick)}, relaxation`, size, maps.length)) {
      const program = build(orbitsOfColumns(columns, withExchanges(problem, maps)), false);
      const relaxed = program.impossible
        ? null
        : await stages.solve(`${timeName(tick)}, relaxation`, program.milp, FOR_RELAXATION);
      if (program.impossible || relaxed?.status === "infeasible") {
        refute(program, 0);
        continue;
      }
      if (trying === "relaxed") break;
    }
    for (const group of groups) {
      const name = `${group.length} maps`;
      if (!fitsIn(stages, `${timeName(tick)}, ${name}`, size, group.length)) continue;
      const { moves } = await attempt(orbitsOfColumns(columns, group), name, FOR_SYMMETRIC[worth]);
      if (moves !== null) return { moves, refuted, closed };
    }
    if ((trying === "all" || trying === "whole") && fitsIn(stages, `${timeName(tick)}, whole`, size, 1)) {
      const { program, found, moves } = await attempt(null, "whole", FOR_WHOLE[worth]);
      if (moves !== null) return { moves, refuted, closed };
      if ((program.impossible || found?.status === "infeasible") && closed) {
        refute(program, found?.nodes ?? 0);
        continue;
      }
    }
    closed = false;
    if (!provable) tried++;
    if (stages.leftMs() <= 0) break;
  }
  return { moves: null, refuted, closed };
}

/** Returns the next time to try after `tried` that had no answer. */
function nextTick(tick: number, past: number, tried: number): number {
  if (tried < FIRST_TIMES) return tick + 1;
  return tick + Math.max(1, Math.ceil((past - tick) / (SPREAD_TIMES + 1)));
}

function fitsIn(
  stages: Stages,
  name: string,
  { columns, rows, entries }: { readonly columns: number; readonly rows: number; readonly entries: number },
  parts: number,
): boolean {
  const share = (count: number): number => Math.ceil(count / parts);
  return stages.fits(name, { columns: share(columns), rows: share(rows), entries: share(entries) });
}
