import type { NetworkView } from "../protocol.ts";
import type { Selection } from "../state/store.ts";
import type { NodeMark, WireMark } from "./marks.ts";
import { wiresAt } from "./network-index.ts";

/** Of a node with more wires than this only the node is marked. */
const MOST_WIRES = 3000;

/** Returns how what is selected and what is pointed at stand out: themselves, and the wires of a node. */
export function emphasis(
  network: NetworkView,
  selected: Selection | null,
  pointed: Selection | null,
): { readonly wires: WireMark[]; readonly nodes: Map<number, NodeMark> } {
  const wires: WireMark[] = [];
  const nodes = new Map<number, NodeMark>();
  const mark = (what: Selection | null, colour: string): void => {
    if (what?.kind === "wire") {
      wires.push({ wire: what.wire, colour, forward: null });
      for (const end of [network.wires.a[what.wire], network.wires.b[what.wire]])
        nodes.set(end, { colour, ring: true });
    } else if (what?.kind === "node") {
      const own = wiresAt(network, what.node);
      if (own.length <= MOST_WIRES) {
        for (const wire of own) wires.push({ wire, colour, forward: null, width: own.length > 60 ? 1 : 2 });
      }
      nodes.set(what.node, { colour, ring: true });
    }
  };
  mark(pointed, "--accent");
  mark(selected, "--chosen");
  return { wires, nodes };
}
