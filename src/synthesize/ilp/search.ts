import { InternalError } from "../../base/errors.ts";
import { disjointSets } from "../../model/graph/graph.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { classesOf, closure, type FlowMap, identityOf, productsOf, symmetriesOf } from "./flow-maps.ts";
import { type Move, movesOf } from "./found-rows.ts";
import { type Flow, type FlowProblem, firstFrom, isReversible, pairOf, type Resource, resourceKey } from "./problem.ts";
import { feasibility, type Symmetry } from "./program.ts";
import { spaceTimeGroups } from "./space-time.ts";
import type { Room, Stages } from "./stages.ts";
import { areTrees, type TreeNegotiation, treeNegotiation } from "./tree-negotiation.ts";
import { COPY, type Columns, columnsOf, EXCHANGE, MEET, REDUCE } from "./windows.ts";

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
  /** What found it. */
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
  /** What found them. */
  readonly how: string;
  readonly refutation: Refutation | null;
}

const NOTHING: Tried = { moves: null, how: "", refutation: null };

/**
 * Returns a schedule that ends before `high`, from the least time upwards (TACOS 2023, section V-A). For each time first the
 * relaxation over orbits of all symmetries, which is small and refutes as much as the whole one; then symmetric schedules;
 * then the whole program. Where programs do not describe all schedules, times are halved instead, to find any, and all-reduces
 * are negotiated before symmetric programs are tried.
 */
export async function search(given: SearchProblem, stages: Stages): Promise<Searched> {
  const { topology, problem, resources, ticks, low, high, trying, provable } = given;
  const maps = symmetriesOf(topology, problem, resources);
  const symmetry: Symmetries = {
    maps,
    all: { order: maps.length, maps: generatorsOf(maps) },
    free: trying === "whole" || trying === "relaxed" ? [] : freeGroups(problem, maps),
  };
  const past = firstFrom(ticks, high);
  let refuted: Refutation | null = null;
  let closed = true;
  if (!provable) {
    let best: readonly Move[] | null = null;
    let how = "";
    let [from, to] = [firstFrom(ticks, low), past - 1];
    while (from <= to && stages.leftMs() > 0) {
      const tick = Math.ceil((from + to) / 2);
      const tried = await attempts(given, symmetry, tick, false, stages);
      if (tried === null) break;
      const { moves } = tried;
      if (moves === null) from = tick + 1;
      else [best, to, how] = [moves, tick - 1, tried.how];
    }
    return { moves: best, how, refuted, closed: false };
  }
  for (let tick = firstFrom(ticks, low); tick < past; tick++) {
    const tried = await attempts(given, symmetry, tick, closed, stages);
    if (tried === null) break;
    const { moves, refutation } = tried;
    if (moves !== null) return { moves, how: tried.how, refuted, closed };
    if (closed && refutation !== null) refuted = refutation;
    else closed = false;
    if (stages.leftMs() <= 0 || (refutation === null && trying === "relaxed")) break;
  }
  return { moves: null, how: "", refuted, closed };
}

/**
 * Tries programs for one time until one has a point, or none can have one; `closed`: a refutation would count. Null where no
 * time was left to try.
 */
