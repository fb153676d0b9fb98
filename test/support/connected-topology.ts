import fc from "fast-check";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";

const BANDWIDTHS = [12.5e9, 25e9, 50e9, 50e9, 75e9, 300e9];
const LATENCIES = [0, 500_000, 500_000, 700_000, 2_500_000];

/**
 * Generates networks of 2 to 12 NPUs and 0 to 3 switches in which every NPU reaches every other: a random tree of two-way
 * links over all nodes, and further one-way links, of mixed bandwidths and latencies.
 */
export const connectedTopology = (mostNpus = 12): fc.Arbitrary<Topology> =>
  fc
    .record({
      npus: fc.integer({ min: 2, max: mostNpus }),
      switches: fc.integer({ min: 0, max: 3 }),
      parents: fc.array(fc.nat(), { minLength: 15, maxLength: 15 }),
      mixed: fc.boolean(),
      figures: fc.array(fc.nat(), { minLength: 15, maxLength: 15 }),
      extra: fc.array(fc.record({ from: fc.nat(), to: fc.nat(), figure: fc.nat() }), { maxLength: 12 }),
    })
    .map(({ npus, switches, parents, mixed, figures, extra }) => {
      const builder = topologyBuilder(`random of ${npus} and ${switches}`);
      for (let v = 0; v < npus; v++) builder.addNpu(`${v}`);
      for (let s = 0; s < switches; s++) builder.addSwitch(`sw${s}`);
      const nodes = npus + switches;
      const bandwidth = (figure: number): number => (mixed ? BANDWIDTHS[figure % BANDWIDTHS.length] : 50e9) as number;
      const latency = (figure: number): number => (mixed ? LATENCIES[figure % LATENCIES.length] : 500_000) as number;
      for (let v = 1; v < nodes; v++) {
        const figure = figures[v] as number;
        builder.addDuplex((parents[v] as number) % v, v, bandwidth(figure), latency(figure >> 3));
      }
      for (const { from, to, figure } of extra) {
        if (from % nodes !== to % nodes)
          builder.addLink(from % nodes, to % nodes, bandwidth(figure), latency(figure >> 3));
      }
      return builder.build();
    });
