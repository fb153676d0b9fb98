import { InputError, inWords } from "../../base/errors.ts";
import { type Collective, groupOfChunk, type Placement } from "../collective/collective.ts";
import { type JointSchedule, jointRows } from "../joint/joint-schedule.ts";
import { gcd } from "../numbers/integers.ts";
import { ceil } from "../numbers/rational.ts";
import { routeCount, routeTimes, serializationPs } from "../routes/routes.ts";
import type { IndexColumn, StepSchedule } from "../steps/step-schedule.ts";
import { linkNames } from "../topology/topology.ts";
import {
  REPLAY_MODE,
  REPLAY_WANTS,
  type Replayed,
  type ReplayOutcome,
  type ReplayProblem,
  TOO_LATE,
} from "./problem.ts";
import { replayJs } from "./replay.ts";
import type { PlacementSets } from "./steps-problem.ts";

/** How long chunks hold their ways and take, by collective: the columns of that name of a ReplayProblem. */
type ReplayTimes = Pick<ReplayProblem, "serial" | "delay">;

/** Shares as whole numbers: route link p takes `cost[p]` of the `capacity` of its link. */
type Shares = Pick<ReplayProblem, "cost" | "capacity">;

const COARSE = 2 ** 52;
const NO_SHARES: Shares = { cost: new Float64Array(0), capacity: new Float64Array(0) };

/**
 * Returns the shares scaled, per link, by the least common multiple of their denominators. Where that leaves 2^53 - 1 the
 * capacity is 2^52 and shares are rounded down, so what a verified plan puts side by side still fits.
 * Throws InputError for a share that is not in (0, 1].
 */
function wholeShares({ topology, routes }: Rows): Shares {
  const { links, shareNum, shareDen } = routes;
  const capacity = new Float64Array(topology.linkSource.length).fill(1);
  for (let p = 0; p < links.length; p++) {
    const num = shareNum[p];
    const den = shareDen[p];
    const link = links[p];
    if (!(num > 0 && num <= den)) {
      throw new InputError(`a route over link ${linkNames(topology)[link]}`, "a share in (0, 1]", `${num}/${den}`);
    }
    if (capacity[link] % den === 0) continue;
    const multiple = capacity[link] === COARSE ? COARSE : (capacity[link] / gcd(capacity[link], den)) * den;
    capacity[link] = multiple > Number.MAX_SAFE_INTEGER ? COARSE : multiple;
  }
  const cost = new Float64Array(links.length);
  for (let p = 0; p < links.length; p++) {
    const whole = capacity[links[p]];
    cost[p] =
      whole % shareDen[p] === 0
        ? (whole / shareDen[p]) * shareNum[p]
        : Math.max(1, Number((BigInt(COARSE) * BigInt(shareNum[p])) / BigInt(shareDen[p])));
  }
  return { cost, capacity };
}

