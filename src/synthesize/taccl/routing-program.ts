import type { MilpProblem, MilpSize } from "../../engine/contract/programs.ts";
import type { SketchNetwork } from "../../model/sketch/sketch.ts";
import { linkCount } from "../../model/topology/topology.ts";
import { type ProgramDraft, programDraft } from "../program-draft.ts";
import type { ChunkOptions, RoutingCosts, RoutingOptions, RoutingSymmetry } from "./routing-options.ts";

/** What one routing program is made of. */
export interface RoutingParts {
  readonly network: SketchNetwork;
  readonly costs: RoutingCosts;
  readonly symmetry: RoutingSymmetry;
  readonly options: RoutingOptions;
  /** No routing has its busiest link busy for less; loads are in thousandths of it. */
  readonly goalPs: number;
  /** No link may be busy for longer, no chunk come later. */
  readonly mostPs: number;
  /** "load": the busiest link. "detours": sums of detours, then the policies of switches, then the busiest link. */
  readonly aim: "load" | "detours";
  /** Options of a routing to start from. */
  readonly start: Int32Array;
}

export interface RoutingProgram {
  readonly problem: MilpProblem;
  /** Time of one unit of the load aim's objective. */
  readonly unitPs: number;
}

/** What a connection of a switch is worth where a policy counts them: as much as one chunk's shortest detour. */
export const connectionPs = ({ costs, symmetry }: Pick<RoutingParts, "costs" | "symmetry">): number =>
  (symmetry.maps.length * costs.times.slotPs.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)) / 2;

/** Returns about how large the program is, before it is built. O(1). */
export function routingProgramSize({ options, symmetry, network }: RoutingParts): MilpSize {
  const count = options.route.length;
  const chunks = options.chunks.length;
  const npus = network.topology.npuCount;
  return {
    columns: count + options.route.length / symmetry.maps.length + 1,
    rows: Math.min(count, chunks * npus) + count / 2 + linkCount(network.topology),
    entries: options.link.length + 4 * count,
  };
}

type Entry = readonly [column: number, value: number];

const ones = (columns: readonly number[]): Entry[] => columns.map((column) => [column, 1]);

/**
 * Returns the program that routes one chunk of each orbit (TACCL, appendix B.1): option i in column i, then whether routes are
 * used, then when chunks arrive, last the time. Targets are entered once, others at most once and only to pass the chunk on. Options go
 * up in an order of NPUs, so a chunk needs times only where some way up takes longer than the goal. O(options * images * route length).
 */
export function routingProgram(parts: RoutingParts): RoutingProgram {
  const { options, symmetry, network, aim } = parts;
  const unitPs = Math.max(parts.goalPs, 1) / 1000;
  const count = options.route.length;
  const used = usedRoutes(parts);
  const binary = count + used.classes.length;
  const draft = programDraft();
  for (let column = 0; column < binary; column++) draft.column(0, 1, true);
  const latest: number[] = [];
  for (const chunk of options.chunks) {
    addWays(draft, chunk, options, network);
    addBoxes(draft, chunk, options, network);
    latest.push(...addTimes(draft, chunk, parts, unitPs));
  }
  const time = draft.column(parts.goalPs / unitPs, Math.max(parts.goalPs, parts.mostPs) / unitPs, false);
  for (const column of latest) draft.row(0, Infinity, difference(time, column));
  addUse(draft, used, options, parts);
  addLoads(draft, used, time, parts, unitPs);
  const columns = time + 1;

  const objective = new Float64Array(columns);
  objective[time] = -1;
  if (aim === "detours") {
    const images = symmetry.maps.length;
    for (let i = 0; i < count; i++) objective[i] = (-images * options.detourPs[i]) / unitPs;
    const weight = connectionPs(parts) / unitPs;
    used.classes.forEach(({ policy }, i) => {
      if (policy !== "none") objective[count + i] = policy === "uc-max" ? weight : -weight;
    });
  }
  const start = new Float64Array(columns);
  start.fill(Number.NaN, binary);
  for (const option of parts.start) {
    start[option] = 1;
    const c = used.ofRoute[options.route[option]];
    if (c >= 0) start[count + c] = 1;
  }
  return { problem: { ...draft.problem(objective), start }, unitPs };
}

const difference = (column: number, less: number): Entry[] => [
  [column, 1],
  [less, -1],
];

