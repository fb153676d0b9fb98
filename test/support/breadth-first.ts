import fc from "fast-check";
import { random } from "../../src/base/random.ts";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import type { NamedCollective } from "../../src/model/collective/collective.ts";
import { graphOf } from "../../src/model/direct/construction.ts";
import { arcSources, type Digraph, networkOf } from "../../src/model/direct/digraph.ts";
import { parseConstruction } from "../../src/model/direct/parse.ts";
import { add, type Rational, rational } from "../../src/model/numbers/rational.ts";
import type { Schedule } from "../../src/model/slots/slot-schedule.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { bfb } from "../../src/synthesize/bfb/bfb.ts";
import type { Balancer } from "../../src/synthesize/bfb/broadcast.ts";
import type { Synthesis } from "../../src/synthesize/synthesizer.ts";
import { verify } from "../../src/verify/verify.ts";
import { regularDigraph } from "./regular-digraphs.ts";
import { inlineRunner, wholeCollective } from "./synthesis.ts";

const runner = inlineRunner(jsKernels);

export const balance: Balancer = runner.balance;

export const graph = (text: string): Digraph => graphOf(parseConstruction(text));

/** Returns the network of a graph with links of 25 GB/s and 0.5 us. */
export const networkOfGraph = (of: Digraph, name = "test"): Topology =>
  networkOf(of, name, { bytesPerSecond: 25e9, latencyPs: 500_000 }).topology;

/** Returns what bfb makes of a collective among all NPUs, with the chunks it asks for unless told. */
export async function broadcast(
  topology: Topology,
  kind: NamedCollective,
  { chunks, sizeBytes = 2 ** 20 }: { readonly chunks?: number; readonly sizeBytes?: number } = {},
): Promise<Synthesis & { readonly chunks: number }> {
  const request = { topology, seed: 1, trials: null, policy: null, switchDegree: null };
  const one = { ...request, collective: wholeCollective(topology, kind, sizeBytes) };
  const own = chunks ?? (await bfb.ownChunks?.(one, { runner })) ?? 1;
  const found = await bfb.synthesize(
    { ...request, collective: wholeCollective(topology, kind, sizeBytes, own) },
    { runner },
  );
  return { ...found, chunks: own };
}

export const faults = (schedule: Schedule): readonly string[] =>
  verify(schedule).violations.map(({ message }) => message);

/** Generates connected digraphs of 3 to `most` nodes with `degree` arcs out of and into each, parallel arcs and self-loops too. */
export const regularDigraphs = (most: number, degrees: readonly number[] = [2, 3, 4]): fc.Arbitrary<Digraph> =>
  fc
    .record({ nodes: fc.integer({ min: 3, max: most }), degree: fc.constantFrom(...degrees), seed: fc.nat() })
    .map(({ nodes, degree, seed }) => regularDigraph(nodes, degree, random(seed, 0)));

/** Returns the sum of rationals. */
export const sumOf = (values: readonly Rational[]): Rational => values.reduce(add, rational(0));

/** Returns the distance from every node to `node`, by relaxing all arcs again and again. */
export function distancesTo(of: Digraph, node: number): number[] {
  const distance = Array<number>(of.nodes).fill(Number.POSITIVE_INFINITY);
  distance[node] = 0;
  const tail = arcSources(of);
  for (let changed = true; changed; ) {
    changed = false;
    of.target.forEach((to, arc) => {
      if ((distance[to] as number) + 1 < (distance[tail[arc]] as number)) {
        distance[tail[arc]] = (distance[to] as number) + 1;
        changed = true;
      }
    });
  }
  return distance;
}

export const diameterOf = (of: Digraph): number =>
  Math.max(...Array.from({ length: of.nodes }, (_, v) => Math.max(...distancesTo(of, v))));
