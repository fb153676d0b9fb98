import { InputError, InternalError } from "../../base/errors.ts";
import type { NodeTraits, Topology } from "./topology.ts";

/** Collects nodes and links in any order; `build` puts the NPUs first. A builder is used once. */
export interface TopologyBuilder {
  /** Adds a node and returns its declared index (0, 1, 2 ... over NPUs and switches alike). */
  addNode(name: string, kind: "npu" | "switch", traits?: NodeTraits): number;
  /** Adds NPUs named "0", "1" ... before all other nodes: as `addNpu`, in a tenth of the time. */
  addNumberedNpus(count: number, traits?: (npu: number) => NodeTraits): void;
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

/** Returns the first `length` places; the column itself where it has no more. */
const trimmed = <Column extends Int32Array | Float64Array>(column: Column, length: number): Column =>
  column.length === length ? column : (column.slice(0, length) as Column);

/** Returns the number below `count` that the text writes in the usual way, or undefined. */
function numberWritten(text: string, count: number): number | undefined {
  const value = Number(text);
  return Number.isInteger(value) && value >= 0 && value < count && `${value}` === text ? value : undefined;
}

/**
 * Returns a builder of the network `name`, with room for so many links before its columns must grow. NPUs keep their
 * declared order and become nodes 0 .. npuCount - 1, switches follow in declared order; links keep their declared order.
 * Repeated names, self-loops, unknown nodes and figures that are not whole numbers in range throw InputError. O(nodes +
 * links) in all.
 */
export function topologyBuilder(name: string, room = 64): TopologyBuilder {
  const names: string[] = [];
  const kinds: boolean[] = [];
  const traitsOf: NodeTraits[] = [];
  /** Of the nodes after the numbered ones. */
  const byName = new Map<string, number>();
  let numbered = 0;
  let npuCount = 0;
  let npusFirst = true;
  let links = 0;
  let source: Int32Array = new Int32Array(room);
  let target: Int32Array = new Int32Array(room);
  let bandwidth: Float64Array = new Float64Array(room);
  let latency: Float64Array = new Float64Array(room);

  const indexOf = (nodeName: string): number | undefined => byName.get(nodeName) ?? numberWritten(nodeName, numbered);
  const checkEndpoint = (index: number, end: string): void => {
    if (!Number.isInteger(index) || index < 0 || index >= names.length) {
      throw new InputError(`${end} of link ${links} of ${name}`, `a node index below ${names.length}`, index);
    }
  };
  const refuseLink = (from: number, to: number, bytesPerSecond: number, latencyPs: number): never => {
    const place = `link ${links} (${names[from]}>${names[to]}) of ${name}`;
    if (from === to) throw new InputError(place, "two different nodes", names[from]);
    if (!Number.isSafeInteger(bytesPerSecond) || bytesPerSecond < 1) {
      throw new InputError(`bandwidth of ${place}`, "whole bytes per second, 1 or more", bytesPerSecond);
    }
    throw new InputError(`latency of ${place}`, "whole picoseconds, 0 or more", latencyPs);
  };

  const builder: TopologyBuilder = {
    addNode(nodeName, kind, traits = NO_TRAITS) {
      if (nodeName === "") throw new InputError(`node ${names.length} of ${name}`, "a name", nodeName);
      if (indexOf(nodeName) !== undefined)
        throw new InputError(`node ${names.length} of ${name}`, "a name not used before", nodeName);
      if (names.length >= MAX_NODES) throw new InputError(name, "fewer nodes", names.length);
      const index = names.length;
      byName.set(nodeName, index);
      names.push(nodeName);
      kinds.push(kind === "npu");
      traitsOf.push(traits);
      if (kind === "npu") {
        if (npuCount < index) npusFirst = false;
        npuCount++;
      }
      return index;
    },
    addNumberedNpus(count, traits = () => NO_TRAITS) {
      if (names.length > 0) throw new InternalError("numbered NPUs after other nodes");
      for (let npu = 0; npu < count; npu++) {
        names.push(`${npu}`);
        kinds.push(true);
        traitsOf.push(traits(npu));
      }
      numbered = count;
      npuCount = count;
    },
    addNpu: (nodeName, traits) => builder.addNode(nodeName, "npu", traits),
    addSwitch: (nodeName, traits) => builder.addNode(nodeName, "switch", traits),
    addLink(from, to, bytesPerSecond, latencyPs) {
      checkEndpoint(from, "source");
      checkEndpoint(to, "target");
      const sound = Number.isSafeInteger(bytesPerSecond) && bytesPerSecond >= 1;
      if (from === to || !sound || !Number.isSafeInteger(latencyPs) || latencyPs < 0) {
        refuseLink(from, to, bytesPerSecond, latencyPs);
      }
      if (links === source.length) {
        const larger = Math.max(64, 2 * links);
        source = grown(source, larger);
        target = grown(target, larger);
        bandwidth = grown(bandwidth, larger);
        latency = grown(latency, larger);
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
    indexOf,
    build({ shape = [], sources = [] } = {}) {
      if (npuCount === 0)
        throw new InputError(name, "at least one NPU", names.length === 0 ? "no nodes" : "switches only");
      if (shape.length > 0 && shape.reduce((product, size) => product * size, 1) !== npuCount) {
        throw new InputError(`shape of ${name}`, `dimensions that multiply to ${npuCount} NPUs`, shape);
      }
      const whole = { shape: [...shape], sources: [...sources] };
      const figures = {
        linkBytesPerSecond: trimmed(bandwidth, links),
        linkLatencyPs: trimmed(latency, links),
      };
      if (npusFirst) {
        const ends = { linkSource: trimmed(source, links), linkTarget: trimmed(target, links) };
        return { name, npuCount, nodeNames: names, nodeTraits: traitsOf, ...ends, ...figures, ...whole };
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
        ...figures,
        ...whole,
      };
    },
  };
  return builder;
}
