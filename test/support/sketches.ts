import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { readTacclTopology } from "../../src/import/networks/taccl-topology.ts";
import { type Collective, membersOf } from "../../src/model/collective/collective.ts";
import { routeCount } from "../../src/model/routes/routes.ts";
import {
  ALL_LINKS,
  type InternodeSketch,
  type IntranodeSketch,
  type Sketch,
  type SketchNetwork,
} from "../../src/model/sketch/sketch.ts";
import type { Topology } from "../../src/model/topology/topology.ts";

/** The text of our own sketch file, with comments. */
export const OWN_SKETCH = readFileSync(new URL("../fixtures/two-nodes.sketch.json", import.meta.url), "utf8");

/** Nodes of four GPUs on a switch, two of which share a NIC: 1 us and 10 us of alpha, 8 us and 100 us per MiB. */
export const sharedNics = (nodes = 2): Topology =>
  readTacclTopology(
    JSON.stringify({
      name: "small",
      gpus_per_node: 4,
      nics_per_node: 2,
      alpha: 1,
      node_betas_list: [8],
      remote_alpha: 10,
      remote_beta: 100,
    }),
    "small.json",
    { nodes, profileScale: 1 },
  );

/** One box of all links. */
export const flatSketch = (npus: number, changes: Partial<Sketch> = {}): Sketch => ({
  name: "flat",
  boxes: 1,
  npusPerBox: npus,
  intranode: ALL_LINKS,
  internode: null,
  symmetries: [],
  chunksPerNpu: 1,
  inputBytes: null,
  ...changes,
});

/** Only these connections inside boxes, as [sender, receivers]. */
export const onlyInside = (...connections: readonly (readonly [number, readonly number[]])[]): IntranodeSketch => ({
  strategy: "relay",
  switches: [],
  policies: [],
  connections: new Map(connections),
});

/** These connections between boxes, with the whole bandwidth. */
export const onlyBetween = (
  connections: InternodeSketch["connections"],
  relays: InternodeSketch["relays"] = null,
): InternodeSketch => ({ connections, betaSplit: new Map(), relays, enforceOrdering: false });

const ranksOf = (npus: number, least: number): fc.Arbitrary<number[]> =>
  fc
    .uniqueArray(fc.integer({ min: 0, max: npus - 1 }), { minLength: least, maxLength: npus })
    .map((list) => list.sort((a, b) => a - b));

/** Any sketch without contradictions, for so many boxes of so many NPUs. */
export function anySketch(boxes: number, npusPerBox: number): fc.Arbitrary<Sketch> {
  const lists = (keys: readonly number[], excluded: boolean) =>
    fc
      .tuple(
        ...keys.map((key) => ranksOf(npusPerBox, 1).map((list) => (excluded ? list.filter((x) => x !== key) : list))),
      )
      .map((values) => new Map(keys.map((key, i) => [key, values[i]] as const).filter(([, list]) => list.length > 0)));
  const keys = ranksOf(npusPerBox, 1);
  const policy = fc.constantFrom("uc-min" as const, "uc-max" as const, "none" as const);
  const intranode = fc.oneof(
    fc.constant(ALL_LINKS),
    fc.tuple(ranksOf(npusPerBox, 2), policy).map(([ranks, one]) => ({
      strategy: "switch" as const,
      switches: [ranks],
      policies: [one],
      connections: null,
    })),
    keys
      .chain((senders) => lists(senders, true))
      .filter((map) => map.size > 0)
      .map((connections) => ({ strategy: "relay" as const, switches: [], policies: [], connections })),
  );
  const internode =
    boxes === 1
      ? fc.constant(null)
      : keys.chain((senders) =>
          fc.record({
            connections: fc.oneof(
              fc.constantFrom("direct-map" as const, "fully-connected" as const),
              lists(senders, false),
            ),
            betaSplit: fc
              .subarray(senders)
              .chain((split) =>
                fc
                  .tuple(...split.map(() => fc.integer({ min: 1, max: 8 })))
                  .map((parts) => new Map(split.map((key, i) => [key, parts[i]] as const))),
              ),
            relays: fc.option(
              fc
                .tuple(...Array.from({ length: npusPerBox }, () => fc.subarray(senders, { minLength: 1 })))
                .map((owners) => new Map(owners.map((list, owner) => [owner, list] as const))),
            ),
            enforceOrdering: fc.boolean(),
          }),
        );
  const npus = boxes * npusPerBox;
  const periods = Array.from({ length: npus - 1 }, (_, i) => i + 2).filter((p) => npus % p === 0);
  const rotation = fc
    .constantFrom(...periods)
    .chain((period) => fc.record({ offset: fc.integer({ min: 1, max: period - 1 }), period: fc.constant(period) }));
  return fc.record({
    name: fc.constant("any"),
    boxes: fc.constant(boxes),
    npusPerBox: fc.constant(npusPerBox),
    intranode,
    internode,
    symmetries: fc.array(rotation, { maxLength: 2 }),
    chunksPerNpu: fc.integer({ min: 1, max: 9 }),
    inputBytes: fc.option(fc.integer({ min: 1, max: 2 ** 40 })),
  });
}

/** Returns the first (chunk, NPU) that stays without, null where there is none, by carrying chunks on until nothing changes. */
export function firstUnreached(network: SketchNetwork, wanted: Collective): readonly [number, number] | null {
  const reached = new Map<number, ReadonlySet<number>>();
  for (let chunk = 0; chunk < wanted.chunkCount; chunk++) {
    const [owner] = membersOf(wanted, wanted.pre, chunk);
    const has = reached.get(owner) ?? reachedFrom(network, owner);
    reached.set(owner, has);
    for (const npu of membersOf(wanted, wanted.post, chunk)) if (!has.has(npu)) return [chunk, npu];
  }
  return null;
}

function reachedFrom({ routes, sketch, boxOf }: SketchNetwork, owner: number): ReadonlySet<number> {
  const has = new Set([owner]);
  const relays = sketch.internode?.relays?.get(owner % sketch.npusPerBox);
  for (let before = 0; before < has.size; ) {
    before = has.size;
    for (let r = 0; r < routeCount(routes); r++) {
      const [u, v] = [routes.source[r], routes.target[r]];
      const exit = boxOf[u] === boxOf[owner] && boxOf[v] !== boxOf[u];
      if (has.has(u) && (!exit || relays === undefined || relays.includes(u % sketch.npusPerBox))) has.add(v);
    }
  }
  return has;
}
