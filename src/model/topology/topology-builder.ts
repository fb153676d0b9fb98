import { InputError, InternalError, inWords } from "../../base/errors.ts";
import type { NodeTraits, SizeRange, Topology } from "./topology.ts";

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
 * Returns a builder of the network `name`, with room for this many links before its columns must grow. NPUs keep their
 * declared order and become nodes 0 .. npuCount - 1, switches follow in declared order; links keep their declared order.
 * Repeated names, self-loops, unknown nodes and figures that are not whole numbers in range throw InputError. O(nodes +
 * links) in all.
 */
export const topologyBuilder = (name: string, room = 64): TopologyBuilder => new TopologyBuilder(name, room);

/** Collects nodes and links in any order; `build` puts the NPUs first. A builder is used once. */
export class TopologyBuilder {
  private readonly name: string;
  private readonly names: string[] = [];
  private readonly kinds: boolean[] = [];
  private readonly traits: NodeTraits[] = [];
  /** Of the nodes after the numbered ones. */
  private readonly byName = new Map<string, number>();
  private numbered = 0;
  private npuCount = 0;
  private npusFirst = true;
  private links = 0;
  private source: Int32Array;
  private target: Int32Array;
  private bandwidth: Float64Array;
  private latency: Float64Array;

  constructor(name: string, room: number) {
    this.name = name;
    this.source = new Int32Array(room);
    this.target = new Int32Array(room);
    this.bandwidth = new Float64Array(room);
    this.latency = new Float64Array(room);
  }

  /** Adds a node and returns its declared index (0, 1, 2 ... over NPUs and switches alike). */
  addNode(nodeName: string, kind: "npu" | "switch", traits: NodeTraits = NO_TRAITS): number {
    const index = this.names.length;
    if (nodeName === "") throw new InputError(`node ${index} of ${this.name}`, "a name", nodeName);
    if (this.indexOf(nodeName) !== undefined)
      throw new InputError(`node ${index} of ${this.name}`, "a name not used before", nodeName);
    if (index >= MAX_NODES) throw new InputError(this.name, "fewer nodes", index).as("out-of-range");
    this.byName.set(nodeName, index);
    this.names.push(nodeName);
    this.kinds.push(kind === "npu");
    this.traits.push(traits);
    if (kind === "npu") {
      if (this.npuCount < index) this.npusFirst = false;
      this.npuCount++;
    }
    return index;
  }

  /** Adds NPUs named "0", "1" ... before all other nodes: as `addNpu`, in a tenth of the time. */
  addNumberedNpus(count: number, traits: (npu: number) => NodeTraits = () => NO_TRAITS): void {
    if (this.names.length > 0) throw new InternalError("numbered NPUs after other nodes");
    for (let npu = 0; npu < count; npu++) {
      this.names.push(`${npu}`);
      this.kinds.push(true);
      this.traits.push(traits(npu));
    }
    this.numbered = count;
    this.npuCount = count;
  }

  /** `addNode(name, "npu", traits)`. */
  addNpu(name: string, traits?: NodeTraits): number {
    return this.addNode(name, "npu", traits);
  }

  /** `addNode(name, "switch", traits)`. */
  addSwitch(name: string, traits?: NodeTraits): number {
    return this.addNode(name, "switch", traits);
  }

  /** Adds one directed link between declared indices: whole bytes/s >= 1, whole picoseconds >= 0. Returns its index. */
  addLink(from: number, to: number, bytesPerSecond: number, latencyPs: number): number {
    this.checkEndpoint(from, "source");
    this.checkEndpoint(to, "target");
    const sound = Number.isSafeInteger(bytesPerSecond) && bytesPerSecond >= 1;
    if (from === to || !sound || !Number.isSafeInteger(latencyPs) || latencyPs < 0) {
      this.refuseLink(from, to, bytesPerSecond, latencyPs);
    }
    const { links } = this;
    if (links === this.source.length) {
      const larger = Math.max(64, 2 * links);
      this.source = grown(this.source, larger);
      this.target = grown(this.target, larger);
      this.bandwidth = grown(this.bandwidth, larger);
      this.latency = grown(this.latency, larger);
    }
    this.source[links] = from;
    this.target[links] = to;
    this.bandwidth[links] = bytesPerSecond;
    this.latency[links] = latencyPs;
    return this.links++;
  }

  private checkEndpoint(index: number, end: string): void {
    const { names, links, name } = this;
    if (Number.isInteger(index) && index >= 0 && index < names.length) return;
    throw new InputError(`${end} of link ${links} of ${name}`, `a node index below ${names.length}`, index);
  }

  private refuseLink(from: number, to: number, bytesPerSecond: number, latencyPs: number): never {
    const { names, links, name } = this;
    const place = `link ${links} (${names[from]}>${names[to]}) of ${name}`;
    if (from === to) throw new InputError(place, "two different nodes", names[from]);
    if (!Number.isSafeInteger(bytesPerSecond) || bytesPerSecond < 1) {
      throw new InputError(`bandwidth of ${place}`, "whole bytes per second, 1 or more", bytesPerSecond);
    }
    throw new InputError(`latency of ${place}`, "whole picoseconds, 0 or more", latencyPs);
  }

  /** Adds the link and then its reverse. */
  addDuplex(a: number, b: number, bytesPerSecond: number, latencyPs: number): void {
    this.addLink(a, b, bytesPerSecond, latencyPs);
    this.addLink(b, a, bytesPerSecond, latencyPs);
  }

  /** Returns the declared index of a name, or undefined. */
  indexOf(nodeName: string): number | undefined {
    return this.byName.get(nodeName) ?? numberWritten(nodeName, this.numbered);
  }

  /** Returns the network. Throws InputError when there is no NPU or the shape does not multiply to the NPUs. */
  build(
    details: {
      readonly shape?: readonly number[];
      readonly sources?: readonly string[];
      readonly measured?: SizeRange | undefined;
    } = {},
  ): Topology {
    const { name, names, npuCount, links } = this;
    const { shape = [], sources = [], measured } = details;
    if (npuCount === 0)
      throw new InputError(name, "at least one NPU", inWords(names.length === 0 ? "no nodes" : "switches only")).as(
        "out-of-range",
      );
    if (shape.length > 0 && shape.reduce((product, size) => product * size, 1) !== npuCount) {
      throw new InputError(`shape of ${name}`, `dimensions that multiply to ${npuCount} NPUs`, shape);
    }
    return {
      name,
      npuCount,
      ...(this.npusFirst ? this.asDeclared() : this.reordered()),
      linkBytesPerSecond: trimmed(this.bandwidth, links),
      linkLatencyPs: trimmed(this.latency, links),
      shape: [...shape],
      sources: [...sources],
      ...(measured === undefined ? {} : { measured }),
    };
  }

  private asDeclared() {
    const { names, traits, source, target, links } = this;
    const ends = { linkSource: trimmed(source, links), linkTarget: trimmed(target, links) };
    return { nodeNames: names, nodeTraits: traits, ...ends };
  }

  /** NPUs first. */
  private reordered() {
    const { names, traits, kinds, source, target, links } = this;
    const nodes = [...names.keys()];
    const order = [...nodes.filter((node) => kinds[node]), ...nodes.filter((node) => !kinds[node])];
    const position = new Int32Array(names.length);
    order.forEach((node, at) => {
      position[node] = at;
    });
    return {
      nodeNames: order.map((node) => names[node]),
      nodeTraits: order.map((node) => traits[node]),
      linkSource: source.subarray(0, links).map((node) => position[node]),
      linkTarget: target.subarray(0, links).map((node) => position[node]),
    };
  }
}
