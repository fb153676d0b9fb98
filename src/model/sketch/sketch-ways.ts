import { switchComponents, type WayFinder, wayFinder } from "../routes/routing.ts";
import { isNpu, linkCount, type Topology } from "../topology/topology.ts";

/** An NPU's links to, or from, a connected set of switches. */
interface Port {
  readonly component: number;
  readonly links: readonly number[];
}

/** How NPUs reach each other without passing an NPU. */
export interface SketchWays {
  /** Returns the links from one NPU straight to another, in link order. */
  direct(from: number, to: number): readonly number[];
  /** Returns what an NPU has links to, with these links. */
  directFrom(from: number): Iterable<readonly [to: number, links: readonly number[]]>;
  /**
   * Returns the shortest ways through switches: through those inside the NPUs' box (`inside`), or through those that join
   * boxes; several only where NPUs have several links to switches. Pairs of equal `key` choose alike among equal ways.
   */
  through(from: number, to: number, inside: boolean, key: number): readonly (readonly number[])[];
  /** [boxes] For each box, the sets of switches whose NPUs all belong to it, as ascending NPUs that can send or receive. */
  readonly insides: readonly (readonly (readonly number[])[])[];
  /** Returns whether a link or a set of switches leads from a box to another one. */
  joins(fromBox: number, toBox: number): boolean;
}

const NO_LINKS: readonly number[] = [];

/**
 * Returns the ways of a network divided into boxes. A connected set of switches is inside a box where all its NPUs are in it;
 * a NIC is connected to the network's switches, so it is not. O(nodes + links), and what the ways take that are asked for.
 */
export function sketchWays(topology: Topology, boxOf: Int32Array, boxes: number): SketchWays {
  const { npuCount, linkSource, linkTarget } = topology;
  const straight: Map<number, number[]>[] = Array.from({ length: npuCount }, () => new Map());
  /** Pairs of boxes, from x boxes + to, that a link joins. */
  const linked = new Set<number>();
  for (let link = 0; link < linkCount(topology); link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    if (!isNpu(topology, from) || !isNpu(topology, to)) continue;
    const links = straight[from].get(to);
    if (links === undefined) straight[from].set(to, [link]);
    else links.push(link);
    if (boxOf[from] !== boxOf[to]) linked.add(boxOf[from] * boxes + boxOf[to]);
  }

  const components = switchComponents(topology);
  const up: Port[][] = Array.from({ length: npuCount }, () => []);
  const down: Port[][] = Array.from({ length: npuCount }, () => []);
  const insides: number[][][] = Array.from({ length: boxes }, () => []);
  const finders: (WayFinder | undefined)[] = [];
  /** [boxes] sets of switches that a box sends to; [components] boxes that a set reaches. */
  const sendsTo: number[][] = Array.from({ length: boxes }, () => []);
  const reaches: ReadonlySet<number>[] = [];
  const isInside = components.map(({ senders, receivers }, component) => {
    for (const { npu, links } of senders) up[npu].push({ component, links });
    for (const { npu, links } of receivers) down[npu].push({ component, links });
    const from = new Set(senders.map(({ npu }) => boxOf[npu]));
    const to = new Set(receivers.map(({ npu }) => boxOf[npu]));
    for (const box of from) sendsTo[box].push(component);
    reaches.push(to);
    if (new Set([...from, ...to]).size !== 1) return false;
    const npus = new Set([...senders, ...receivers].map(({ npu }) => npu));
    insides[boxOf[[...npus][0] as number]].push([...npus].sort((a, b) => a - b));
    return true;
  });

  return {
    insides,
    joins: (from, to) => linked.has(from * boxes + to) || sendsTo[from].some((component) => reaches[component].has(to)),
    direct: (from, to) => straight[from].get(to) ?? NO_LINKS,
    directFrom: (from) => straight[from],
    through(from, to, inside, key) {
      let ways: number[][] = [];
      for (const { component, links: first } of up[from]) {
        if (isInside[component] !== inside) continue;
        const last = down[to].find((port) => port.component === component)?.links;
        if (last === undefined) continue;
        finders[component] ??= wayFinder(topology, components[component].switches);
        for (let k = 0; k < Math.max(first.length, last.length); k++) {
          const [a, b] = [first[k % first.length] as number, last[k % last.length] as number];
          const middle = finders[component](linkTarget[a], linkSource[b], key);
          if (middle === null) continue;
          const length = middle.length + 2;
          if (ways.length > 0 && length > ways[0].length) continue;
          if (ways.length > 0 && length < ways[0].length) ways = [];
          ways.push([a, ...middle, b]);
        }
      }
      return ways;
    },
  };
}
