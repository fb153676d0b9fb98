import fc from "fast-check";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";

/** Generates networks of 1 to 6 NPUs and 0 to 3 switches with odd names, mixed figures and parallel links; any wiring. */
export const anyTopology = (): fc.Arbitrary<Topology> =>
  fc
    .record({
      npus: fc.integer({ min: 1, max: 6 }),
      switches: fc.integer({ min: 0, max: 3 }),
      names: fc.uniqueArray(fc.string({ minLength: 1, maxLength: 6, unit: "grapheme" }), {
        minLength: 9,
        maxLength: 9,
      }),
      title: fc.string({ minLength: 1 }),
      links: fc.array(
        fc.record({
          from: fc.nat(),
          to: fc.nat(),
          bandwidth: fc.integer({ min: 1, max: 1e12 }),
          latency: fc.nat(1e7),
          back: fc.boolean(),
        }),
        { maxLength: 14 },
      ),
      group: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
      multicast: fc.option(fc.boolean(), { nil: undefined }),
    })
    .map(({ npus, switches, names, title, links, group, multicast }) => {
      const builder = topologyBuilder(title);
      for (let i = 0; i < npus; i++) builder.addNpu(names[i], group === undefined ? {} : { group });
      for (let i = 0; i < switches; i++)
        builder.addSwitch(names[npus + i], multicast === undefined ? {} : { multicast });
      const nodes = npus + switches;
      for (const { from, to, bandwidth, latency, back } of links) {
        if (from % nodes === to % nodes) continue;
        if (back) builder.addDuplex(from % nodes, to % nodes, bandwidth, latency);
        else builder.addLink(from % nodes, to % nodes, bandwidth, latency);
      }
      return builder.build({ shape: npus % 2 === 0 ? [2, npus / 2] : [], sources: [title] });
    });
