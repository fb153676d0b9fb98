import fc from "fast-check";
import { shuffle } from "../../src/base/random.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";

/** A network that looks the same from every NPU: everyone has links from those at the same offsets, repeats allowed. */
export interface Cayley {
  readonly sizes: readonly number[];
  /** NPUs other than 0; NPU 0 has a link from each. */
  readonly offsets: readonly number[];
  /** GB/s of the links at each offset; 1 where absent. */
  readonly gbps?: readonly number[];
}

export const npusOf = ({ sizes }: Cayley): number => sizes.reduce((product, size) => product * size, 1);

/** Returns the coordinates of an NPU, first dimension fastest. */
export function coordinates(sizes: readonly number[], npu: number): number[] {
  let rest = npu;
  return sizes.map((size) => {
    const x = rest % size;
    rest = (rest - x) / size;
    return x;
  });
}

/** Returns the NPU with the sum of two NPUs' coordinates. */
export function sum(sizes: readonly number[], a: number, b: number): number {
  const [x, y] = [coordinates(sizes, a), coordinates(sizes, b)];
  return sizes.reduceRight((npu, size, d) => npu * size + ((x[d] + y[d]) % size), 0);
}

/** Returns the NPU of the opposite coordinates. */
export const opposite = (sizes: readonly number[], npu: number): number =>
  coordinates(sizes, npu).reduceRight((all, x, d) => all * sizes[d] + ((sizes[d] - x) % sizes[d]), 0);

/** Returns the network without its shape, links declared in a drawn order, all of 500 ns. */
export function cayleyNetwork(cayley: Cayley, seed = 0): Topology {
  const npus = npusOf(cayley);
  const builder = topologyBuilder(`offsets ${cayley.offsets.join()} in ${cayley.sizes.join("x")}`);
  for (let v = 0; v < npus; v++) builder.addNpu(`${v}`);
  const order = Array.from({ length: npus * cayley.offsets.length }, (_, i) => i);
  if (seed > 0) shuffle(order, 0, order.length, seed, 0);
  for (const i of order) {
    const v = i % npus;
    const which = (i - v) / npus;
    builder.addLink(sum(cayley.sizes, v, cayley.offsets[which]), v, (cayley.gbps?.[which] ?? 1) * 1e9, 500_000);
  }
  return builder.build();
}

/** Returns whether links lead from NPU 0 to everyone. */
export function isConnected({ sizes, offsets }: Cayley): boolean {
  const reached = new Set([0]);
  for (const v of reached) for (const offset of offsets) reached.add(sum(sizes, v, offset));
  return reached.size === npusOf({ sizes, offsets });
}

/** Generates groups of 2 to `most` NPUs with 1 to 5 offsets; not all are connected. */
export const anyCayley = (most: number): fc.Arbitrary<Cayley> =>
  fc
    .array(fc.integer({ min: 2, max: 5 }), { minLength: 1, maxLength: 3 })
    .filter((sizes) => sizes.reduce((product, size) => product * size, 1) <= most)
    .chain((sizes) => {
      const npus = sizes.reduce((product, size) => product * size, 1);
      const offsets = fc.array(fc.integer({ min: 1, max: npus - 1 }), { minLength: 1, maxLength: 5 });
      return fc.record({ sizes: fc.constant(sizes), offsets });
    });
