import { InputError, shown } from "../../base/errors.ts";
import { optionName, type Place } from "../../base/option-names.ts";
import { didYouMean } from "./closest.ts";
import { inLinks, linkCount, linkNames, nodeCount, outLinks, placesOf, type Topology } from "./topology.ts";

/** Above this many links an unknown name is not compared with every link's name. */
const SUGGEST_LINKS = 200_000;

/** Names that a sentence has at most. */
const MOST_NAMES = 8;

/** Returns names as a sentence has them: the first ones of many. */
export const some = (names: readonly string[]): string =>
  names.length <= MOST_NAMES ? names.join(", ") : `${names.slice(0, MOST_NAMES - 1).join(", ")}, ...`;

/** Returns what nodes and boxes there are, in words: "NPUs of mesh:3x3 are 0 to 8". */
function nodesOf({ name, npuCount, nodeNames, nodeTraits }: Topology): string {
  const npus = nodeNames.slice(0, npuCount);
  const numbered = npuCount > 2 && npus.every((npu, i) => npu === String(i));
  const switches = nodeNames.slice(npuCount);
  const are = `NPUs of ${name} are ${numbered ? `0 to ${npuCount - 1}` : some(npus)}`;
  const boxes = [...new Set(nodeTraits.flatMap((traits) => traits?.group ?? []))];
  return [
    are,
    ...(switches.length === 0 ? [] : [`switches ${some(switches)}`]),
    ...(boxes.length === 0 ? [] : [`boxes ${some(boxes)}`]),
  ].join(", ");
}

/** Returns what to name for a NIC such as "nic5" or "mlx5_5": the link of GPU 5 that leaves its box; nothing for other texts. */
function nicHint(topology: Topology, text: string): string {
  const [, number] = /^(?:nic|hca|mlx5_|bnxt_re|irdma|efa)[-_]?(\d{0,6})$/i.exec(text) ?? [];
  if (number === undefined) return "";
  const { npuCount, nodeNames, nodeTraits, linkSource, linkTarget } = topology;
  const leaves = (link: number): boolean =>
    linkSource[link] < npuCount && nodeTraits[linkTarget[link]]?.group !== nodeTraits[linkSource[link]]?.group;
  const links = [...linkSource.keys()].filter(leaves);
  const link = links.find((one) => linkSource[one] === Number(number)) ?? links[0];
  return link === undefined
    ? ""
    : `a NIC is a link, such as ${nodeNames[linkSource[link]]}-${nodeNames[linkTarget[link]]}; `;
}

/**
 * Returns why a text such as "0-8" names no link, in words, with the links that its first end has; null where that is no node.
 * O(text + links).
 */
