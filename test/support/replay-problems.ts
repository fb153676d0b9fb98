import * as fc from "fast-check";
import { random } from "../../src/base/random.ts";
import { REPLAY_MODE, REPLAY_WANTS, type ReplayProblem } from "../../src/model/replay/problem.ts";

/** Problems of the replay kernel: any chunk goes anywhere, as long as the plan has it at the source by then. */

export interface ReplayWishes {
  readonly mode: number;
  /** Rows wished for; those without a chunk to move are left out. */
  readonly rows: number;
  readonly seed: number;
  /** Also rows of chunks that are never at their source. */
  readonly wrong?: boolean;
}

type Below = (bound: number) => number;

interface Route {
  readonly source: number;
  readonly target: number;
  readonly links: readonly number[];
}

/** Returns routes over one to three different links of a network of NPUs and two nodes more. */
function routesOf(npus: number, linkCount: number, below: Below): Route[] {
  return Array.from({ length: 2 * npus + below(6) }, () => {
    const source = below(npus);
    const links = new Set(Array.from({ length: 1 + below(3) }, () => below(linkCount)));
    return { source, target: below(8) === 0 ? source : below(npus), links: [...links] };
  });
}

/** Returns a random problem; the times of links and rows are small, so that many are equal. */
export function replayProblemOf({ mode, rows: wished, seed, wrong = false }: ReplayWishes): ReplayProblem {
  const { below } = random(seed, 83);
  const npuCount = 2 + below(5);
  const linkCount = 2 + below(7);
  const routes = routesOf(npuCount, linkCount, below);
  const collectives = 1 + below(3);
  const firstChunk = [0];
  for (let k = 0; k < collectives; k++) firstChunk.push((firstChunk[k] as number) + below(4) + Number(k === 0));
  const chunkCount = firstChunk[collectives] as number;
  const sets = Array.from({ length: 1 + below(4) }, () =>
    Array.from({ length: npuCount }, (_, v) => v).filter(() => below(2) === 0),
  );
  const holders = Array.from({ length: chunkCount }, () => below(sets.length));
  const times = (count: number, least: number, most: number): Float64Array =>
    Float64Array.from({ length: count }, () => least + below(most + 1 - least));
  const isCutThrough = mode === REPLAY_MODE.cutThrough;
  const timed = collectives * (isCutThrough ? routes.length : linkCount);
  const serial = times(timed, 0, 5);
  const capacity = times(isCutThrough ? linkCount : 0, 1, 6);
  const routeLinks = routes.flatMap(({ links }) => links);
  const rows: { chunk: number; route: number; start: number; end: number }[] = [];
  for (let now = 0, i = 0; i < wished; i++, now += below(3) === 0 ? below(4) : 0) {
    const route = below(routes.length);
    const chunk = below(chunkCount);
    const { source } = routes[route] as Route;
    const isThere =
      sets[holders[chunk] as number]?.includes(source) ||
      rows.some((row) => row.chunk === chunk && routes[row.route]?.target === source && row.end <= now);
    if (isThere || (wrong && below(40) === 0)) rows.push({ chunk, route, start: now, end: now + 1 + below(9) });
  }
  const offsets = (lists: readonly (readonly unknown[])[]): Int32Array => {
    const offset = new Int32Array(lists.length + 1);
    for (const [i, { length }] of lists.entries()) offset[i + 1] = offset[i] + length;
    return offset;
  };
  return {
    mode,
    wants: isCutThrough ? REPLAY_WANTS.times : REPLAY_WANTS.hops,
    npuCount,
    linkCount,
    routeSource: Int32Array.from(routes, ({ source }) => source),
    routeTarget: Int32Array.from(routes, ({ target }) => target),
    linkOffset: offsets(routes.map(({ links }) => links)),
    links: Int32Array.from(routeLinks),
    firstChunk: Int32Array.from(firstChunk),
    reduces: Uint8Array.from({ length: collectives }, () => below(2)),
    serial,
    delay: serial.map((ps) => ps + below(3)),
    cost: isCutThrough ? Float64Array.from(routeLinks, (link) => 1 + below(capacity[link])) : new Float64Array(0),
    capacity,
    holders: Int32Array.from(holders),
    setOffset: offsets(sets),
    setMembers: Int32Array.from(sets.flat()),
    chunk: Int32Array.from(rows, ({ chunk }) => chunk),
    route: Int32Array.from(rows, ({ route }) => route),
    plannedStart: Float64Array.from(rows, ({ start }) => start),
    plannedEnd: Float64Array.from(rows, ({ end }) => end),
  };
}

/** Random replay problems of the modes. */
export const replayProblems = (modes: readonly number[], most = 60, wrong = false): fc.Arbitrary<ReplayProblem> =>
  fc
    .record({ mode: fc.constantFrom(...modes), rows: fc.nat({ max: most }), seed: fc.nat({ max: 2 ** 31 }) })
    .map((wishes) => replayProblemOf({ ...wishes, wrong }));
