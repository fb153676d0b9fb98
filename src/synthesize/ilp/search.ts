import type { Topology } from "../../model/topology/topology.ts";
import { type Move, movesOf } from "./found-rows.ts";
import { withMirror } from "./mirrored.ts";
import { orbitsOfColumns, withExchanges } from "./orbits.ts";
import type { FlowProblem, Resource } from "./problem.ts";
import { feasibility, sizeOf } from "./solve-program.ts";
import type { Stages } from "./stages.ts";
import { freeGroups } from "./subgroups.ts";
import { type FlowMap, symmetriesOf } from "./symmetries.ts";
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
  /** Name of the program that found it. */
  readonly how: string;
  /** The last tick by which no schedule of the program ends; null where none was refuted. */
  readonly refuted: Refutation | null;
  /** Whether every tick before that of the answer (or of the schedule known) was refuted. */
  readonly closed: boolean;
}

/** Shares of the time left: where a refutation is worth something, and where it is not. */
const FOR_RELAXATION = 0.25;
const FOR_SYMMETRIC = [0.25, 0.2];
const FOR_WHOLE = [0.25, 0.6];
const FOR_MIRRORED = 0.5;
/** Groups of maps whose mirrored schedules are tried. */
const MOST_MIRRORED = 2;

/** What was tried for one time. */
interface Tried {
  readonly moves: readonly Move[] | null;
  readonly refutation: Refutation | null;
}

/**
 * Returns a schedule that ends before `high`, from the least time upwards (TACOS 2023, section V-A). For each time first the
 * relaxation over orbits of all symmetries, which is small and refutes as much as the whole one; then symmetric schedules;
 * then the whole program. Where programs do not describe all schedules, times are halved instead, to find any.
 */
export async function search(given: SearchProblem, stages: Stages): Promise<Searched> {
  const { topology, problem, resources, ticks, low, high, trying, provable } = given;
  const maps = symmetriesOf(topology, problem, resources);
  const groups = trying === "whole" || trying === "relaxed" ? [] : freeGroups(problem, maps);
  const past = firstFrom(ticks, high);
  let refuted: Refutation | null = null;
  let closed = true;
  if (!provable) {
    let best: readonly Move[] | null = null;
    let how = "";
    let [from, to] = [firstFrom(ticks, low), past - 1];
    while (from <= to && stages.leftMs() > 0) {
      const tick = Math.ceil((from + to) / 2);
      const tried = await attempts(given, maps, groups, tick, false, stages);
      if (tried === null) break;
      const { moves } = tried;
      if (moves === null) from = tick + 1;
      else [best, to, how] = [moves, tick - 1, nameOfLast(stages)];
    }
    return { moves: best, how, refuted, closed: false };
  }
  for (let tick = firstFrom(ticks, low); tick < past; tick++) {
    const tried = await attempts(given, maps, groups, tick, closed, stages);
    if (tried === null) break;
    const { moves, refutation } = tried;
    if (moves !== null) return { moves, how: nameOfLast(stages), refuted, closed };
    if (closed && refutation !== null) refuted = refutation;
    else closed = false;
    if (stages.leftMs() <= 0 || (refutation === null && trying === "relaxed")) break;
  }
  return { moves: null, how: "", refuted, closed };
}

const nameOfLast = ({ list }: Stages): string => list.at(-1)?.name ?? "";

/**
 * Tries programs for one time until one has a point, or none can have one; `closed`: a refutation would count. Null where no
 * time was left to try.
 */
async function attempts(
  { problem, resources, ticks, timeName, trying, provable }: SearchProblem,
  maps: readonly FlowMap[],
  groups: readonly (readonly FlowMap[])[],
  tick: number,
  closed: boolean,
  stages: Stages,
): Promise<Tried | null> {
  const worth = provable ? 1 : 0;
  const columns = columnsOf(problem, ticks, ticks[tick]);
  if (!(await stages.inTime(timeName(tick), columns.count))) return null;
  const size = sizeOf(problem, resources, columns);
  /** Returns the moves, or null; `none`: there is no point. */
  const attempt = async (orbit: Int32Array | null, name: string, share: number, whole = true) => {
    const program = feasibility(problem, resources, columns, orbit, whole);
    const { milp, place, impossible } = program;
    const found = impossible ? null : await stages.solve(`${timeName(tick)}, ${name}`, milp, share);
    const point = whole && found !== null ? found.primal : new Float64Array(0);
    const moves =
      point.length === 0 ? null : movesOf(problem, columns, (column) => point[place === null ? column : place[column]]);
    const none = impossible || found?.status === "infeasible";
    const refutation: Refutation | null = none
      ? { tick, columns: milp.objective.length, rows: milp.rows.lower.length, nodes: found?.nodes ?? 0 }
      : null;
    return { moves, refutation };
  };
  const fits = (name: string, parts: number): boolean =>
    stages.timeToWrite(`${timeName(tick)}, ${name}`, size) && fitsIn(stages, `${timeName(tick)}, ${name}`, size, parts);
  if (trying !== "symmetric" && (closed || !provable) && fits("relaxation", maps.length)) {
    const orbit = orbitsOfColumns(columns, withExchanges(problem, maps));
    const { refutation } = await attempt(orbit, "relaxation", FOR_RELAXATION, false);
    if (refutation !== null) return { moves: null, refutation };
  }
  if (trying === "relaxed") return { moves: null, refutation: null };
  for (const group of provable ? [] : groups.slice(0, MOST_MIRRORED)) {
    const name = `${group.length} maps and the mirror`;
    const orbit = fits(name, 2 * group.length)
      ? withMirror(problem, resources, columns, group, orbitsOfColumns(columns, group))
      : null;
    if (orbit === null) continue;
    const { moves } = await attempt(orbit, name, FOR_MIRRORED);
    if (moves !== null) return { moves, refutation: null };
  }
  for (const group of groups) {
    const name = `${group.length} maps`;
    if (!fits(name, group.length)) continue;
    const { moves } = await attempt(orbitsOfColumns(columns, group), name, FOR_SYMMETRIC[worth]);
    if (moves !== null) return { moves, refutation: null };
  }
  return trying !== "symmetric" && fits("whole", 1)
    ? attempt(null, "whole", FOR_WHOLE[worth])
    : { moves: null, refutation: null };
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
