import { InputError, inWords } from "../../base/errors.ts";
import type { RouteSet } from "../routes/routes.ts";
import { linkCount, type Topology, topologyHash } from "../topology/topology.ts";

/**
 * A communication sketch: what a designer lets the synthesis use (TACCL, section 3 and listing 1). Local ranks count the
 * NPUs of one box, 0 .. npusPerBox - 1; box b has NPUs b * npusPerBox onwards.
 */
export interface Sketch {
  /** For messages: a file's name, "automatic: one relay per NIC". */
  readonly name: string;
  readonly boxes: number;
  readonly npusPerBox: number;
  readonly intranode: IntranodeSketch;
  /** Null for one box. */
  readonly internode: InternodeSketch | null;
  /** Rotations under which routing must not change. */
  readonly symmetries: readonly SymmetryOffset[];
  /** Chunks per NPU (`input_chunkup`). */
  readonly chunksPerNpu: number;
  /** Bytes of one NPU's input (`input_size`); null where the sketch does not say. */
  readonly inputBytes: number | null;
  /** The network that it was made for, of which nodes and links may be missing, or slower, where it is used; absent: that one. */
  readonly madeFor?: Topology;
}

/** What a switch is for: as few connections as possible, as many, or no matter. */
export type HyperedgePolicy = "uc-min" | "uc-max" | "none";

export interface IntranodeSketch {
  /** "none": all links of a box; "switch": the switches below as hyperedges; "relay": only the connections below. */
  readonly strategy: "none" | "switch" | "relay";
  /** Local ranks that a switch joins. */
  readonly switches: readonly (readonly number[])[];
  /** One for each switch. */
  readonly policies: readonly HyperedgePolicy[];
  /** "relay": local sender -> local receivers. */
  readonly connections: ReadonlyMap<number, readonly number[]> | null;
}

/** All links of a box, without a policy. */
export const ALL_LINKS: IntranodeSketch = { strategy: "none", switches: [], policies: [], connections: null };

export interface InternodeSketch {
  /** Local sender -> local receivers, between every two boxes; "direct-map": each to its like. */
  readonly connections: "direct-map" | "fully-connected" | ReadonlyMap<number, readonly number[]>;
  /** Local sender -> n: what it sends takes 1/n of the bandwidth between boxes (`beta_split`); 1 where absent. */
  readonly betaSplit: ReadonlyMap<number, number>;
  /** Local rank of a chunk's owner -> local senders that may carry the chunk out of the box; null: all may. */
  readonly relays: ReadonlyMap<number, readonly number[]> | null;
  /** Chunks of a relay leave in the order of their owners (`enforce_ordering`). */
  readonly enforceOrdering: boolean;
}

/** send(c, u, v) = send(c', u', v') with x' = floor(x / period) * period + (x + offset) mod period, for NPUs and owners alike. */
export interface SymmetryOffset {
  readonly offset: number;
  readonly period: number;
}

/** The logical topology of a sketch on a network (TACCL, section 3.1): the routes that may be used, and how. */
export interface SketchNetwork {
  readonly topology: Topology;
  readonly sketch: Sketch;
  /**
   * One for each connection that the sketch allows (parallel links: one each), in ascending order of (source, target); links
   * that routes share limit them together.
   */
  readonly routes: RouteSet;
  /** [routes] Number of the switch hyperedge that the route belongs to, -1 for none; a box's hyperedges count on from the box before. */
  readonly hyperedge: Int32Array;
  /** [hyperedges] */
  readonly policies: readonly HyperedgePolicy[];
  /** [routes] 1: from box to box. */
  readonly leavesBox: Uint8Array;
  /** [npus] The NPU's number in the sketch: box * npusPerBox + local rank; its own where no NPU failed. */
  readonly place: Int32Array;
  /** [npus] */
  readonly boxOf: Int32Array;
  /** Generators of the sketch's symmetry, each checked to map routes with equal times onto each other. */
  readonly symmetries: readonly SketchSymmetry[];
}

/** A permutation of NPUs with what it does to routes. */
export interface SketchSymmetry {
  /** [npus] */
  readonly npuTo: Int32Array;
  /** [routes] */
  readonly routeTo: Int32Array;
}

/** Larger splits of a NIC are mistakes, and their shares would leave exact numbers. */
const MOST_SPLIT = 1024;
const MOST_CHUNKS = 65536;
const MOST_NPUS = 2 ** 20;

