import { COLLECTIVE_KINDS } from "../../model/collective/collective.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { fromBaseline } from "./baseline.ts";
import { ringMessages } from "./ring-lanes.ts";

/**
 * One ring in natural rank order, each hop on the shortest way, lowest node first: one direction, or with half of every block each
 * way.
 */
export const ring = fromBaseline({
  name: "ring",
  description: "one ring in natural rank order, one way or both, each hop on a shortest path (baseline)",
  collectives: COLLECTIVE_KINDS,
  policies: ["natural", "bidirectional"],
  lanes: ({ policy }) => (policy === "bidirectional" ? 2 : 1),
  pipelines: (kind) => kind === "broadcast" || kind === "reduce",
  issue({ collective, policy }) {
    const there = indicesBelow(collective.groupSize);
    return ringMessages(collective, policy === "bidirectional" ? [there, there.toReversed()] : [there]);
  },
  words: ({ policy }) => (policy === "bidirectional" ? "natural order, both ways" : "natural order"),
});