function whyNoLink(
  topology: Topology,
  byName: ReadonlyMap<string, number>,
  text: string,
): { readonly why: string; readonly links: string } | null {
  const [, a = "", sign = "", b = ""] = /^([^->]+)([->])(.+?)(?:#\d+)?$/s.exec(text) ?? [];
  const node = byName.get(a);
  if (node === undefined) return null;
  const { name, nodeNames, linkSource, linkTarget } = topology;
  const ends = new Set<string>();
  for (let link = 0; link < linkCount(topology); link++) {
    if (linkSource[link] === node) ends.add(nodeNames[linkTarget[link] as number] as string);
    else if (sign === "-" && linkTarget[link] === node) ends.add(nodeNames[linkSource[link] as number] as string);
  }
  const links = ends.size === 0 ? "none" : some([...ends].map((end) => a + sign + end));
  const between = sign === "-" ? `between ${a} and ${b}` : `from ${a} to ${b}`;
  const what = byName.has(b) ? `there is no link ${between}` : `${name} has no ${b}`;
  return { why: `${what}; links of ${a} are ${links}`, links };
}

/** What a name stands for: one node, those of a box, or links (`a-b` is two). */
export interface Target {
  readonly nodes: readonly number[];
  readonly links: readonly number[];
}

/**
 * Returns the nodes of a box (NodeTraits.group), NPUs and switches, with the switches that no NPU outside it has a way to but through
 * it; none where no box is called so. O(nodes + links).
 */
function boxNodes(topology: Topology, name: string): readonly number[] {
  const { nodeTraits, npuCount } = topology;
  const isIn = Uint8Array.from({ length: nodeCount(topology) }, (_, node) =>
    nodeTraits[node]?.group === name ? 1 : 0,
  );
  if (!isIn.includes(1)) return [];
  const isKept = isIn.map((inside, node) => (!inside && node < npuCount ? 1 : 0));
  const kept = Array.from(isKept.keys()).filter((node) => isKept[node]);
  const ways = [
    { ...outLinks(topology), ends: topology.linkTarget },
    { ...inLinks(topology), ends: topology.linkSource },
  ];
  for (let node = kept.pop(); node !== undefined; node = kept.pop()) {
    for (const { offset, links, ends } of ways) {
      for (let i = offset[node]; i < offset[node + 1]; i++) {
        const end = ends[links[i]];
        if (isIn[end] || isKept[end]) continue;
        isKept[end] = 1;
        kept.push(end);
      }
    }
  }
  return Array.from(isKept.keys()).filter((node) => !isKept[node]);
}

/** Returns whether boxes are called so, and no node is. */
export const isBox = ({ nodeNames, nodeTraits }: Topology, name: string): boolean =>
  !nodeNames.includes(name) && nodeTraits.some((traits) => traits?.group === name);

/**
 * Returns a function from a name to the node or links it stands for: a node's name, `a>b` (one direction), `a-b` (both),
 * `a>b#2` and `a-b#2` (second of parallel links), and a box's name where nothing else has it. Node names may hold `-`, `>` and `#` themselves: a node's whole name wins,
 * then every way to cut the text is tried against the links there are, and a name that fits several is refused.
 */
export function resolver(topology: Topology, place: Place): (name: string) => Target {
  const byName = new Map(topology.nodeNames.map((name, node) => [name, node]));
  const out = outLinks(topology);

  /** Returns the `ordinal`-th link (1, 2 ...) from a to b, or nothing. */
  const nth = (a: number, b: number, ordinal: number): number[] => {
    let left = ordinal;
    for (let i = out.offset[a]; i < out.offset[a + 1]; i++) {
      if (topology.linkTarget[out.links[i]] === b && --left === 0) return [out.links[i]];
    }
    return [];
  };

  const readings = (text: string): (readonly number[])[] => {
    const found: (readonly number[])[] = [];
    const numbered = /^(.*)#([2-9]|[1-9]\d{1,8})$/s.exec(text);
    for (const [whole, ordinal] of [
      [text, 1] as const,
      ...(numbered ? [[numbered[1], Number(numbered[2])] as const] : []),
    ]) {
      for (let cut = 1; cut < whole.length - 1; cut++) {
        if (whole[cut] !== ">" && whole[cut] !== "-") continue;
        const a = byName.get(whole.slice(0, cut));
        const b = byName.get(whole.slice(cut + 1));
        if (a === undefined || b === undefined) continue;
        const links = whole[cut] === ">" ? nth(a, b, ordinal) : [...nth(a, b, ordinal), ...nth(b, a, ordinal)];
        if (links.length > 0) found.push(links);
      }
    }
    return found;
  };

  return (raw) => {
    const text = raw.trim();
    const node = byName.get(text);
    if (node !== undefined) return { nodes: [node], links: [] };
    const found = readings(text);
    if (found.length === 1) return { nodes: [], links: found[0] };
    if (found.length > 1) throw new InputError(place, "a name that fits one link only", text);
    const box = boxNodes(topology, text);
    if (box.length > 0) return { nodes: box, links: [] };
    const named = /[->]/.test(text) && linkCount(topology) <= SUGGEST_LINKS ? linkNames(topology) : [];
    const told = whyNoLink(topology, byName, text);
    if (told !== null)
      throw new InputError(place, `an NPU, switch or link of ${topology.name}, such as ${told.links}`, text).saying(
        `${place} is ${shown(text)}, but ${told.why}`,
      );
    const bothWays = named.map((name) => name.replace(">", "-"));
    const names = text.includes(">") ? [...named, ...topology.nodeNames] : [...topology.nodeNames, ...bothWays];
    const isNumber = /^\d+$/.test(text);
    // of numbers another NPU is near, which is not what was meant
    const near = isNumber ? "" : didYouMean(text, names);
    const refusal = new InputError(place, `an NPU, switch or link of ${topology.name}${near}`, text);
    throw near === "" && !/[->]/.test(text)
      ? refusal.saying(`${place} is ${isNumber ? text : shown(text)}; ${nicHint(topology, text)}${nodesOf(topology)}`)
      : refusal;
  };
}

/** Returns the nodes and links that are left where some targets fail, ascending: what `without` numbers anew, in this order. O(nodes + links). */
export function survivorsOf(
  topology: Topology,
  targets: readonly Target[],
): { readonly nodes: readonly number[]; readonly links: readonly number[] } {
  const goneNode = new Uint8Array(nodeCount(topology));
  const goneLink = new Uint8Array(linkCount(topology));
  for (const { nodes, links } of targets) {
    for (const node of nodes) goneNode[node] = 1;
    for (const link of links) goneLink[link] = 1;
  }
  const { linkSource, linkTarget } = topology;
  const nodes: number[] = [];
  const links: number[] = [];
  for (let node = 0; node < goneNode.length; node++) if (!goneNode[node]) nodes.push(node);
  for (let link = 0; link < goneLink.length; link++) {
    if (!goneLink[link] && !goneNode[linkSource[link]] && !goneNode[linkTarget[link]]) links.push(link);
  }
  return { nodes, links };
}

/**
 * Returns the network without the NPUs, switches, links and boxes named (`7`, `sw0`, `a>b`, `a-b`, `a>b#2`, `box0`), with ` without 7,sw0`
 * after its name. The links of a removed node go too. NPUs are renumbered in order, names stay; the shape becomes empty if
 * a node goes. Throws InputError for an unknown name and when no NPU is left. O(nodes + links).
 */
export function without(topology: Topology, names: readonly string[], place: Place = optionName("without")): Topology {
  if (!Array.isArray(names)) throw new InputError(place, 'a list of names, such as ["7", "a-b"],', names);
  if (names.length === 0) return topology;
  const targets = names.map(resolver(topology, place));
  const { nodes: keptNodes, links: keptLinks } = survivorsOf(topology, targets);
  const position = new Int32Array(nodeCount(topology)).fill(-1);
  keptNodes.forEach((node, at) => {
    position[node] = at;
  });
  const npuCount = keptNodes.filter((node) => node < topology.npuCount).length;
  if (npuCount === 0)
    throw new InputError(place, "at least one NPU left", names.join(","))
      .as("out-of-range")
      .saying(`${place} leaves no NPU of ${topology.name}`);

  const { linkSource, linkTarget } = topology;
  return {
    ...topology,
    name: `${topology.name} without ${names.map((name) => name.trim()).join(",")}`,
    npuCount,
    nodeNames: keptNodes.map((node) => topology.nodeNames[node]),
    nodeTraits: keptNodes.map((node) => topology.nodeTraits[node]),
    linkSource: Int32Array.from(keptLinks, (link) => position[linkSource[link]]),
    linkTarget: Int32Array.from(keptLinks, (link) => position[linkTarget[link]]),
    linkBytesPerSecond: Float64Array.from(keptLinks, (link) => topology.linkBytesPerSecond[link]),
    linkLatencyPs: Float64Array.from(keptLinks, (link) => topology.linkLatencyPs[link]),
    ...(keptNodes.length === nodeCount(topology) ? {} : gapped(topology, keptNodes.slice(0, npuCount))),
  };
}

/** Returns what is left of a network's grid where only these NPUs stand. */
function gapped(topology: Topology, npus: readonly number[]): Pick<Topology, "shape" | "remnant"> {
  const grid = placesOf(topology);
  if (grid === null) return { shape: [] };
  return { shape: [], remnant: { shape: grid.shape, place: Int32Array.from(npus, (npu) => grid.place[npu]) } };
}

/**
 * Returns the network with the bandwidth of the links named times their factor, in (0, 1], to the nearest byte/s and at
 * least 1; the name of a node or box stands for all its links. A link named twice is degraded twice, in the order given. The name gets
 * ` degraded a-b=0.5`; latencies and shape stay. Throws InputError for an unknown name or a factor out of range.
 * @param factors pairs of name and factor: a Map, or `Object.entries` of a record
 */
export function degrade(topology: Topology, factors: Iterable<readonly [name: string, factor: number]>): Topology {
  const pairs = [...factors];
  if (pairs.length === 0) return topology;
  const resolve = resolver(topology, optionName("degrade"));
  const linkBytesPerSecond = topology.linkBytesPerSecond.slice();
  const outgoing = outLinks(topology);
  const incoming = inLinks(topology);
  for (const [name, factor] of pairs) {
    if (!(factor > 0 && factor <= 1)) {
      const place = optionName("degrade", ` ${name}`);
      const refusal = new InputError(place, "a factor above 0 and at most 1", factor);
      throw factor === 0
        ? refusal.saying(`${refusal.message} (${optionName("without")} ${name} takes it out)`)
        : refusal;
    }
    const { nodes, links } = resolve(name);
    const slow = (link: number): void => {
      linkBytesPerSecond[link] = Math.max(1, Math.round(linkBytesPerSecond[link] * factor));
    };
    const slowed = new Set(links);
    for (const node of nodes) {
      for (const { offset, links: touching } of [outgoing, incoming])
        for (const link of touching.subarray(offset[node], offset[node + 1])) slowed.add(link);
    }
    slowed.forEach(slow);
  }
  const suffix = pairs.map(([name, factor]) => `${name.trim()}=${factor}`).join(",");
  return { ...topology, name: `${topology.name} degraded ${suffix}`, linkBytesPerSecond };
}

/** Marks every node reached from `start` over `links` of each node, whose far ends are `ends`. */
function reached(start: number, nodes: number, offset: Int32Array, links: Int32Array, ends: Int32Array): Uint8Array {
  const seen = new Uint8Array(nodes);
  const queue = new Int32Array(nodes);
  let length = 1;
  queue[0] = start;
  seen[start] = 1;
  for (let head = 0; head < length; head++) {
    const node = queue[head];
    for (let i = offset[node]; i < offset[node + 1]; i++) {
      const next = ends[links[i]];
      if (seen[next]) continue;
      seen[next] = 1;
      queue[length++] = next;
    }
  }
  return seen;
}

/**
 * Returns the first pair of NPUs [from, to] (lowest from, then lowest to) without a directed path, or null when every NPU
 * reaches every other. O(nodes + links): all of NPU 0's targets are tried first; if it reaches all, an NPU that reaches it
 * reaches all as well, so the lowest that does not reach it is the answer.
 */
export function unreachablePair(topology: Topology): [from: number, to: number] | null {
  const nodes = nodeCount(topology);
  const out = outLinks(topology);
  const forward = reached(0, nodes, out.offset, out.links, topology.linkTarget);
  for (let to = 0; to < topology.npuCount; to++) if (!forward[to]) return [0, to];
  const into = inLinks(topology);
  const backward = reached(0, nodes, into.offset, into.links, topology.linkSource);
  for (let from = 0; from < topology.npuCount; from++) if (!backward[from]) return [from, 0];
  return null;
}