async function attempts(
  { problem, resources, ticks, timeName, trying, provable }: SearchProblem,
  { maps, all, free }: Symmetries,
  tick: number,
  closed: boolean,
  stages: Stages,
): Promise<Tried | null> {
  const worth = provable ? 1 : 0;
  const columns = await stages.build(timeName(tick), (room) => columnsOf(problem, ticks, ticks[tick], room));
  if (columns === null) return null;
  /** Returns the moves, or null; `none`: there is no point. */
  const attempt = async (
    what: string,
    share: number,
    symmetryOf: (room: Room) => Symmetry | null,
    whole = true,
  ): Promise<Tried> => {
    const name = `${timeName(tick)}, ${what}`;
    const program = await stages.build(name, (room) =>
      feasibility(problem, resources, columns, symmetryOf(room), whole, room),
    );
    const how = `program: ${name}`;
    if (program === null) return { moves: null, how, refutation: null };
    const { milp, place, impossible } = program;
    const found = impossible ? null : await stages.solve(name, milp, share);
    const point = whole && found !== null ? found.primal : new Float64Array(0);
    const moves =
      point.length === 0 ? null : movesOf(problem, columns, (column) => point[place === null ? column : place[column]]);
    const none = impossible || found?.status === "infeasible";
    const refutation: Refutation | null = none
      ? { tick, columns: milp.objective.length, rows: milp.rows.lower.length, nodes: found?.nodes ?? 0 }
      : null;
    return { moves, how, refutation };
  };
  if (trying !== "symmetric" && (closed || !provable)) {
    const exchanged = { ...all, maps: withExchanges(problem, all.maps) };
    const { refutation } = await attempt(
      "relaxation",
      FOR_RELAXATION,
      (room) => symmetryUnder(problem, resources, columns, exchanged, room),
      false,
    );
    if (refutation !== null) return { ...NOTHING, refutation };
  }
  if (trying === "relaxed") return NOTHING;
  if (!provable && trying === "all") {
    const found = await negotiated(problem, resources, columns, maps, timeName(tick), stages);
    if (found !== null) return found;
  }
  for (const group of provable || !isMirrored(problem, resources, columns) ? [] : free.slice(0, MOST_MIRRORED)) {
    const what = `${group.order} maps and the mirror`;
    const symmetry = await stages.build(`${timeName(tick)}, ${what}`, (room) =>
      withMirror(problem, columns, group.order, symmetryUnder(problem, resources, columns, group, room)),
    );
    if (symmetry === null) continue;
    const tried = await attempt(what, FOR_MIRRORED, () => symmetry);
    if (tried.moves !== null) return tried;
  }
  for (const group of free) {
    const tried = await attempt(`${group.order} maps`, FOR_SYMMETRIC[worth], (room) =>
      symmetryUnder(problem, resources, columns, group, room),
    );
    if (tried.moves !== null) return tried;
  }
  return trying === "symmetric" ? NOTHING : attempt("whole", FOR_WHOLE[worth], () => null);
}

/** Steps of the first negotiation under each group; every further one has twice as many. */
const FIRST_STEPS = 512;
const MOST_PASSES = 4;
const FOR_NEGOTIATION = 0.5;

/** Returns an all-reduce by negotiation, under no symmetry and under groups of maps in turn; null where none is found. */
async function negotiated(
  problem: FlowProblem,
  resources: readonly Resource[],
  columns: Columns,
  maps: readonly FlowMap[],
  timeName: string,
  stages: Stages,
): Promise<Tried | null> {
  if (!areTrees(problem)) return null;
  const alone = [{ map: identityOf(problem), backwards: false }];
  const groups = [alone, ...spaceTimeGroups(problem, resources, maps)];
  const tries = Array.from({ length: MOST_PASSES }, (_, pass) => groups.map((group) => ({ group, pass }))).flat();
  const most = tries.reduce((sum, { pass }) => sum + FIRST_STEPS * 2 ** pass, 0);
  let seed = 0;
  let left = 0;
  let at = -1;
  let current: TreeNegotiation | null = null;
  const moves = await stages.repeat(`negotiate ${timeName}`, most, FOR_NEGOTIATION, () => {
    // a group that takes some transfer to none has no steps
    while (left <= 0 && at + 1 < tries.length) {
      const { group, pass } = tries[++at];
      current = treeNegotiation({ problem, resources, columns, group, seed: seed++ });
      left = current === null ? 0 : FIRST_STEPS * 2 ** pass;
    }
    left--;
    return current?.step() ?? null;
  });
  if (moves === null) return null;
  const order = tries[at].group.length;
  return { moves, how: `negotiated: ${timeName}${order === 1 ? "" : `, ${order} maps`}`, refutation: null };
}

