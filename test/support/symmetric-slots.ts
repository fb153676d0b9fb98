import type { Random } from "../../src/base/random.ts";
import { opposite, sum } from "./cayley.ts";
import { shuffle } from "./draws.ts";
import { directRoutes, goal, into, networkOf, type PlainArrival, type PlainSlots, SLOT_PS } from "./slot-cases.ts";
import { PASSES, type SlotKind } from "./slot-passes.ts";

/** Correct slot schedules that translations do not change, made for NPU 0 and moved to the others. */

/** Returns the arrivals of every NPU when NPU 0 has these; of parallel routes the k-th stands for the k-th. */
export function moved(plain: PlainSlots, ofFirst: readonly PlainArrival[]): PlainArrival[][] {
  const sizes = plain.symmetry as readonly number[];
  const n = plain.topology.npuCount;
  const perNpu = plain.origin.length / n;
  const sources = Array.from({ length: n }, (_, v) => into(plain.routes, v).map((route) => plain.routes.source[route]));
  return sources.map((ofPort, v) =>
    ofFirst.map(({ chunk, port, slot }) => {
      const from = sources[0][port] as number;
      const rank = sources[0].slice(0, port).filter((s) => s === from).length;
      const alike = [...ofPort.keys()].filter((p) => ofPort[p] === sum(sizes, from, v));
      const owner = sum(sizes, Math.floor(chunk / perNpu), v);
      return { chunk: owner * perNpu + (chunk % perNpu), port: alike[rank] as number, slot };
    }),
  );
}

/** Returns a schedule on the network in which everyone has links from these offsets, declared in random order. */
export function symmetricSlots(
  sizes: readonly number[],
  offsets: readonly number[],
  kind: SlotKind,
  chunksPerNpu: number,
  draws: Random,
): PlainSlots | null {
  const n = sizes.reduce((product, size) => product * size, 1);
  const both = PASSES[kind].some(({ reversed }) => reversed);
  const all = both ? [...offsets, ...offsets.map((offset) => opposite(sizes, offset))] : offsets;
  const pairs = all.flatMap((offset) =>
    Array.from({ length: n }, (_, v): [number, number] => [sum(sizes, v, offset), v]),
  );
  shuffle(pairs, draws);
  const topology = networkOf(n, pairs);
  const routes = directRoutes(topology);
  const [whole, origin] = goal(kind, n, chunksPerNpu, 0);
  const held = Array.from({ length: n }, (_, v) => [...origin.keys()].filter((c) => origin[c] === v));
  const since = new Map(held[0].map((c) => [c, 0]));
  const arrivals: PlainArrival[] = [];
  let slot = 0;
  for (; since.size < origin.length; slot++) {
    const before = arrivals.length;
    for (const [port, route] of into(routes, 0).entries()) {
      const back = opposite(sizes, routes.source[route]);
      const ready = [...origin.keys()].filter((c) => {
        const there = sum(sizes, Math.floor(c / chunksPerNpu), back) * chunksPerNpu + (c % chunksPerNpu);
        return !since.has(c) && (since.get(there) ?? slot + 1) <= slot;
      });
      if (ready.length === 0) continue;
      const chunk = ready[draws.below(ready.length)] as number;
      since.set(chunk, slot + 1);
      arrivals.push({ chunk, port, slot });
    }
    if (arrivals.length === before) return null; // not connected
  }
  const frame = { topology, collective: whole, routes, slotPs: SLOT_PS, slots: slot, passes: PASSES[kind] };
  const plain: PlainSlots = { ...frame, origin, symmetry: sizes, held, arrivals: [] };
  return { ...plain, arrivals: moved(plain, arrivals) };
}
