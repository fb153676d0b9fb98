import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { indicesBelow } from "../../../src/model/numbers/ordering.ts";
import { routeTimes } from "../../../src/model/routes/routes.ts";
import { hopsOf, messagesOf, shortestPaths } from "../../../src/synthesize/alltoall/paths.ts";
import { pipelined } from "../../../src/synthesize/alltoall/pipelined.ts";
import { tenNetwork } from "../../../src/synthesize/tacos/network.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { runs } from "../../support/runs.ts";
import { wholeCollective } from "../../support/synthesis.ts";

type Problem = Parameters<typeof pipelined>[0];

/** Returns the hops of an all-to-all along shortest ways, keys drawn. */
const problems = fc
  .tuple(connectedTopology(7), fc.integer({ min: 1, max: 2 ** 24 }), fc.integer({ min: 1, max: 2 }), fc.nat(9))
  .map(([topology, size, chunks, turns]): Problem => {
    const collective = wholeCollective(topology, "alltoall", size, chunks);
    const messages = messagesOf(collective, topology.npuCount);
    const paths = shortestPaths(
      topology,
      messages,
      topology.linkLatencyPs.map((ps) => ps + 1),
    );
    const { routes, message, route } = hopsOf(topology, paths);
    const times = routeTimes(topology, routes, collective.chunkBytes);
    const network = tenNetwork(topology, routes, { ...times, slotPs: times.serialPs });
    const latencyPs = times.slotPs.map((ps, r) => ps - times.serialPs[r]);
    const key = Float64Array.from(route, (_, i) => (i * (turns + 1) * 7919) % 13);
    return { network, latencyPs, message, route, key };
  });

/** Returns when hops start: at every instant, one after the other in the order of keys, whatever is there and has room. */
function bruteForce({ network, latencyPs, message, route, key }: Problem): number[] {
  const { slotPs, useOffset, useResource, useUnits, capacity } = network;
  const inOrder = [...indicesBelow(route.length)].sort((a, b) => key[a] - key[b] || a - b);
  const start: number[] = new Array(route.length).fill(-1);
  const readyPs = (i: number): number => {
    if (i === 0 || message[i - 1] !== message[i]) return 0;
    const before = start[i - 1] as number;
    return before < 0 ? Number.POSITIVE_INFINITY : before + slotPs[route[i - 1]] + latencyPs[route[i - 1]];
  };
  const holds = (i: number, now: number): boolean => {
    const at = start[i] as number;
    return at >= 0 && at <= now && now < at + slotPs[route[i]];
  };
  const hasRoom = (i: number, now: number): boolean => {
    const holding = inOrder.filter((other) => holds(other, now));
    if (holding.some((other) => route[other] === route[i])) return false;
    const usesOf = (hop: number, resource: number): number => {
      let units = 0;
      for (let k = useOffset[route[hop]]; k < useOffset[route[hop] + 1]; k++)
        if (useResource[k] === resource) units += useUnits[k];
      return units;
    };
    return [...capacity.keys()].every(
      (resource) =>
        usesOf(i, resource) === 0 ||
        holding.reduce((sum, other) => sum + usesOf(other, resource), usesOf(i, resource)) <= capacity[resource],
    );
  };
  for (let now = 0; start.includes(-1); ) {
    for (const i of inOrder) if (start[i] === -1 && readyPs(i) <= now && hasRoom(i, now)) start[i] = now;
    const ahead = start.flatMap((at, i) => [at < 0 ? readyPs(i) : at + slotPs[route[i]]]).filter((ps) => ps > now);
    now = Math.min(...ahead);
  }
  return start;
}

describe("pipelined", () => {
  it("starts at every instant the first hop of those that are there and have room", () => {
    fc.assert(
      fc.property(
        problems.filter(({ route }) => route.length <= 120),
        (problem) => {
          const { startPs, endPs } = pipelined(problem);
          const expected = bruteForce(problem);
          expect([...startPs]).toEqual(expected);
          const { network, latencyPs, route } = problem;
          const ends = expected.map((ps, i) => ps + network.slotPs[route[i]] + latencyPs[route[i]]);
          expect(endPs).toBe(Math.max(...ends));
        },
      ),
      { numRuns: runs(60), seed: 11 },
    );
  });
});