/** Returns how messages name a field of a sketch; `path` as in TACCL's JSON. */
export const sketchPlace = (sketch: Pick<Sketch, "name">, path: string): string => `${sketch.name}: ${path}`;

type Refuse = (path: string, expected: string, received: unknown) => never;

/**
 * Throws InputError, which names the field as TACCL's JSON does, where parts of a sketch contradict each other, whatever the
 * network: ranks out of a box or named twice, a policy too many, senders that have no connection, GPUs whose chunks nobody
 * may carry, rotations that do not divide the NPUs. O(size of the sketch).
 */
export function checkSketch(sketch: Sketch): void {
  const refuse: Refuse = (path, expected, received) => {
    throw new InputError(sketchPlace(sketch, path), expected, received);
  };
  const { boxes, npusPerBox } = sketch;
  checkWhole("nnodes", boxes, 1, MOST_NPUS, refuse);
  checkWhole("NPUs of a box", npusPerBox, 1, MOST_NPUS, refuse);
  checkWhole("NPUs", boxes * npusPerBox, 1, MOST_NPUS, refuse);
  checkIntranode(sketch.intranode, npusPerBox, refuse);
  if (sketch.internode !== null) {
    if (boxes === 1) refuse("internode_sketch", "nothing, as nnodes is 1,", "a sketch between nodes");
    checkInternode(sketch.internode, npusPerBox, refuse);
  } else if (boxes > 1) {
    refuse("internode_sketch", `connections between the ${boxes} nodes`, null);
  }
  checkRotations(sketch, refuse);
  checkWhole("hyperparameters.input_chunkup", sketch.chunksPerNpu, 1, MOST_CHUNKS, refuse);
  if (sketch.inputBytes !== null)
    checkWhole("hyperparameters.input_size", sketch.inputBytes, 1, Number.MAX_SAFE_INTEGER, refuse);
}

function checkWhole(path: string, value: number, low: number, high: number, refuse: Refuse): void {
  if (!Number.isSafeInteger(value) || value < low || value > high)
    refuse(path, `an integer in ${low} .. ${high}`, value);
}

/** Checks local ranks of a list: in range, each once, `least` or more of them. */
function checkRanks(
  path: string,
  ranks: readonly number[],
  npus: number,
  least: number,
  what: string,
  refuse: Refuse,
): void {
  if (ranks.length < least) refuse(path, `a list of ${what}, ${least} or more,`, ranks);
  const seen = new Set<number>();
  ranks.forEach((rank, i) => {
    checkWhole(`${path}[${i}]`, rank, 0, npus - 1, refuse);
    if (seen.has(rank)) refuse(path, `each of its ${what} once`, ranks);
    seen.add(rank);
  });
}

function checkIntranode(intranode: IntranodeSketch, npus: number, refuse: Refuse): void {
  const { strategy, switches, policies, connections } = intranode;
  const at = (key: string): string => `intranode_sketch.${key}`;
  if (!["none", "switch", "relay"].includes(strategy)) refuse(at("strategy"), '"none", "switch" or "relay"', strategy);
  if (strategy === "switch" && switches.length === 0) refuse(at("switches"), "at least one switch", switches);
  if (strategy !== "switch" && switches.length > 0)
    refuse(at("switches"), `no switches with the strategy "${strategy}"`, switches);
  if (policies.length !== switches.length)
    refuse(at("switch_hyperedge_strategy"), `one policy for each of the ${switches.length} switches`, policies);
  policies.forEach((policy, i) => {
    if (!["uc-min", "uc-max", "none"].includes(policy))
      refuse(at(`switch_hyperedge_strategy[${i}]`), '"uc-min", "uc-max" or "none"', policy);
  });
  switches.forEach((ranks, i) => {
    checkRanks(at(`switches[${i}]`), ranks, npus, 2, "GPUs", refuse);
  });
  checkSwitchPairs(switches, at("switches"), refuse);
  if (strategy === "relay" && connections === null) refuse(at("intranode_conn"), "connections", null);
  if (connections === null) return;
  if (strategy !== "relay") refuse(at("intranode_conn"), `nothing with the strategy "${strategy}"`, "connections");
  checkConnections(connections, at("intranode_conn"), npus, refuse);
  for (const [sender, receivers] of connections)
    if (receivers.includes(sender)) refuse(at(`intranode_conn.${sender}`), "other GPUs than the sender", receivers);
}

