import type { NetworkView } from "../protocol.ts";
import type { Selection } from "./store.ts";

/** Returns a selection of one network as it stands in another, by names; null where it is not there. O(nodes + wires). */
export function selectedIn(next: NetworkView, last: NetworkView, chosen: Selection | null): Selection | null {
  if (chosen === null) return null;
  const inNext = (node: number): number => next.nodeNames.indexOf(last.nodeNames[node]);
  if (chosen.kind === "node") {
    const node = inNext(chosen.node);
    return node < 0 ? null : { kind: "node", node };
  }
  const [one, other] = [inNext(last.wires.a[chosen.wire]), inNext(last.wires.b[chosen.wire])];
  const [a, b] = one < other ? [one, other] : [other, one];
  const wire = next.wires.a.findIndex((from, w) => from === a && next.wires.b[w] === b);
  return a < 0 || wire < 0 ? null : { kind: "wire", wire };
}
