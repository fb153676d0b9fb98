import { formatBandwidth, formatTime } from "../../model/numbers/units.ts";
import type { NetworkView } from "../protocol.ts";
import type { Selection } from "../state/store.ts";
import { linksAt, wiresAt } from "./network-index.ts";

/** Figures of all links from one node to another. */
interface WayFigures {
  readonly links: number;
  readonly bytesPerSecond: number;
  /** Least and greatest latency of the links; 0 where there are none. */
  readonly leastPs: number;
  readonly mostPs: number;
}

/** Returns the figures of a wire's links from a to b, or from b to a. O(links of the wire). */
export function wayOf(network: NetworkView, wire: number, forward: boolean): WayFigures {
  const { linkSource, linkLatencyPs, wires } = network;
  const from = forward ? wires.a[wire] : wires.b[wire];
  const latencies = Array.from(
    linksAt(network, wire).filter((link) => linkSource[link] === from),
    (link) => linkLatencyPs[link],
  );
  return {
    links: latencies.length,
    bytesPerSecond: forward ? wires.forward[wire] : wires.backward[wire],
    leastPs: latencies.length === 0 ? 0 : latencies.reduce((a, b) => Math.min(a, b)),
    mostPs: latencies.reduce((a, b) => Math.max(a, b), 0),
  };
}

/** Returns one way in words: "300 GB/s, 700 ns", "200 GB/s in 4 links, 1 us to 2 us"; "none". */
export function wayText({ links, bytesPerSecond, leastPs, mostPs }: WayFigures): string {
  if (links === 0) return "none";
  const latency = leastPs === mostPs ? formatTime(leastPs) : `${formatTime(leastPs)} to ${formatTime(mostPs)}`;
  return `${formatBandwidth(bytesPerSecond)}${links > 1 ? ` in ${links} links` : ""}, ${latency}`;
}

/** Bandwidth of all links of a node, bytes per second, and how many nodes it is linked with. O(degree). */
export function nodeFigures(network: NetworkView, node: number): { sent: number; received: number; degree: number } {
  const { a, forward, backward } = network.wires;
  const own = wiresAt(network, node);
  let [sent, received] = [0, 0];
  for (const wire of own) {
    const isA = a[wire] === node;
    sent += isA ? forward[wire] : backward[wire];
    received += isA ? backward[wire] : forward[wire];
  }
  return { sent, received, degree: own.length };
}

/** Returns "NPU 7", "switch sw0"; names that say it themselves stand alone. */
export function nodeTitle({ nodeNames, npuCount }: NetworkView, node: number): string {
  const [name, kind] = [nodeNames[node], node < npuCount ? "NPU" : "switch"];
  return /^\d/.test(name) || kind === "switch" ? `${kind} ${name}` : name;
}

/** Returns "0 – 1" for a wire that leads both ways, "0 → 1" for one that leads one way. */
export function wireTitle({ nodeNames, wires }: NetworkView, wire: number): string {
  const [a, b] = [nodeNames[wires.a[wire]], nodeNames[wires.b[wire]]];
  if (wires.backward[wire] === 0) return `${a} → ${b}`;
  return wires.forward[wire] === 0 ? `${b} → ${a}` : `${a} – ${b}`;
}

/** Returns what is said of a node or wire that is pointed at: a title and lines of figures. */
export function tipOf(
  network: NetworkView,
  at: Selection,
): { readonly title: string; readonly lines: readonly string[] } {
  if (at.kind === "wire") {
    const [there, back] = [wayOf(network, at.wire, true), wayOf(network, at.wire, false)];
    const { a, b } = network.wires;
    const names = network.nodeNames;
    const alike = wayText(there) === wayText(back);
    const lines = alike
      ? [`${wayText(there)}, each way`]
      : [
          ...(there.links > 0 ? [`${names[a[at.wire]]} → ${names[b[at.wire]]}: ${wayText(there)}`] : []),
          ...(back.links > 0 ? [`${names[b[at.wire]]} → ${names[a[at.wire]]}: ${wayText(back)}`] : []),
        ];
    return { title: wireTitle(network, at.wire), lines };
  }
  const { sent, received, degree } = nodeFigures(network, at.node);
  const group = network.nodeGroup[at.node];
  const rates =
    sent === received
      ? `${formatBandwidth(sent)} each way`
      : `sends ${formatBandwidth(sent)}, receives ${formatBandwidth(received)}`;
  return {
    title: nodeTitle(network, at.node),
    lines: [
      ...(group >= 0 ? [`in ${network.groups[group]}`] : []),
      degree === 0 ? "no links" : `${rates}, linked with ${degree} ${degree === 1 ? "node" : "nodes"}`,
    ],
  };
}