/** Two GPUs may meet in one switch of the sketch only: their connection belongs to one hyperedge. */
function checkSwitchPairs(switches: readonly (readonly number[])[], place: string, refuse: Refuse): void {
  const twice = metTwice(switches);
  if (twice === null) return;
  const { set, before, ranks } = twice;
  refuse(`${place}[${set}]`, `at most one GPU of switches[${before}]`, `GPUs ${ranks.join(" and ")}`);
}

/** Two sets of ranks that have two of them in common. */
interface MetTwice {
  readonly set: number;
  readonly before: number;
  readonly ranks: readonly [number, number];
}

/** Returns the first set that has two ranks in common with one before it; null where there is none. O(ranks in sets x sets of a rank). */
export function metTwice(sets: readonly (readonly number[])[]): MetTwice | null {
  const setsOf = new Map<number, number[]>();
  for (const [set, ranks] of sets.entries()) {
    const common = new Map<number, number>();
    for (const rank of ranks) {
      const others = setsOf.get(rank) ?? [];
      for (const before of others) {
        const known = common.get(before);
        if (known !== undefined) return { set, before, ranks: [known, rank] };
        common.set(before, rank);
      }
      setsOf.set(rank, [...others, set]);
    }
  }
  return null;
}

function checkConnections(
  connections: ReadonlyMap<number, readonly number[]>,
  place: string,
  npus: number,
  refuse: Refuse,
): void {
  if (connections.size === 0) refuse(place, "at least one sender", "none");
  for (const [sender, receivers] of connections) {
    checkWhole(`a sender of ${place}`, sender, 0, npus - 1, refuse);
    checkRanks(`${place}.${sender}`, receivers, npus, 1, "receivers", refuse);
  }
}

function checkInternode(internode: InternodeSketch, npus: number, refuse: Refuse): void {
  const { connections, betaSplit, relays } = internode;
  const at = (key: string): string => `internode_sketch.${key}`;
  if (typeof connections !== "string") checkConnections(connections, at("internode_conn"), npus, refuse);
  else if (connections !== "direct-map" && connections !== "fully-connected")
    refuse(at("internode_conn"), '"direct-map", "fully-connected" or receivers by sender', connections);
  const sends = (rank: number): boolean => typeof connections === "string" || connections.has(rank);
  for (const [sender, parts] of betaSplit) {
    checkWhole(`a sender of ${at("beta_split")}`, sender, 0, npus - 1, refuse);
    if (!sends(sender)) refuse(at("beta_split"), "senders that internode_conn connects", sender);
    checkWhole(at(`beta_split.${sender}`), parts, 1, MOST_SPLIT, refuse);
  }
  if (relays === null) return;
  const place = at("gpus_to_sender_rev_map (or chunk_to_relay_map)");
  for (const [owner, senders] of relays) {
    checkWhole(`a GPU of ${place}`, owner, 0, npus - 1, refuse);
    checkRanks(`the senders of GPU ${owner} in ${place}`, senders, npus, 1, "senders", refuse);
    for (const sender of senders) if (!sends(sender)) refuse(place, "senders that internode_conn connects", sender);
  }
  for (let owner = 0; owner < npus; owner++)
    if (!relays.has(owner)) refuse(place, "a sender for the chunks of every GPU", `none for GPU ${owner}`);
}

function checkRotations({ symmetries, boxes, npusPerBox }: Sketch, refuse: Refuse): void {
  const npus = boxes * npusPerBox;
  symmetries.forEach(({ offset, period }, i) => {
    const place = `symmetry_offsets[${i}]`;
    if (!Number.isSafeInteger(period) || period < 2 || npus % period !== 0)
      refuse(place, `a group size of 2 or more that divides the ${npus} NPUs`, [offset, period]);
    if (!Number.isSafeInteger(offset) || offset < 1 || offset >= period)
      refuse(place, `an offset in 1 .. ${period - 1}`, [offset, period]);
  });
}

/**
 * Returns whether an NPU may send chunks that another one, `owner`, had at the start to other boxes (TACCL, appendix A, chunk_to_relay_map;
 * gpus_to_sender_rev_map in its files). Only the owner's box has relays: where a chunk passes through another one, any NPU that
 * is connected may send it on.
 */
