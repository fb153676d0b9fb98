import fc from "fast-check";
import { type Random, random, shuffle } from "../../src/base/random.ts";
import { type Collective, collective } from "../../src/model/collective/collective.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import { portsOf, type SlotSchedule } from "../../src/model/slots/slot-schedule.ts";
import { translatedSchedule } from "../../src/model/symmetry/translation.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { type Cayley, npusOf, opposite, sum } from "../support/cayley.ts";
import { everyone } from "../support/everyone.ts";
import { greedyArrivals } from "../support/greedy-slots.ts";
import { PASSES, type RootlessKind, type SlotKind } from "../support/slot-passes.ts";
import { slotScheduleOf } from "../support/slot-schedules.ts";

/** Chunks of 6,000 bytes on links of these speeds, with the latency that makes up a slot of 6,000 ps. */
const CHUNK_BYTES = 6000;
export const SLOT_PS = 6000;
const SERIAL_PS = [6000, 3000, 3000, 2000, 1000, 4] as const;

/** How links and plans are made: figures are drawn where `mixed`, and some turns of links are passed over where `lazy`. */
export interface Manner {
  readonly mixed: boolean;
  /** Routes need not take the whole slot. */
  readonly shorter: boolean;
  /** Chance in 8 that a link does not send although it could. */
  readonly lazy: number;
  readonly seed: number;
}

export const anyManner: fc.Arbitrary<Manner> = fc.record({
  mixed: fc.boolean(),
  shorter: fc.boolean(),
  lazy: fc.constantFrom(0, 1, 5, 7),
  seed: fc.nat(),
});

function figures({ mixed, shorter }: Manner, { below }: Random): [bytesPerSecond: number, latencyPs: number] {
  const serial = SERIAL_PS[mixed ? below(SERIAL_PS.length) : 1] as number;
  return [(CHUNK_BYTES * 1e12) / serial, shorter ? below(SLOT_PS - serial + 1) : SLOT_PS - serial];
}

function wholeCollective(npus: number, kind: SlotKind, chunks: number): Collective {
  const shares = kind === "broadcast" || kind === "reduce" ? 1 : npus;
  const sizeBytes = CHUNK_BYTES * shares * chunks;
  return collective({ kind, groups: [everyone(npus)], sizeBytes, chunksPerNpu: chunks, rootRank: npus >> 1 });
}

/** Generates networks in which everyone reaches everyone: a tree of two-way links, of which some are doubled, and others. */
export const anyNetwork = (manner: Manner, mostNpus: number): fc.Arbitrary<Topology> =>
  fc
    .record({
      npus: fc.integer({ min: 2, max: mostNpus }),
      parents: fc.array(fc.nat(), { minLength: mostNpus, maxLength: mostNpus }),
      extra: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 2 * mostNpus }),
      shape: fc.constantFrom("tree", "ring", "mesh", "torus"),
    })
    .map(({ npus, parents, extra, shape }) => {
      const drawn = random(manner.seed, 1);
      const builder = topologyBuilder(`${shape} of ${npus}`);
      for (let v = 0; v < npus; v++) builder.addNpu(`${v}`);
      const connect = (a: number, b: number): void => {
        if (a === b) return;
        builder.addLink(a, b, ...figures(manner, drawn));
        builder.addLink(b, a, ...figures(manner, drawn));
      };
      if (shape === "tree") {
        for (let v = 1; v < npus; v++) connect((parents[v] as number) % v, v);
        for (const [a, b] of extra) connect(a % npus, b % npus);
      } else {
        const width = shape === "ring" ? npus : Math.max(1, Math.floor(Math.sqrt(npus)));
        for (let v = 1; v < npus; v++) {
          if (v % width > 0) connect(v - 1, v);
          if (v >= width) connect(v - width, v);
        }
        if (shape !== "mesh") for (let v = 0; v < npus; v += width) connect(v, Math.min(npus, v + width) - 1);
      }
      return builder.build();
    });

/** Generates all-reduces on two-way lines and rings whose links are seldom idle, with several chunks on their way at once. */
export const busyAllReduce: fc.Arbitrary<SlotSchedule> = fc
  .record({
    npus: fc.integer({ min: 3, max: 8 }),
    ring: fc.boolean(),
    chunks: fc.integer({ min: 2, max: 4 }),
    seed: fc.nat(),
  })
  .map(({ npus, ring, chunks, seed }) => {
    const builder = topologyBuilder("busy");
    for (let v = 0; v < npus; v++) builder.addNpu(`${v}`);
    for (let v = ring ? 0 : 1; v < npus; v++) builder.addDuplex((v + npus - 1) % npus, v, 2e12, 3000);
    return someSlots(builder.build(), "allreduce", chunks, { mixed: false, shorter: false, lazy: 0, seed });
  });

