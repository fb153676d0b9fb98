import { outLinks, type Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import type { Message } from "../../src/simulate/steps/reference.ts";

/** The small networks and message patterns of the reference cases. */

export type Network = "Ring" | "FullyConnected" | "Switch";

/** Returns the network; a ring has both directions, a switch is node n. */
export function referenceNetwork(kind: Network, npus: number, gibps: number, latencyNs: number): Topology {
  const builder = topologyBuilder(`${kind} ${npus}`);
  const link = [gibps * 2 ** 30, latencyNs * 1000] as const;
  for (let npu = 0; npu < npus; npu++) builder.addNpu(`${npu}`);
  if (kind === "Switch") builder.addSwitch("switch");
  for (let a = 0; a < npus; a++) {
    if (kind === "Ring") builder.addDuplex(a, (a + 1) % npus, ...link);
    if (kind === "Switch") builder.addDuplex(a, npus, ...link);
    for (let b = 0; b < npus && kind === "FullyConnected"; b++) if (b !== a) builder.addLink(a, b, ...link);
  }
  return builder.build();
}

/** Returns a function from pairs to links: the shorter way round a ring, upwards when both are equal. */
export function referenceRoutes(kind: Network, topology: Topology): (source: number, target: number) => number[] {
  const out = outLinks(topology);
  const npus = topology.npuCount;
  const link = (from: number, to: number): number => {
    for (let k = out.offset[from]; k < out.offset[from + 1]; k++) {
      if (topology.linkTarget[out.links[k]] === to) return out.links[k];
    }
    throw new Error(`no link ${from}>${to}`);
  };
  return (source, target) => {
    if (kind === "FullyConnected") return [link(source, target)];
    if (kind === "Switch") return [link(source, npus), link(npus, target)];
    const up = (target - source + npus) % npus;
    const step = up <= npus - up ? 1 : npus - 1;
    const way: number[] = [];
    for (let at = source; at !== target; at = (at + step) % npus) way.push(link(at, (at + step) % npus));
    return way;
  };
}

/** Returns the messages of an algorithm in the order in which they are issued. */
export function referenceMessages(algorithm: string, kind: Network, topology: Topology, bytes: number): Message[] {
  const npus = topology.npuCount;
  const way = referenceRoutes(kind, topology);
  const messages: Message[] = [];
  const issue = (source: number, target: number, size = bytes): void => {
    messages.push({ links: way(source, target), bytes: size });
  };
  /** Every NPU starts with its own part and passes on what it gets, n - 1 times. */
  const ring = (step: number, size: number): void => {
    let before: number[] = [];
    for (let round = 1; round < npus; round++) {
      const now: number[] = [];
      for (let npu = 0; npu < npus; npu++) {
        const target = (npu + step) % npus;
        now[target] = messages.length;
        const links = way(npu, target);
        messages.push(round === 1 ? { links, bytes: size } : { links, bytes: size, after: before[npu] });
      }
      before = now;
    }
  };
  const all = Array.from({ length: npus }, (_, npu) => npu);
  const others = all.slice(1);
  const patterns: Readonly<Record<string, () => void>> = {
    ring_ag: () => ring(1, bytes),
    biring_ag: () => {
      ring(1, bytes / 2);
      ring(npus - 1, bytes / 2);
    },
    direct_naive: () => {
      for (const a of all) for (const b of all) if (a !== b) issue(a, b);
    },
    direct_rot: () => {
      for (const shift of others) for (const a of all) issue(a, (a + shift) % npus);
    },
    direct_rot_srcmajor: () => {
      for (const a of all) for (const shift of others) issue(a, (a + shift) % npus);
    },
    gather0: () => {
      for (const a of others) issue(a, 0);
    },
    bcast0: () => {
      for (const b of others) issue(0, b);
    },
  };
  patterns[algorithm]();
  return messages;
}