export function mayCarry(
  { sketch: { internode, npusPerBox }, place, boxOf }: Pick<SketchNetwork, "sketch" | "place" | "boxOf">,
  owner: number,
  sender: number,
): boolean {
  const relays = internode?.relays;
  if (relays === undefined || relays === null) return true;
  if (boxOf[owner] !== boxOf[sender]) return true;
  return relays.get(place[owner] % npusPerBox)?.includes(place[sender] % npusPerBox) ?? false;
}

/**
 * Returns how many boxes the groups of the NPUs make: equal, one after the other in the numbering of the NPUs, joined through
 * switches only. Null where there are no groups, or others (a dragonfly's are joined by links of single NPUs). O(NPUs + links).
 */
export function boxCount(topology: Topology): number | null {
  const { npuCount, nodeTraits, linkSource, linkTarget } = topology;
  const first = nodeTraits[0]?.group;
  let size = 0;
  while (size < npuCount && nodeTraits[size].group === first) size++;
  if (first === undefined || npuCount % size !== 0) return null;
  const seen = new Set<string>();
  for (let npu = 0; npu < npuCount; npu++) {
    const { group } = nodeTraits[npu];
    if (npu % size !== 0 ? group !== nodeTraits[npu - 1].group : group === undefined || seen.has(group)) return null;
    seen.add(group as string);
  }
  for (let link = 0; link < linkCount(topology); link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    if (from < npuCount && to < npuCount && nodeTraits[from].group !== nodeTraits[to].group) return null;
  }
  return npuCount / size;
}

/** Returns why a network has no number of boxes (`boxCount`), to be said of it: "whose boxes have 7 and 8 NPUs". O(NPUs). */
export function whyNoBoxes({ npuCount, nodeTraits }: Topology): string {
  const sizes = new Map<string, number>();
  for (const { group } of nodeTraits.slice(0, npuCount))
    if (group !== undefined) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  if (sizes.size === 0) return "whose NPUs have no groups";
  const several = [...new Set(sizes.values())].sort((a, b) => a - b);
  if (several.length === 1) return "whose groups are no boxes joined through switches";
  const last = several.pop();
  return `whose boxes have ${several.join(", ")} and ${last} NPUs`;
}

/** Where the NPUs of a network stand in a sketch. */
export interface SketchPlaces {
  /** [npus] */
  readonly place: Int32Array;
  /** Something is missing, or slower, since the sketch was made. */
  readonly isPart: boolean;
}

/**
 * Returns where each NPU stands in the sketch: by its name where the sketch was made for a network of which this is a part, else
 * by its number. Throws InputError where the sketch then has other numbers of boxes or NPUs than the network. A network whose NPUs
 * have no groups, or groups that are no boxes, is divided as the sketch says, and any network may be one box of which all links
 * are used. O(NPUs + links).
 */
export function placesOfSketch(topology: Topology, sketch: Sketch): SketchPlaces {
  const { boxes, npusPerBox, madeFor } = sketch;
  const part = madeFor === undefined ? null : placesInWhole(topology, madeFor);
  if (part !== null) return { place: part, isPart: true };
  const found = boxCount(topology);
  const whole = boxes === 1 && sketch.intranode.strategy === "none";
  if (found !== null && found !== boxes && !whole)
    throw new InputError(sketchPlace(sketch, "nnodes"), `${found}, the boxes of ${topology.name},`, boxes);
  if (boxes * npusPerBox !== topology.npuCount)
    throw new InputError(
      sketchPlace(sketch, "nnodes"),
      `nodes that make the ${topology.npuCount} NPUs of ${topology.name}`,
      inWords(`${boxes} of ${npusPerBox} GPUs`),
    );
  return { place: Int32Array.from({ length: topology.npuCount }, (_, npu) => npu), isPart: false };
}

/** Returns the numbers of a network's NPUs in another one, by their names; null where it is the same, or one is not there. */
function placesInWhole(topology: Topology, whole: Topology): Int32Array | null {
  if (topology === whole || topologyHash(topology) === topologyHash(whole)) return null;
  const numbers = new Map(whole.nodeNames.slice(0, whole.npuCount).map((name, npu) => [name, npu]));
  const place = Int32Array.from({ length: topology.npuCount }, (_, npu) => numbers.get(topology.nodeNames[npu]) ?? -1);
  return place.includes(-1) ? null : place;
}