function addWays(draft: ProgramDraft, chunk: ChunkOptions, { route }: RoutingOptions, { routes }: SketchNetwork): void {
  const { isHolder, isTarget, into, order } = chunk;
  const outOf = new Map<number, number[]>();
  for (let option = chunk.first; option < chunk.end; option++) {
    const from = routes.source[route[option]];
    if (isHolder[from] === 1 || isTarget[from] === 1) continue;
    const options = outOf.get(from);
    if (options === undefined) outOf.set(from, [option]);
    else options.push(option);
  }
  const targets = order.reduce((sum, npu) => sum + isTarget[npu], 0);
  for (const npu of order) {
    const entering = into.get(npu) as readonly number[];
    if (isTarget[npu] === 1) {
      draft.row(1, 1, ones(entering));
      continue;
    }
    const leaving = outOf.get(npu) ?? [];
    const less = leaving.map((option): Entry => [option, -1]);
    draft.row(Number.NEGATIVE_INFINITY, 1, ones(entering));
    draft.row(targets === 1 ? 0 : Number.NEGATIVE_INFINITY, 0, [...ones(entering), ...less]);
    if (targets === 1) continue;
    for (const one of less) draft.row(0, Infinity, [...ones(entering), one]);
  }
  // relays that nothing enters pass nothing on
  for (const [npu, leaving] of outOf) {
    if (!into.has(npu)) draft.row(0, 0, ones(leaving));
  }
}

/**
 * Says when a chunk arrives (equations 2 to 5), if some way may take longer than the goal; returns the columns of the times
 * that may. Earliest and latest times keep the constants that switch rows off small.
 */
function addTimes(draft: ProgramDraft, chunk: ChunkOptions, parts: RoutingParts, unitPs: number): number[] {
  const { options, network, costs, goalPs, mostPs } = parts;
  const { isHolder, timePs, into, order } = chunk;
  const { source } = network.routes;
  const latestPs = new Map<number, number>();
  const latestAt = (npu: number): number => (isHolder[npu] === 1 ? 0 : (latestPs.get(npu) ?? 0));
  for (const npu of order) {
    const entering = into.get(npu) as readonly number[];
    const last = entering.reduce((most, option) => {
      const route = options.route[option];
      return Math.max(most, latestAt(source[route]) + costs.times.slotPs[route]);
    }, 0);
    latestPs.set(npu, last);
  }
  if (order.every((npu) => latestAt(npu) <= goalPs)) return [];
  const limit = Math.max(goalPs, mostPs);
  const columnOf = new Map<number, number>();
  const late: number[] = [];
  for (const npu of order) {
    const column = draft.column(timePs[npu] / unitPs, limit / unitPs, false);
    columnOf.set(npu, column);
    if (latestAt(npu) > goalPs) late.push(column);
    for (const option of into.get(npu) as readonly number[]) {
      const from = source[options.route[option]];
      const slotPs = costs.times.slotPs[options.route[option]];
      if (timePs[from] + slotPs > limit) {
        draft.forbid(option);
        continue;
      }
      const off = slotPs + Math.min(limit, latestAt(from)) - timePs[npu];
      if (off <= 0) continue;
      const before = columnOf.get(from);
      const entries: Entry[] = before === undefined ? [[column, 1]] : difference(column, before);
      draft.row((slotPs - off) / unitPs, Infinity, [...entries, [option, -off / unitPs]]);
    }
  }
  return late;
}

/** A chunk enters every box that wants it and has it not. (TACCL, inter-node transfers: implied, but it lifts the relaxation.) */
function addBoxes(draft: ProgramDraft, chunk: ChunkOptions, { route }: RoutingOptions, network: SketchNetwork): void {
  const { boxOf, leavesBox, routes } = network;
  const held = new Set<number>();
  const wanted = new Set<number>();
  boxOf.forEach((box, npu) => {
    if (chunk.isHolder[npu] === 1) held.add(box);
    if (chunk.isTarget[npu] === 1) wanted.add(box);
  });
  const entering = new Map<number, number[]>();
  for (let option = chunk.first; option < chunk.end; option++) {
    const r = route[option];
    if (leavesBox[r] === 0) continue;
    const box = boxOf[routes.target[r]];
    const options = entering.get(box);
    if (options === undefined) entering.set(box, [option]);
    else options.push(option);
  }
  for (const box of wanted) {
    const options = entering.get(box);
    if (!held.has(box) && options !== undefined) draft.row(1, Infinity, ones(options));
  }
}