/** Returns a valid schedule: in each slot a port brings some chunk that its source had before, or nothing. */
export function someSlots(topology: Topology, kind: SlotKind, chunks: number, manner: Manner): SlotSchedule {
  const routes = routesOf(topology, 1);
  const whole = wholeCollective(topology.npuCount, kind, chunks);
  const home = whole.pre.kind === "one" ? whole.pre : whole.post.kind === "one" ? whole.post : null;
  const draws = random(manner.seed, 2);
  const { below } = draws;
  const spot = below(topology.npuCount);
  // the chunks of an all-reduce may meet anywhere: at their ranks, at one NPU, at any
  const meet = [(c: number) => Math.floor(c / chunks), () => spot, () => below(topology.npuCount)][
    kind === "allreduce" ? below(3) : 0
  ] as (chunk: number) => number;
  const origin = Int32Array.from({ length: whole.chunkCount }, (_, c) => home?.npu[c] ?? meet(c));
  const arrivals = greedyArrivals(topology.npuCount, routes, origin, draws, () => below(8) < manner.lazy);
  const passes = PASSES[kind];
  return slotScheduleOf({ topology, collective: whole, origin, arrivals, passes, slotPs: SLOT_PS, routes });
}

/**
 * Returns a valid schedule that is the same from every NPU, over links to and from the NPUs at the offsets; null where not
 * all are reached. Where `shuffled`, the mirror of a link may be any of several parallel ones.
 */
export function someSymmetricSlots(
  { sizes, offsets }: Cayley,
  kind: RootlessKind,
  chunks: number,
  manner: Manner,
  shuffled: boolean,
): SlotSchedule | null {
  const npus = npusOf({ sizes, offsets });
  const drawn = random(manner.seed, 1);
  const builder = topologyBuilder("symmetric");
  for (let v = 0; v < npus; v++) builder.addNpu(`${v}`);
  const links: Parameters<typeof builder.addLink>[] = [];
  for (const offset of offsets) {
    const there = figures(manner, drawn);
    const back = figures(manner, drawn);
    for (let v = 0; v < npus; v++) {
      links.push([v, sum(sizes, v, offset), ...there], [sum(sizes, v, offset), v, ...back]);
    }
  }
  const order = Int32Array.from(links.keys());
  if (shuffled) shuffle(order, 0, order.length, manner.seed, 0);
  for (const i of order) builder.addLink(...(links[i] as Parameters<typeof builder.addLink>));
  const topology = builder.build();
  const routes = routesOf(topology, 1);
  const ports = portsOf(routes, npus).items.slice(0, 2 * offsets.length);
  const less = ports.map((route) => opposite(sizes, routes.source[route]));
  const whole = wholeCollective(npus, kind, chunks);
  const since = new Map<number, number>();
  for (let k = 0; k < chunks; k++) since.set(k, 0);
  const log: number[] = [...since.keys()];
  const bytes = (ports.length + 7) >> 3;
  const bits: number[] = [];
  let idle = 0;
  for (let slot = 0; since.size < whole.chunkCount; slot++) {
    if (idle > 200) return null;
    bits.push(...new Array<number>(bytes).fill(0));
    idle++;
    for (let p = 0; p < ports.length; p++) {
      const ready = [...Array(whole.chunkCount).keys()].filter((c) => {
        const there = since.get(sum(sizes, Math.floor(c / chunks), less[p]) * chunks + (c % chunks));
        return !since.has(c) && there !== undefined && there <= slot;
      });
      if (ready.length === 0 || drawn.below(8) < manner.lazy) continue;
      const chunk = ready[drawn.below(ready.length)] as number;
      since.set(chunk, slot + 1);
      log.push(chunk);
      bits[slot * bytes + (p >> 3)] |= 1 << (p & 7);
      idle = 0;
    }
  }
  const row = { chunk: Int32Array.from(log), ports: Uint8Array.from(bits) };
  const time = { slotPs: SLOT_PS, slots: bits.length / bytes, passes: PASSES[kind] };
  return translatedSchedule({ topology, routes, sizes, chunksPerNpu: chunks, row }, whole, time);
}