/** Maps that, one after the other, give all of a group of so many. */
interface FlowGroup {
  readonly order: number;
  readonly maps: readonly FlowMap[];
}

interface Symmetries {
  /** The identity first. */
  readonly maps: readonly FlowMap[];
  readonly all: FlowGroup;
  /** Those whose symmetric schedules may exist, the largest first. */
  readonly free: readonly FlowGroup[];
}

/**
 * Returns the orbits of columns under a group, and flows and resources one of each orbit: the rows of the others are the same
 * over orbits; of some maps only where `room` says no. O(maps x blocks + columns).
 */
function symmetryUnder(
  { flows }: FlowProblem,
  resources: readonly Resource[],
  { blocks, block, count, opposite }: Columns,
  { maps }: FlowGroup,
  room: Room,
): Symmetry {
  const firsts = disjointSets(count);
  const flowSets = disjointSets(flows.length);
  const resourceSets = disjointSets(resources.length);
  const at = new Map(resources.map((resource, i) => [resourceKey(resource), i]));
  for (const { npuTo, routeTo, flowTo } of maps) {
    if (!room()) break;
    for (const [f, to] of flowTo.entries()) flowSets.join(f, to);
    for (const [i, { route, units, capacity }] of resources.entries()) {
      resourceSets.join(i, at.get(resourceKey({ route: route.map((r) => routeTo[r]), units, capacity })) ?? i);
    }
    for (const { flow, side, place, low, high, first } of blocks) {
      const exchanged = side === EXCHANGE ? pairOf(opposite, routeTo[place]) : routeTo[place];
      const image = block(flowTo[flow], side, side === MEET ? npuTo[place] : exchanged);
      if (image?.low !== low || image.high !== high)
        throw new InternalError("a symmetry changes when a chunk can move");
      firsts.join(first, image.first);
    }
  }
  const orbit = new Int32Array(count);
  for (const { low, high, first } of blocks) {
    const least = firsts.least(first);
    for (let k = 0; k <= high - low; k++) orbit[first + k] = least + k;
  }
  return {
    orbit,
    flows: [...flows.keys()].filter((f) => flowSets.least(f) === f),
    resources: resources.filter((_, i) => resourceSets.least(i) === i),
  };
}

/**
 * Returns the maps with those that exchange alike flows added. The mean of a point of the relaxation over all its images is
 * a point too, so orbits under these leave the relaxation as feasible as it was.
 */
function withExchanges(problem: FlowProblem, maps: readonly FlowMap[]): readonly FlowMap[] {
  const flowTo = indicesBelow(problem.flows.length);
  for (const list of classesOf(problem.flows).values()) {
    for (const [i, f] of list.entries()) flowTo[f] = list[(i + 1) % list.length];
  }
  return [...maps, { ...identityOf(problem), flowTo }];
}

/**
 * All-reduce schedules that are their own mirror: played backwards, with links turned around and sums for copies, they are
 * the same but for an exchange of chunks, so that the halves of different chunks overlap. Half as many columns again; the
 * 4x4 mesh with one chunk per NPU in 14 slots (matching and overlap: 15), in 960 columns instead of 15,360.
 */

/** Returns whether routes, shared links and flows have mirrors, so that schedules may be their own. */
const isMirrored = ({ flows }: FlowProblem, resources: readonly Resource[], { opposite }: Columns): boolean =>
  isReversible(opposite, resources) &&
  flows.every(({ kind, from, to }) => kind === "both" && from.join() === to.join());