interface UsedRoutes {
  /** [routes] number of the class of routes that are images of each other, -1: whether it is used is of no matter. */
  readonly ofRoute: Int32Array;
  readonly classes: readonly { readonly routes: readonly number[]; readonly policy: "uc-min" | "uc-max" | "none" }[];
}

function usedRoutes({ network, costs, symmetry, options, aim }: RoutingParts): UsedRoutes {
  const ofRoute = new Int32Array(costs.eachPs.length).fill(-1);
  const classes: { routes: number[]; policy: "uc-min" | "uc-max" | "none" }[] = [];
  for (const route of Int32Array.from(options.route).sort()) {
    const edge = network.hyperedge[route];
    const policy = aim === "load" || edge < 0 ? "none" : network.policies[edge];
    if (ofRoute[route] >= 0 || (costs.oncePs[route] === 0 && policy === "none")) continue;
    const images = [...new Set(symmetry.maps.map(({ routeTo }) => routeTo[route]))];
    for (const image of images) ofRoute[image] = classes.length;
    classes.push({ routes: images, policy });
  }
  return { ofRoute, classes };
}

/** Whether routes are used (equations 9 and 10): at least what options say; for uc-max also at most. */
function addUse(
  draft: ProgramDraft,
  { ofRoute, classes }: UsedRoutes,
  options: RoutingOptions,
  { costs }: RoutingParts,
): void {
  const users: number[][] = classes.map(() => []);
  options.route.forEach((route, option) => {
    if (ofRoute[route] >= 0) users[ofRoute[route]].push(option);
  });
  const count = options.route.length;
  classes.forEach(({ policy, routes }, i) => {
    if (policy === "uc-min" || costs.oncePs[routes[0]] > 0)
      for (const option of users[i]) draft.row(0, Infinity, difference(count + i, option));
    if (policy === "uc-max") draft.row(0, Infinity, [...ones(users[i]), [count + i, -1]]);
  });
}

/**
 * The busiest link bounds all (equations 6 to 8); equal rows once, and none that cannot pass the goal. Beyond the paper: what
 * cannot reach a link before some time must pass after it.
 */
function addLoads(draft: ProgramDraft, used: UsedRoutes, time: number, parts: RoutingParts, unitPs: number): void {
  const { options, network, costs, goalPs } = parts;
  const { linkOffset, links } = network.routes;
  const columns: number[][] = Array.from({ length: linkCount(network.topology) }, () => []);
  const values: number[][] = columns.map(() => []);
  for (let option = 0; option < options.route.length; option++) {
    for (let j = options.offset[option]; j < options.offset[option + 1]; j++) {
      columns[options.link[j]].push(option);
      values[options.link[j]].push(options.load[j] / unitPs);
    }
  }
  used.classes.forEach(({ routes }, i) => {
    const once = new Map<number, number>();
    for (const r of routes) {
      for (let k = linkOffset[r]; k < linkOffset[r + 1]; k++)
        once.set(links[k], (once.get(links[k]) ?? 0) + costs.oncePs[r] * costs.share[k]);
    }
    for (const [link, ps] of once) {
      if (ps === 0) continue;
      columns[link].push(options.route.length + i);
      values[link].push(ps / unitPs);
    }
  });
  const seen = new Set<string>();
  const add = (row: readonly number[], loads: readonly number[], headPs: number): void => {
    const most = loads.reduce((sum, value) => sum + value, 0);
    if (headPs > goalPs || most * unitPs + headPs <= goalPs) return;
    const key = `${headPs};${row.join()};${loads.join()}`;
    if (seen.has(key)) return;
    seen.add(key);
    const entries = row.map((column, i): Entry => [column, loads[i]]);
    draft.row(Number.NEGATIVE_INFINITY, -headPs / unitPs, [...entries, [time, -1]]);
  };
  columns.forEach((row, link) => {
    add(row, values[link], 0);
    const heads = new Set(row.map((column) => options.headPs[column] ?? 0).filter((ps) => ps > 0));
    for (const headPs of heads) {
      const behind = [...row.keys()].filter((i) => (options.headPs[row[i]] ?? 0) >= headPs);
      add(
        behind.map((i) => row[i]),
        behind.map((i) => values[link][i]),
        headPs,
      );
    }
  });
}
