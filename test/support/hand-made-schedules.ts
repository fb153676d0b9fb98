import { type Collective, collective, type NamedCollective } from "../../src/model/collective/collective.ts";
import { rational } from "../../src/model/numbers/rational.ts";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { everyone } from "./everyone.ts";
import { type Row, routeSet, scheduleOfRows, type WrittenRoute } from "./schedule-rows.ts";

/** Words for writing schedules by hand: links of 1 GB/s and 0.5 us, chunks of 1,000 bytes, so slots of 1.5 us. */

export const SLOT_US = 1.5;
export const US = 1e6;

export function task(kind: NamedCollective, n: number, rootRank = 0, members = everyone(n)): Collective {
  const blocks = kind === "broadcast" || kind === "reduce" ? 1 : members.length;
  return collective({ kind, groups: [members], sizeBytes: 1000 * blocks, chunksPerNpu: 1, rootRank });
}

/** Returns NPUs g0, g1 ... with links from `pairs` at 1 GB/s and 0.5 us, then switches s0, s1 ... */
export function network(n: number, pairs: readonly (readonly [number, number])[], switches = 0): Topology {
  const builder = topologyBuilder("hand-made");
  for (let i = 0; i < n; i++) builder.addNpu(`g${i}`);
  for (let i = 0; i < switches; i++) builder.addSwitch(`s${i}`);
  for (const [from, to] of pairs) builder.addLink(from, to, 1e9, 0.5 * US);
  return builder.build();
}

export const ring = (n: number): Topology =>
  network(
    n,
    Array.from({ length: n }, (_, i) => [i, (i + 1) % n] as const),
  );
export const direct = (topology: Topology): WrittenRoute[] =>
  Array.from(topology.linkSource, (_, link) => ({ links: [link] }));

/** A transfer of one slot: chunk, route, start in us, operation. */
export const row = (chunk: number, route: number, startUs: number, op = 0, lastsUs = SLOT_US): Row => ({
  chunk,
  route,
  start: Math.round(startUs * US),
  end: Math.round((startUs + lastsUs) * US),
  op,
});

export const make = (
  topology: Topology,
  goal: Collective,
  rows: readonly Row[],
  routes = direct(topology),
): StepSchedule => scheduleOfRows(topology, goal, routeSet(topology, routes), rows);

/** In step s NPU i passes on chunk i - s - lag. */
export const ringSteps = (n: number, op: number, lag: number, firstStep = 0): Row[] =>
  Array.from({ length: n * (n - 1) }, (_, k) => {
    const step = Math.floor(k / n);
    return row(((((k % n) - step - lag) % n) + 2 * n) % n, k % n, (firstStep + step) * SLOT_US, op);
  });
/** A reduce-scatter in which the sum of chunk c ends at NPU c, then an all-gather. */
export const ringAllReduce = (n: number): Row[] => [...ringSteps(n, 1, 1), ...ringSteps(n, 0, 0, n - 1)];

/** Every NPU exchanges its sum with the one whose number differs in one bit, bit by bit: nothing moves along a tree. */
export function doubling(bits: number): StepSchedule {
  const n = 1 << bits;
  const pairs = Array.from({ length: n * bits }, (_, k) => [k % n, (k % n) ^ (1 << Math.floor(k / n))] as const);
  const rows = pairs.flatMap((_, link) =>
    Array.from(everyone(n), (chunk) => row(chunk, link, (Math.floor(link / n) * n + chunk) * SLOT_US, 1)),
  );
  return make(network(n, pairs), task("allreduce", n), rows);
}

/** Four NPUs on one switch: links 0 to 3 go up, 4 to 7 down; routes from each to the next two, with half of each port. */
export const star = network(
  4,
  [...[0, 1, 2, 3].map((i) => [i, 4] as const), ...[0, 1, 2, 3].map((i) => [4, i] as const)],
  1,
);
export const halves = (): WrittenRoute[] =>
  [0, 1, 2, 3].flatMap((i) => [1, 2].map((hop) => ({ links: [i, 4 + ((i + hop) % 4)], share: [1, 2] as const })));
/** 1 us of latency on two links, and 2 us at half of 1 GB/s. */
export const HALF_US = 3;

/** The largest prime below 2^53: doubles cannot add its parts. */
export const PRIME = 9007199254740881;

/** g0, g1, g2 in a line: routes 0 and 1 lead up, 2 and 3 down. */
export const line = network(3, [
  [0, 1],
  [1, 2],
  [1, 0],
  [2, 1],
]);

/** NPU 0 sends a tiny chunk for each share, all at once, over that share of its one link to NPU 1. */
export function sharedLink(shares: readonly (readonly [number, number])[]): StepSchedule {
  const topology = network(2, [[0, 1]]);
  const routes = shares.map((share) => ({ links: [0], share }));
  const chunks = shares.length;
  const goal: Collective = {
    ...task("allgather", 2),
    kind: "custom",
    sizeBytes: 1,
    chunkCount: chunks,
    chunkBytes: rational(1, 1e9),
    pre: { kind: "one", npu: new Int32Array(chunks) },
    post: { kind: "one", npu: new Int32Array(chunks).fill(1) },
  };
  const slow = 1e10; // enough for one part of the prime
  const rows = shares.map((_, chunk) => ({ chunk, route: chunk, start: 0, end: slow, op: 0 }));
  return make(topology, goal, rows, routes);
}

/** g0 and g1 send their contributions to g2, over routes 0 and 1, at once: by these operations. */
export function together(first: number, second: number): StepSchedule {
  const goal: Collective = {
    ...task("reduce", 3, 2),
    kind: "custom",
    pre: { kind: "sets", offset: Int32Array.of(0, 2), members: Int32Array.of(0, 1) },
  };
  const topology = network(3, [
    [0, 2],
    [1, 2],
  ]);
  return make(topology, goal, [row(0, 0, 0, first), row(0, 1, 0, second)]);
}
