import { InputError } from "../errors.ts";
import type { NodeTraits, Topology } from "./topology.ts";

/** Collects nodes and links in any order; `build` puts the NPUs first. A builder is used once. */
export interface TopologyBuilder {
  /** Adds a node and returns its declared index (0, 1, 2 ... over NPUs and switches alike). */
  addNode(name: string, kind: "npu" | "switch", traits?: NodeTraits): number;
  /** `addNode(name, "npu", traits)`. */
  addNpu(name: string, traits?: NodeTraits): number;
  /** `addNode(name, "switch", traits)`. */
  addSwitch(name: string, traits?: NodeTraits): number;
  /** Adds one directed link between declared indices: whole bytes/s >= 1, whole picoseconds >= 0. Returns its index. */
  addLink(from: number, to: number, bytesPerSecond: number, latencyPs: number): number;
  /** Adds the link and then its reverse. */
  addDuplex(a: number, b: number, bytesPerSecond: number, latencyPs: number): void;
  /** Returns the declared index of a name, or undefined. */
  indexOf(name: string): number | undefined;
  /** Returns the network. Throws InputError when there is no NPU or the shape does not multiply to the NPUs. */
  build(details?: { readonly shape?: readonly number[]; readonly sources?: readonly string[] }): Topology;
}

const MAX_NODES = 2 ** 31 - 1;
const NO_TRAITS: NodeTraits = Object.freeze({});

/** Returns a copy of a column with `length` places. */
function grown<Column extends Int32Array | Float64Array>(column: Column, length: number): Column {
  const larger = new (column.constructor as new (places: number) => Column)(length);
  larger.set(column);
  return larger;
}

/**
 * Returns a builder of the network `name`. NPUs keep their declared order and become nodes 0 .. npuCount - 1, switches
 * follow in declared order; links keep their declared order. Repeated names, self-loops, unknown nodes and figures that
 * are not whole numbers in range throw InputError. O(nodes + links) in all.
 */
export function topologyBuilder(name: string): TopologyBuilder {
  const names: string[] = [];
  const kinds: boolean[] = [];
  const traitsOf: NodeTraits[] = [];
  const byName = new Map<string, number>();
  let npuCount = 0;
  let links = 0;
  let source: Int32Array = new Int32Array(64);
  let target: Int32Array = new Int32Array(64);
  let bandwidth: Float64Array = new Float64Array(64);
  let latency: Float64Array = new Float64Array(64);

  const endpoint = (index: number, end: string): number => {
    if (!Number.isInteger(index) || index < 0 || index >= names.length) {
      throw new InputError(`${end} of link ${links} of ${name}`, `a node index below ${names.length}`, index);
    }
    return index;
  };

  const builder: TopologyBuilder = {
    addNode(nodeName, kind, traits = NO_TRAITS) {
      if (nodeName === "") throw new InputError(`node ${names.length} of ${name}`, "a name", nodeName);
      if (byName.has(nodeName))
        throw new InputError(`node ${names.length} of ${name}`, "a name not used before", nodeName);
      if (names.length >= MAX_NODES) throw new InputError(name, "fewer nodes", names.length);
      const index = names.length;
      byName.set(nodeName, index);
      names.push(nodeName);
      kinds.push(kind === "npu");
      traitsOf.push(traits);
      if (kind === "npu") npuCount++;
      return index;
    },
    addNpu: (nodeName, traits) => builder.addNode(nodeName, "npu", traits),
    addSwitch: (nodeName, traits) => builder.addNode(nodeName, "switch", traits),
    addLink(from, to, bytesPerSecond, latencyPs) {
      endpoint(from, "source");
      endpoint(to, "target");
      const place = (): string => `link ${links} (${names[from]}>${names[to]}) of ${name}`;
      if (from === to) throw new InputError(place(), "two different nodes", names[from]);
      if (!Number.isSafeInteger(bytesPerSecond) || bytesPerSecond < 1) {
        throw new InputError(`bandwidth of ${place()}`, "whole bytes per second, 1 or more", bytesPerSecond);
      }
      if (!Number.isSafeInteger(latencyPs) || latencyPs < 0) {
        throw new InputError(`latency of ${place()}`, "whole picoseconds, 0 or more", latencyPs);
      }
      if (links === source.length) {
        source = grown(source, 2 * links);
        target = grown(target, 2 * links);
        bandwidth = grown(bandwidth, 2 * links);
        latency = grown(latency, 2 * links);
      }
      source[links] = from;
      target[links] = to;
      bandwidth[links] = bytesPerSecond;
      latency[links] = latencyPs;
      return links++;
    },
    addDuplex(a, b, bytesPerSecond, latencyPs) {
      builder.addLink(a, b, bytesPerSecond, latencyPs);
      builder.addLink(b, a, bytesPerSecond, latencyPs);
    },
    indexOf: (nodeName) => byName.get(nodeName),
    build({ shape = [], sources = [] } = {}) {
      if (npuCount === 0)
        throw new InputError(name, "at least one NPU", names.length === 0 ? "no nodes" : "switches only");
      if (shape.length > 0 && shape.reduce((product, size) => product * size, 1) !== npuCount) {
        throw new InputError(`shape of ${name}`, `dimensions that multiply to ${npuCount} NPUs`, shape);
      }
      const position = new Int32Array(names.length);
      const order = new Int32Array(names.length);
      let nextNpu = 0;
      let nextSwitch = npuCount;
      for (let node = 0; node < names.length; node++) {
        const at = kinds[node] ? nextNpu++ : nextSwitch++;
        position[node] = at;
        order[at] = node;
      }
      return {
        name,
        npuCount,
        nodeNames: Array.from(order, (node) => names[node]),
        nodeTraits: Array.from(order, (node) => traitsOf[node]),
        linkSource: source.subarray(0, links).map((node) => position[node]),
        linkTarget: target.subarray(0, links).map((node) => position[node]),
        linkBytesPerSecond: bandwidth.slice(0, links),
        linkLatencyPs: latency.slice(0, links),
        shape: [...shape],
        sources: [...sources],
      };
    },
  };
  return builder;
}
