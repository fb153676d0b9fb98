import { InputError } from "../../../base/errors.ts";
import { formatTime, PS_PER_US } from "../../../model/numbers/units.ts";
import type { Topology } from "../../../model/topology/topology.ts";
import { topologyBuilder } from "../../../model/topology/topology-builder.ts";
import { baseName } from "../topology-json.ts";
import type { TopologyOptions } from "../topology-options.ts";
import { adaptersInOrder, joinHosts } from "./ibnetdiscover-hosts.ts";
import { type Fabric, type FabricNode, parseFabric } from "./ibnetdiscover-text.ts";

/** Returns true where a text has a Switch or Ca line of ibnetdiscover. */
export function looksLikeIbnetdiscover(text: string): boolean {
  return /^(?:Switch|Ca)[ \t]+\d+[ \t]+"[SHR]-[0-9a-f]+"/im.test(text);
}

/**
 * Returns the InfiniBand fabric in ibnetdiscover's output. Every linked port of a host's adapter is an NPU (the GPU beside
 * it), named `host/adapter` (`host/adapter:port` where several ports of it are linked), in the group of its host; NPUs of a
 * host are joined as `joinHosts` says. Cables run both ways at their rate (4xNDR: 400 Gb/s). Aggregation nodes (SHARP) are no
 * NPUs: their switch can duplicate and reduce. Latencies are the options' (else 0.5 us a link). Assumptions, and cables that
 * only one end lists, are in `sources`. Throws InputError with the line. O(text + n log n).
 */
export function readIbnetdiscover(text: string, fileName: string, options: TopologyOptions = {}): Topology {
  const fabric = parseFabric(text, fileName, options.bandwidth?.nic);
  const latencyPs = options.latencyPs ?? PS_PER_US / 2;
  const isAggregation = ({ kind, description }: FabricNode): boolean =>
    kind === "adapter" && /aggregation node/i.test(description);
  const all = [...fabric.nodes.values()];
  const dropped = new Set(all.filter(isAggregation).map(({ id }) => id));
  const links = fabric.links.filter(({ a, b }) => !dropped.has(a) && !dropped.has(b));
  const reducing = new Set(
    fabric.links.flatMap(({ a, b }) => [...(dropped.has(a) ? [b] : []), ...(dropped.has(b) ? [a] : [])]),
  );

  const builder = topologyBuilder(baseName(fileName), 2 * links.length);
  const portsOf = new Map<string, Set<number>>();
  for (const { a, portA, b, portB } of links) {
    for (const [id, port] of [
      [a, portA],
      [b, portB],
    ] as const) {
      const ports = portsOf.get(id);
      if (ports === undefined) portsOf.set(id, new Set([port]));
      else ports.add(port);
    }
  }
  const npuOf = new Map<string, number>();
  const hosts = new Map<string, number[]>();
  const adapters = all.filter(({ id, kind }) => kind === "adapter" && !dropped.has(id));
  let unlinked = 0;
  for (const { id, name, host } of adaptersInOrder(adapters)) {
    const ports = [...(portsOf.get(id) ?? [])].sort((p, q) => p - q);
    if (ports.length === 0) unlinked++;
    for (const port of ports) {
      const npu = builder.addNpu(ports.length === 1 ? name : `${name}:${port}`, host === null ? {} : { group: host });
      npuOf.set(`${id} ${port}`, npu);
      const beside = hosts.get(host ?? "");
      if (host !== null && beside === undefined) hosts.set(host, [npu]);
      else if (host !== null) beside?.push(npu);
    }
  }
  if (npuOf.size === 0) throw new InputError(fileName, "at least one host adapter (Ca) with a link");
  const switchOf = new Map<string, number>();
  for (const node of all) {
    if (node.kind !== "switch") continue;
    const able = reducing.has(node.id) ? { multicast: true, aggregation: true } : {};
    switchOf.set(
      node.id,
      builder.addSwitch(
        switchName(node, (name) => builder.indexOf(name) !== undefined),
        able,
      ),
    );
  }
  for (const { a, portA, b, portB, bytesPerSecond } of links) {
    const [from, to] = [switchOf.get(a) ?? npuOf.get(`${a} ${portA}`), switchOf.get(b) ?? npuOf.get(`${b} ${portB}`)];
    builder.addDuplex(from as number, to as number, bytesPerSecond, latencyPs);
  }
  const joined = joinHosts(builder, hosts, options, latencyPs);
  return builder.build({
    sources: [
      `ibnetdiscover ${fileName}: an NPU for each linked port of a host adapter`,
      `latency ${formatTime(latencyPs)} a link, assumed`,
      ...joined,
      ...notesOf(fabric, dropped.size, unlinked),
    ],
  });
}

/** Returns the name in a description such as `MF0;leaf-04:MQM9701/U1`, with the id where it is taken or empty. */
function switchName({ id, description }: FabricNode, taken: (name: string) => boolean): string {
  const name = /;([^:;]+):/.exec(description)?.[1] ?? description;
  if (name === "") return id;
  return taken(name) ? `${name}@${id}` : name;
}

function notesOf({ oneSided, unequal, loops }: Fabric, aggregation: number, unlinked: number): string[] {
  const notes: [number, string][] = [
    [aggregation, "aggregation nodes (SHARP) left out; their switches can duplicate and reduce"],
    [oneSided, "cables are listed by one end only; both ways assumed"],
    [unequal, "cables have ends of different rates; the lower one taken"],
    [loops, "cables from a node to itself left out"],
    [unlinked, "adapters without a link left out"],
  ];
  return notes.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`);
}
