import fc from "fast-check";
import { COLLECTIVE_KINDS, type Collective, collective } from "../../src/model/collective/collective.ts";
import { rational } from "../../src/model/numbers/rational.ts";
import type { RouteSet } from "../../src/model/routes/routes.ts";
import { indexColumn, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { linkCount, outLinks, type Topology } from "../../src/model/topology/topology.ts";
import { anyTopology } from "./any-topology.ts";

/** Returns routes: every link between NPUs, and every pair of links over one switch with odd shares. */
function someRoutes(topology: Topology, num: number, den: number): RouteSet {
  const { linkSource, linkTarget, npuCount } = topology;
  const out = outLinks(topology);
  const paths: number[][] = [];
  for (let link = 0; link < linkCount(topology); link++) {
    if (linkSource[link] >= npuCount) continue;
    if (linkTarget[link] < npuCount) paths.push([link]);
    for (const next of out.links.subarray(out.offset[linkTarget[link]], out.offset[linkTarget[link] + 1])) {
      if (linkTarget[next] < npuCount) paths.push([link, next]);
    }
  }
  const linkOffset = new Int32Array(paths.length + 1);
  paths.forEach((path, route) => {
    linkOffset[route + 1] = linkOffset[route] + path.length;
  });
  const links = Int32Array.from(paths.flat());
  return {
    source: Int32Array.from(paths, (path) => linkSource[path[0]]),
    target: Int32Array.from(paths, (path) => linkTarget[path.at(-1) as number]),
    linkOffset,
    links,
    shareNum: Float64Array.from(links, (_, i) => (i % 3 === 0 ? num : 1)),
    shareDen: Float64Array.from(links, (_, i) => (i % 3 === 0 ? den : 1)),
  };
}

/** Generates collectives of every kind on a network, custom ones with sets among them. */
function anyCollective(topology: Topology): fc.Arbitrary<Collective> {
  const npus = Array.from({ length: topology.npuCount }, (_, npu) => npu);
  const grouped = fc
    .tuple(fc.shuffledSubarray(npus, { minLength: npus.length }), fc.integer({ min: 1, max: 2 }))
    .map(([order, cut]) => {
      const size = Math.max(1, Math.floor(order.length / cut));
      return order.length >= cut * size
        ? Array.from({ length: cut }, (_, g) => Int32Array.from(order.slice(g * size, (g + 1) * size)))
        : [Int32Array.from(order)];
    });
  const named = fc
    .tuple(
      fc.constantFrom(...COLLECTIVE_KINDS),
      grouped,
      fc.integer({ min: 1, max: 1e6 }),
      fc.integer({ min: 1, max: 3 }),
      fc.nat(),
    )
    .map(([kind, groups, sizeBytes, chunksPerNpu, root]) =>
      collective({ kind, groups, sizeBytes, chunksPerNpu, rootRank: root % groups[0].length }),
    );
  const sets = fc.array(fc.subarray(npus, { minLength: 1 }), { minLength: 1, maxLength: 5 });
  const custom = fc.tuple(sets, fc.nat(), fc.boolean()).map(([lists, num, reduces]): Collective => {
    const offset = new Int32Array(lists.length + 1);
    lists.forEach((list, chunk) => {
      offset[chunk + 1] = offset[chunk] + list.length;
    });
    return {
      kind: "custom",
      groupCount: 1,
      groupSize: npus.length,
      groupMembers: Int32Array.from(npus),
      rootRank: 0,
      sizeBytes: Math.ceil(((num + 1) * lists.length) / 7),
      chunksPerNpu: 1,
      chunkCount: lists.length,
      chunkBytes: rational(num + 1, 7),
      reduces,
      pre: { kind: "sets", offset, members: Int32Array.from(lists.flat()) },
      post: { kind: "one", npu: Int32Array.from(lists, (list) => list[0]) },
    };
  });
  return fc.oneof(named, custom);
}

/** Generates schedules whose columns are in range and in order; what they do makes no sense. */
export const anySchedule = (): fc.Arbitrary<StepSchedule> =>
  anyTopology().chain((topology) =>
    fc
      .tuple(
        anyCollective(topology),
        fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 6, max: 60 })),
        fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(1e9), fc.nat(1e9), fc.nat(1)), { maxLength: 30 }),
      )
      .map(([collective, [num, den], rows]) => {
        const routes = someRoutes(topology, num, den);
        const routeTotal = routes.source.length;
        const sorted = (routeTotal === 0 ? [] : rows)
          .map(([chunk, route, start, length, op]) => [
            chunk % collective.chunkCount,
            route % routeTotal,
            start,
            start + length,
            op,
          ])
          .sort((a, b) => a[2] - b[2] || a[1] - b[1] || a[0] - b[0]);
        const count = sorted.length;
        const chunk = indexColumn(count, collective.chunkCount - 1);
        const route = indexColumn(count, routeTotal - 1);
        sorted.forEach((row, i) => {
          chunk[i] = row[0];
          route[i] = row[1];
        });
        return {
          topology,
          collective,
          routes,
          chunk,
          route,
          startPs: Float64Array.from(sorted, (row) => row[2]),
          endPs: Float64Array.from(sorted, (row) => row[3]),
          op: Uint8Array.from(sorted, (row) => row[4]),
        };
      }),
  );
