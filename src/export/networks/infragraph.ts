import { InputError, inWords } from "../../base/errors.ts";
import { jsonText } from "../../base/visible.ts";
import { NAMES_IN_DESCRIPTIONS } from "../../model/files/infragraph.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import { PS_PER_NS, toGBps } from "../../model/numbers/units.ts";
import { isNpu, linkCount, nodeCount, type Topology } from "../../model/topology/topology.ts";

/** What its library takes for names, but for what begins a slice or a path. */
const PLAIN_NAME = /^[A-Za-z0-9_()<>-]+$/; /** Of a port; it says no figures, so that those of the other side count. */
const PORT_LINK = "port-link";

/** A link both ways; parallel: another joins its ends already. */
interface Duplex {
  readonly a: number;
  readonly b: number;
  readonly link: number;
  readonly parallel: boolean;
}

/**
 * Yields the parts of an InfraGraph infrastructure (schema 2.4, JSON): an instance of one component for each node, an xpu or
 * a switch, and an edge for each pair of links that are each other's reverse; a port between the ends of parallel links, for
 * its graph has one edge between two components. Reading it gives the same nodes and links. Throws InputError for a link
 * without a reverse of its figures. O(nodes + links).
 */
export function* infragraphParts(topology: Topology): Generator<string> {
  const { nodeNames, linkBytesPerSecond, linkLatencyPs } = topology;
  const duplexes = duplexesOf(topology);
  const taken = new Set(nodeNames);
  const unused = (wanted: string): string => (taken.has(wanted) ? unused(`${wanted}_`) : wanted);
  const called = nodeNames.map((name, node) => (PLAIN_NAME.test(name) ? name : unused(`node${node}`)));
  const [xpu, sw, port] = [unused("npu-device"), unused("switch-device"), unused("port-device")];
  const ports = duplexes.filter(({ parallel }) => parallel);
  const device = (name: string, component: string) => ({
    name,
    components: [{ name: component, count: 1, choice: component }],
    links: [],
    edges: [],
  });
  const classes = new Map<string, { readonly name: string; readonly link: number }>();
  const classOf = duplexes.map(({ link }) => {
    const key = `${linkBytesPerSecond[link]} ${linkLatencyPs[link]}`;
    const known = classes.get(key) ?? { name: `link${classes.size}`, link };
    classes.set(key, known);
    return known.name;
  });
  const links = [...classes.values()].map(({ name, link }) => ({
    name,
    physical: {
      bandwidth: { choice: "gigabytes_per_second", gigabytes_per_second: toGBps(linkBytesPerSecond[link] as number) },
      latency: { choice: "ns", ns: (linkLatencyPs[link] as number) / PS_PER_NS },
    },
  }));
  const used = [xpu, ...(nodeCount(topology) > topology.npuCount ? [sw] : []), ...(ports.length > 0 ? [port] : [])];
  const plain = PLAIN_NAME.test(topology.name) && called.every((name, node) => name === nodeNames[node]);
  yield `{\n "name": ${jsonText(topology.name.replace(/[^A-Za-z0-9_()<>-]+/g, "-"))},\n`;
  if (!plain) yield ` "description": ${jsonText(NAMES_IN_DESCRIPTIONS + topology.name)},\n`;
  const componentOf = new Map([
    [xpu, "xpu"],
    [sw, "switch"],
    [port, "port"],
  ]);
  yield* list("devices", used, (name) => device(name, componentOf.get(name) as string));
  yield* list("links", ports.length > 0 ? [...links, { name: PORT_LINK }] : links, (link) => link);
  const portName = unused("port");
  const instances = [...nodeNames.keys()];
  yield* list("instances", ports.length > 0 ? [...instances, -1] : instances, (node) => {
    if (node < 0) return { name: portName, device: port, count: ports.length };
    const name = called[node] as string;
    const described = name === nodeNames[node] ? {} : { description: nodeNames[node] };
    return { name, ...described, device: isNpu(topology, node) ? xpu : sw, count: 1 };
  });
  const end = (node: number) => ({
    instance: `${called[node]}[0]`,
    component: isNpu(topology, node) ? "xpu[0]" : "switch[0]",
  });
  let nextPort = 0;
  const edges = duplexes.flatMap(({ a, b, parallel }, i) => {
    const scheme = "one2one";
    if (!parallel) return [{ ep1: end(a), ep2: end(b), scheme, link: classOf[i] }];
    const middle = { instance: `${portName}[${nextPort++}]`, component: "port[0]" };
    return [
      { ep1: end(a), ep2: middle, scheme, link: classOf[i] },
      { ep1: middle, ep2: end(b), scheme, link: PORT_LINK },
    ];
  });
  yield* list("edges", edges, (edge) => edge, "");
  yield "}\n";
}

function* list<T>(key: string, entries: readonly T[], value: (entry: T) => unknown, end = ","): Generator<string> {
  yield ` "${key}": [`;
  for (const [i, entry] of entries.entries()) yield `${i === 0 ? "" : ","}\n  ${jsonText(value(entry))}`;
  yield `\n ]${end}\n`;
}

/** Returns the links in pairs that are each other's reverse, by the first of each. Throws InputError where one has none. */
function duplexesOf(topology: Topology): Duplex[] {
  const { nodeNames, linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const nodes = nodeCount(topology);
  const reverse = groupedBy(linkTarget, nodes);
  const next = new Map<string, number>();
  const paired = new Uint8Array(linkCount(topology));
  const joined = new Set<number>();
  const duplexes: Duplex[] = [];
  for (let link = 0; link < paired.length; link++) {
    if (paired[link] === 1) continue;
    const [a, b] = [linkSource[link] as number, linkTarget[link] as number];
    const [bytes, latency] = [linkBytesPerSecond[link], linkLatencyPs[link]];
    const key = `${b}>${a} ${bytes} ${latency}`;
    let k = next.get(key) ?? (reverse.offset[a] as number);
    const last = reverse.offset[a + 1] as number;
    const isReverse = (other: number): boolean =>
      other !== link &&
      paired[other] === 0 &&
      linkSource[other] === b &&
      linkBytesPerSecond[other] === bytes &&
      linkLatencyPs[other] === latency;
    while (k < last && !isReverse(reverse.items[k] as number)) k++;
    if (k >= last) {
      throw new InputError(
        `an InfraGraph of ${topology.name}`,
        "links that have a reverse of the same bandwidth and latency, for its edges join both ways,",
        inWords(`${nodeNames[a]}>${nodeNames[b]} alone`),
      );
    }
    next.set(key, k + 1);
    paired[link] = 1;
    paired[reverse.items[k] as number] = 1;
    const pair = Math.min(a, b) * nodes + Math.max(a, b);
    duplexes.push({ a, b, link, parallel: joined.has(pair) });
    joined.add(pair);
  }
  return duplexes;
}