/** Returns orbits under so many maps joined with their mirrors; null where ticks have none. O(columns). */
function withMirror(problem: FlowProblem, columns: Columns, maps: number, symmetry: Symmetry): Symmetry | null {
  const { ticks, horizon, blocks, block, opposite } = columns;
  const tickAt = new Map(Array.from(ticks, (time, k) => [time, k]));
  const partner = partnersOf(problem, maps);
  const sets = disjointSets(columns.count);
  for (let c = 0; c < columns.count; c++) sets.join(c, symmetry.orbit[c]);
  for (const { flow, side, place, low, high, first } of blocks) {
    const meets = side === MEET;
    const image =
      meets || side === EXCHANGE
        ? block(partner[flow], side, place)
        : block(partner[flow], side === COPY ? REDUCE : COPY, opposite[place]);
    if (image === undefined) return null;
    const duration = meets ? 0 : problem.durations[problem.flows[flow].size][place];
    for (let k = low; k <= high; k++) {
      const at = tickAt.get(horizon - ticks[k] - duration);
      if (at === undefined || at < image.low || at > image.high) return null;
      sets.join(first + k - low, image.first + at - image.low);
    }
  }
  return { ...symmetry, orbit: Int32Array.from({ length: columns.count }, (_, column) => sets.least(column)) };
}

/** Returns for each flow the one it is exchanged with: of alike flows, those that maps exchange, with the next ones. */
function partnersOf({ flows }: FlowProblem, maps: number): Int32Array {
  const partner = Int32Array.from(flows, (_, f) => f);
  for (const list of classesOf(flows).values()) {
    if (list.length % maps !== 0) continue;
    for (const [i, f] of list.entries()) {
      const other = (Math.floor(i / maps) ^ 1) * maps + (i % maps);
      partner[f] = list[other] ?? f;
    }
  }
  return partner;
}

/**
 * Symmetric schedules: a program in which all images of a transfer are one column is smaller by the number of maps, and its
 * points are schedules. There are none where a map keeps a chunk and an NPU that waits for it, unless the NPU can take it
 * from itself (it holds it, or contributions meet there). So groups of maps are tried that leave no such pair: alike chunks
 * are exchanged by the maps as freely as their number allows.
 */

/** So many groups are tried, at most two of each size. */
const MOST_GROUPS = 4;
const MOST_OF_SIZE = 2;
/** Of larger groups only those with one generator. */
const MOST_PAIRED = 48;

/** Returns maps that give all of a group, the identity not among them; all maps where they are no group. */
function generatorsOf(maps: readonly FlowMap[]): readonly FlowMap[] {
  const product = productsOf(maps);
  if (product === null) return maps;
  const generators: number[] = [];
  let members = new Set([0]);
  for (let i = 1; i < maps.length; i++) {
    if (members.has(i)) continue;
    generators.push(i);
    members = new Set(closure(generators, product));
  }
  return generators.map((i) => maps[i]);
}

/** Returns groups of maps whose symmetric schedules may exist, the largest first, none trivial. */
function freeGroups(problem: FlowProblem, maps: readonly FlowMap[]): FlowGroup[] {
  if (maps.length < 2) return [];
  const product = productsOf(maps);
  if (product === null) return [];
  const found = new Map<string, number[]>();
  const offer = (generators: readonly number[]): void => {
    const group = closure(generators, product);
    if (group.length > 1) found.set(group.join(), group);
  };
  const count = maps.length;
  offer(Array.from({ length: count }, (_, i) => i));
  for (let a = 1; a < count; a++) {
    offer([a]);
    for (let b = a + 1; b < count && count <= MOST_PAIRED; b++) offer([a, b]);
  }
  const groups = [...found.values()].sort((a, b) => b.length - a.length);
  const chosen: FlowGroup[] = [];
  const ofSize = new Map<number, number>();
  for (const group of groups) {
    if (chosen.length === MOST_GROUPS) break;
    const size = ofSize.get(group.length) ?? 0;
    if (size === MOST_OF_SIZE) continue;
    const acting = actionOf(problem, group, maps, product);
    if (!isFree(problem, acting)) continue;
    ofSize.set(group.length, size + 1);
    chosen.push({ order: acting.length, maps: generatorsOf(acting) });
  }
  return chosen;
}

