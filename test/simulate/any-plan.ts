import fc from "fast-check";
import { random } from "../../src/base/random.ts";
import type { Collective } from "../../src/model/collective/collective.ts";
import { rational } from "../../src/model/numbers/rational.ts";
import { type RouteSet, routeTimes } from "../../src/model/routes/routes.ts";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";

/** What a generated plan may contain. */
export interface PlanLimits {
  /** Only links between NPUs, each a route with share 1. */
  readonly direct: boolean;
  /** Half of the plans reduce. */
  readonly reductions: boolean;
}

const NPUS = 4;

/** Returns 4 NPUs and a switch with random links; 1 byte takes 1, 2 or 4 ps. */
function network(below: (bound: number) => number, direct: boolean): Topology {
  const builder = topologyBuilder("any");
  for (let npu = 0; npu < NPUS; npu++) builder.addNpu(`n${npu}`);
  if (!direct) builder.addSwitch("sw");
  const figures = (): [number, number] => [1e12 / 2 ** below(3), below(4)];
  for (let i = 0; i < (direct ? 6 : 3); i++) {
    const a = below(NPUS);
    builder.addLink(a, (a + 1 + below(NPUS - 1)) % NPUS, ...figures());
  }
  for (let npu = 0; npu < NPUS && !direct; npu++) builder.addDuplex(npu, NPUS, ...figures());
  return builder.build();
}

/** Returns the direct links, and where allowed ways over two links with shares k/2, k/3 or whole. */
function someRoutes(topology: Topology, below: (bound: number) => number, direct: boolean): RouteSet {
  const { linkSource, linkTarget, npuCount } = topology;
  const ways: number[][] = [];
  const isNpu = (node: number): boolean => node < npuCount;
  for (let a = 0; a < linkSource.length; a++) {
    if (isNpu(linkSource[a]) && isNpu(linkTarget[a])) ways.push([a]);
    for (let b = 0; b < linkSource.length && !direct; b++) {
      const joined = linkTarget[a] === linkSource[b] && isNpu(linkSource[a]) && isNpu(linkTarget[b]);
      if (joined && linkSource[a] !== linkTarget[b] && below(2) === 0) ways.push([a, b]);
    }
  }
  const linkOffset = Int32Array.from({ length: ways.length + 1 }, (_, i) => ways.slice(0, i).flat().length);
  const links = Int32Array.from(ways.flat());
  const shareDen = Float64Array.from(links, () => (direct ? 1 : 1 + below(3)));
  const shareNum = shareDen.map((den) => (below(3) === 0 ? 1 + below(den) : 1));
  return {
    source: Int32Array.from(ways, (way) => linkSource[way[0]]),
    target: Int32Array.from(ways, (way) => linkTarget[way[way.length - 1]]),
    linkOffset,
    links,
    shareNum,
    shareDen,
  };
}

interface Row {
  readonly chunk: number;
  readonly route: number;
  readonly start: number;
  readonly end: number;
}

/** Returns whether the rows use no route twice at once and no link beyond its capacity (in sixths) at any start. */
export function fits(routes: RouteSet, rows: readonly Row[]): boolean {
  return rows.every(({ start }) => {
    const now = rows.filter((row) => row.start <= start && start < row.end);
    const sixths = new Map<number, number>();
    for (const { route } of now) {
      for (let p = routes.linkOffset[route]; p < routes.linkOffset[route + 1]; p++) {
        const share = (6 * routes.shareNum[p]) / routes.shareDen[p];
        sixths.set(routes.links[p], (sixths.get(routes.links[p]) ?? 0) + share);
      }
    }
    const oncePerRoute = new Set(now.map((row) => row.route)).size === now.length;
    return oncePerRoute && [...sixths.values()].every((sum) => sum <= 6);
  });
}

/**
 * Generates plans that keep every rule about links, routes and holdings but follow no collective: any chunk goes anywhere,
 * at times with slack, and transfers may last longer than they need to.
 */
export const anyPlan = ({ direct, reductions }: PlanLimits): fc.Arbitrary<StepSchedule> =>
  fc.record({ seed: fc.nat(2 ** 31 - 1), wishes: fc.integer({ min: 1, max: 24 }) }).map(({ seed, wishes }) => {
    const { below } = random(seed);
    const topology = network(below, direct);
    const routes = someRoutes(topology, below, direct);
    const chunkCount = 1 + below(3);
    const reduces = reductions && below(2) === 0;
    const holders = Array.from({ length: chunkCount }, () => {
      const held = [...Array(NPUS).keys()].filter(() => below(reduces ? 2 : 3) === 0);
      return held.length > 0 ? held : [below(NPUS)];
    });
    const collective: Collective = {
      kind: "custom",
      groupCount: 1,
      groupSize: NPUS,
      groupMembers: Int32Array.of(0, 1, 2, 3),
      rootRank: 0,
      sizeBytes: 1,
      chunksPerNpu: 1,
      chunkCount,
      chunkBytes: rational(1 + below(7), 1 + below(2)),
      reduces,
      pre: {
        kind: "sets",
        offset: Int32Array.from({ length: chunkCount + 1 }, (_, c) => holders.slice(0, c).flat().length),
        members: Int32Array.from(holders.flat()),
      },
      post: { kind: "group" },
    };
    const { slotPs } = routeTimes(topology, routes, collective.chunkBytes);
    let rows: Row[] = [];
    for (let wish = 0; wish < wishes && routes.source.length > 0; wish++) {
      const route = below(routes.source.length);
      const chunk = below(chunkCount);
      const source = routes.source[route];
      const arrivals = rows.filter((row) => row.chunk === chunk && routes.target[row.route] === source);
      const there = holders[chunk].includes(source) ? 0 : Math.min(...arrivals.map((row) => row.end));
      if (there === Number.POSITIVE_INFINITY) continue;
      let start = there + below(3);
      for (;;) {
        const end = start + slotPs[route] + (below(3) === 0 ? below(4) : 0);
        const more = [...rows, { chunk, route, start, end }];
        if (fits(routes, more)) {
          rows = more;
          break;
        }
        start += 1 + below(2);
      }
    }
    rows.sort((a, b) => a.start - b.start || a.route - b.route || a.chunk - b.chunk);
    return {
      topology,
      collective,
      routes,
      chunk: Uint8Array.from(rows, (row) => row.chunk),
      route: Uint8Array.from(rows, (row) => row.route),
      startPs: Float64Array.from(rows, (row) => row.start),
      endPs: Float64Array.from(rows, (row) => row.end),
      op: new Uint8Array(rows.length).fill(reduces ? 1 : 0),
    };
  });