/** Returns the columns of several collectives as one. */
function joined(parts: readonly Float64Array[]): Float64Array {
  if (parts.length === 1) return parts[0] as Float64Array;
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Makes times beyond 2^53 that one: no transfer takes either. */
export const representable = (times: Float64Array): Float64Array => {
  for (let i = 0; i < times.length; i++) if (times[i] > TOO_LATE) times[i] = TOO_LATE;
  return times;
};

/** Returns serialisation (rounded up) and latency + serialisation of one chunk on each link, share 1. */
function linkTimes({ topology, collectives }: Rows): ReplayTimes {
  const serials = collectives.map(({ chunkBytes }) => {
    const classes = new Map<number, number>();
    return topology.linkBytesPerSecond.map((bandwidth) => {
      let ps = classes.get(bandwidth);
      if (ps === undefined) {
        ps = Number(ceil(serializationPs(chunkBytes, bandwidth)));
        classes.set(bandwidth, ps);
      }
      return ps;
    });
  });
  const delays = serials.map((serial) => serial.map((ps, link) => ps + topology.linkLatencyPs[link]));
  return { serial: representable(joined(serials)), delay: representable(joined(delays)) };
}

/** Returns serialisation and latency + serialisation of one chunk on each route, at its shares. */
function wayTimes({ topology, routes, collectives }: Rows): ReplayTimes {
  const times = collectives.map(({ chunkBytes }) => routeTimes(topology, routes, chunkBytes));
  return {
    serial: representable(joined(times.map(({ serialPs }) => serialPs))),
    delay: representable(joined(times.map(({ slotPs }) => slotPs))),
  };
}

/** Returns a placement of the collective, on so many NPUs, as sets. O(chunks + members + NPUs). */
export function placementSets(collective: Collective, placement: Placement, npus: number): PlacementSets {
  const { chunkCount, groupCount, groupSize, groupMembers } = collective;
  const counted = (count: number, step = 1): Int32Array => Int32Array.from({ length: count }, (_, i) => i * step);
  if (placement.kind === "one") return { setOf: placement.npu, offset: counted(npus + 1), members: counted(npus) };
  if (placement.kind === "sets") {
    return { setOf: counted(chunkCount), offset: placement.offset, members: placement.members };
  }
  const members = groupMembers.slice();
  for (let g = 0; g < groupCount; g++) members.subarray(g * groupSize, (g + 1) * groupSize).sort();
  const setOf = new Int32Array(chunkCount);
  for (let c = 0; c < chunkCount; c++) setOf[c] = groupOfChunk(collective, c);
  return { setOf, offset: counted(groupCount + 1, groupSize), members };
}

/** Returns the holders of all collectives as columns of a ReplayProblem. */
function allHolders({ topology, collectives }: Rows): Pick<ReplayProblem, "holders" | "setOffset" | "setMembers"> {
  const parts = collectives.map((collective) => placementSets(collective, collective.pre, topology.npuCount));
  const [first] = parts as [PlacementSets];
  if (parts.length === 1) return { holders: first.setOf, setOffset: first.offset, setMembers: first.members };
  const holders: number[] = [];
  const setOffset = [0];
  const setMembers: number[] = [];
  for (const part of parts) {
    const sets = setOffset.length - 1;
    const before = setMembers.length;
    for (const set of part.setOf) holders.push(set + sets);
    for (const end of part.offset.subarray(1)) setOffset.push(end + before);
    for (const npu of part.members) setMembers.push(npu);
  }
  const columns = [holders, setOffset, setMembers].map((column) => Int32Array.from(column));
  const [ofChunks, offset, members] = columns as [Int32Array, Int32Array, Int32Array];
  return { holders: ofChunks, setOffset: offset, setMembers: members };
}

/** What a column of rows holds as 32-bit integers. */
export const wide = (column: Rows["chunk"]): Int32Array =>
  column instanceof Int32Array ? column : new Int32Array(column);

/** Returns the problem of replaying rows in one of REPLAY_MODE. Throws InputError for shares that are none. */
export function replayProblem(rows: Rows, mode: number, wants: number, times?: ReplayTimes): ReplayProblem {
  const { topology, routes } = rows;
  const isCutThrough = mode === REPLAY_MODE.cutThrough;
  return {
    mode,
    wants,
    npuCount: topology.npuCount,
    linkCount: topology.linkSource.length,
    routeSource: routes.source,
    routeTarget: routes.target,
    linkOffset: routes.linkOffset,
    links: routes.links,
    firstChunk: Int32Array.from(rows.firstChunk),
    reduces: Uint8Array.from(rows.collectives, ({ reduces }) => Number(reduces)),
    ...(times ?? (isCutThrough ? wayTimes(rows) : linkTimes(rows))),
    ...(isCutThrough ? wholeShares(rows) : NO_SHARES),
    ...allHolders(rows),
    chunk: wide(rows.chunk),
    route: wide(rows.route),
    plannedStart: rows.startPs,
    plannedEnd: rows.endPs,
  };
}

/** What a replay runs: rows in planned order, of one collective or of several at once. */
export interface Rows extends Pick<StepSchedule, "topology" | "routes" | "route" | "startPs" | "endPs"> {
  readonly collectives: readonly Collective[];
  /** [collectives + 1] the chunks of collective k are numbered from firstChunk[k]. */
  readonly firstChunk: readonly number[];
  /** [rows] numbered over all collectives; of several, -1 for a chunk that its own does not have. */
  readonly chunk: IndexColumn;
}

export const rowsOf = ({ collective, ...rows }: StepSchedule): Rows => ({
  ...rows,
  collectives: [collective],
  firstChunk: [0, collective.chunkCount],
});

/** Returns when a schedule ends in a replay of this mode; Infinity where it cannot be replayed. */
export function replayedPs(schedule: StepSchedule, mode: number): number {
  const outcome = replayJs(replayProblem(rowsOf(schedule), mode, REPLAY_WANTS.nothing));
  return outcome.kind === "replayed" ? outcome.last : Number.POSITIVE_INFINITY;
}

/** Returns the rows of all tenants in planned order. O(n log n). */
export function rowsOfJoint(joint: JointSchedule): Rows {
  const { topology, routes, tenants } = joint;
  const { tenant, chunk, route, startPs, endPs } = jointRows(joint);
  const firstChunk = [0];
  for (const { collective } of tenants) firstChunk.push((firstChunk.at(-1) as number) + collective.chunkCount);
  return {
    topology,
    routes,
    collectives: tenants.map(({ collective }) => collective),
    firstChunk,
    chunk: chunk.map((c, i) => {
      const all = c + (firstChunk[tenant[i]] as number);
      return c >= 0 && all < (firstChunk[tenant[i] + 1] as number) ? all : -1;
    }),
    route,
    startPs,
    endPs,
  };
}

/** Returns why a row is of no valid plan: out of order, ended too soon or late, of no chunk or route, or never ready. */
function refusal(rows: Rows, row: number): InputError {
  const { chunk, route, startPs, endPs } = rows;
  const place = `transfer ${row} (simulate needs a valid schedule)`;
  const start = startPs[row];
  const end = endPs[row];
  const before = row === 0 ? 0 : startPs[row - 1];
  const chunkCount = rows.firstChunk.at(-1) as number;
  const routes = routeCount(rows.routes);
  if (!(start >= before)) return new InputError(place, `a start at or after ${before} ps`, start);
  if (!(end > start && end <= Number.MAX_SAFE_INTEGER)) {
    return new InputError(place, `an end after its start at ${start} ps and below 2^53 ps`, end);
  }
  if (!(chunk[row] < chunkCount && chunk[row] >= 0)) {
    return new InputError(place, `a chunk below ${chunkCount}`, chunk[row]);
  }
  if (!(route[row] < routes && route[row] >= 0)) return new InputError(place, `a route below ${routes}`, route[row]);
  const npu = rows.topology.nodeNames[rows.routes.source[route[row]]];
  return new InputError(place, `chunk ${chunk[row]} at NPU ${npu} by ${start} ps`);
}

/** Returns what a replay found. Throws InputError where it refused a row, or where a time would leave 2^53 - 1. */
export function accepted(rows: Rows, outcome: ReplayOutcome): Replayed {
  if (outcome.kind === "refused") throw refusal(rows, outcome.row);
  if (outcome.kind === "late") {
    throw new InputError("the simulated time", "less than 2^53 ps (2.5 hours)", inWords("longer times")).as("too-long");
  }
  return outcome;
}