/**
 * Returns the maps of a group, each with what it does to flows. Alike flows whose holders and wanters s maps keep are
 * exchanged by these like the elements of the group of those s, s at a time, where s divides their number; where it does not
 * and they are one for each NPU that wants them, like those NPUs; else not at all.
 */
function actionOf(
  problem: FlowProblem,
  group: readonly number[],
  maps: readonly FlowMap[],
  product: Int32Array,
): FlowMap[] {
  const { flows } = problem;
  const count = maps.length;
  const flowTo = new Map(group.map((g) => [g, maps[g].flowTo.slice()]));
  const classes = [...classesOf(flows).values()];
  const classOf = new Int32Array(flows.length);
  for (const [k, list] of classes.entries()) for (const f of list) classOf[f] = k;
  const done = new Uint8Array(classes.length);
  for (const [k, list] of classes.entries()) {
    if (done[k] === 1) continue;
    const imageOf = (g: number): number => classOf[maps[g].flowTo[list[0]]];
    const keeping = group.filter((g) => imageOf(g) === k);
    for (const g of group) done[imageOf(g)] = 1;
    if (list.length % keeping.length !== 0) {
      exchangeLikeNpus(flows, list, group, maps, keeping.length === group.length, flowTo);
      continue;
    }
    /** For each class of the orbit, the map that leads to it from class k. */
    const leader = new Map<number, number>();
    for (const g of group) if (!leader.has(imageOf(g))) leader.set(imageOf(g), g);
    const index = new Map(keeping.map((s, i) => [s, i]));
    for (const g of group) {
      for (const [from, by] of leader) {
        const whole = product[g * count + by];
        const to = imageOf(whole);
        const back = leader.get(to) as number;
        const rest = keeping.find((s) => product[back * count + s] === whole) as number;
        classes[from].forEach((f, i) => {
          const turned = index.get(product[rest * count + keeping[i % keeping.length]]) as number;
          (flowTo.get(g) as Int32Array)[f] = classes[to][i - (i % keeping.length) + turned];
        });
      }
    }
  }
  return group.map((g) => ({ ...maps[g], flowTo: flowTo.get(g) as Int32Array }));
}

/** Lets maps exchange alike flows as they do the NPUs that want them, where there are equally many for each. */
function exchangeLikeNpus(
  flows: readonly Flow[],
  list: readonly number[],
  group: readonly number[],
  maps: readonly FlowMap[],
  alone: boolean,
  flowTo: ReadonlyMap<number, Int32Array>,
): void {
  const { to } = flows[list[0]];
  const each = list.length / to.length;
  if (!alone || !Number.isInteger(each)) return;
  const rank = new Map([...to].map((v, i) => [v, i]));
  for (const g of group) {
    for (const [i, f] of list.entries()) {
      const image = rank.get(maps[g].npuTo[to[Math.floor(i / each)]]) as number;
      (flowTo.get(g) as Int32Array)[f] = list[image * each + (i % each)];
    }
  }
}

/** Returns whether no map but the identity keeps a flow together with an NPU that would have to receive it twice. */
function isFree({ flows }: FlowProblem, group: readonly FlowMap[]): boolean {
  return group.every(({ npuTo, flowTo }) => {
    if (npuTo.every((to, v) => to === v)) return true;
    return flows.every(({ kind, from, to }, f) => {
      if (flowTo[f] !== f) return true;
      const kept = (npus: Int32Array): number[] => [...npus].filter((v) => npuTo[v] === v);
      if (kind === "copy") return kept(to).every((v) => from.includes(v));
      if (kind === "reduce") return kept(from).every((v) => v === to[0]);
      return kept(to).length + kept(from).filter((v) => !to.includes(v)).length <= 1;
    });
  });
}
