import { draw } from "../../base/random.ts";
import type { ConcurrentProblem } from "../../engine/contract/kernels.ts";
import type { Traffic } from "../../model/collective/traffic.ts";
import { distancesFrom, graph } from "../../model/graph/graph.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { refineOnce } from "../../model/symmetry/map-finder.ts";
import { linkCount, nodeCount, outLinks, type Topology } from "../../model/topology/topology.ts";
import type { FlowRunner } from "./flow.ts";

/**
 * Problem: lengths of links that prove much of an all-to-all(v) (dual of LP A.1, Zhao 2026), in a second at any size.
 *
 * Any lengths prove something, so what finds them may guess. Two guesses make the flow small: links of one class are as
 * long, classes being (colour of tail, colour of head, bandwidth) after some rounds of colour refinement; and few sources stand
 * for all. Few rounds leave classes that are too coarse, many leave classes that few of the sources load: several are tried,
 * and more sources tell which is best. What the lengths prove is for a judge to say: exactly, over all sources.
 */

/** Rounds of refinement that are tried, the last only where the one before is better than the first. */
const DEPTHS = [1, 4, 8];
/** At least this many sources stand for all, in the flow and in what tells which lengths are best. */
const LEAST_SOURCES = 64;
/** Links that the flow of one depth may look at, and what tells how good its lengths are. */
const FLOW_WORK = 1e7;
const TELLING_WORK = 4e6;
const GAP = 0.001;
const ROUNDS = 20;
const NEAR = 0.005;
/** A rate above what is known by more than this is far from it. */
const FAR = 1.1;

/** Lengths of links, by the flow of a sample. */
export interface SampledLengths {
  /** [links] whole numbers, 0 .. 2^30. */
  readonly lengths: Int32Array;
  /** About how many bytes per second for one chunk they prove that no flow exceeds. */
  readonly about: number;
  /** How many NPUs stood for all that send. */
  readonly sources: number;
  readonly senders: number;
  /** Whether no lengths prove 0.5 % more: the flow of all that send, over links each by itself, was found as near. */
  readonly isNear: boolean;
}

/**
 * Returns lengths [links] that prove much of a traffic; null where nothing is sent. The most rounds of refinement are left out
 * where fewer are far from `known`, the rate in bytes per second for one chunk that is known not to be exceeded. Throws
 * InfeasibleError where an NPU of the sample does not reach another. O(links log nodes) times FLOW_WORK / links or 64 sources
 * a depth, whichever is more.
 */
export async function sampledLengths(
  topology: Topology,
  traffic: Traffic,
  known: number,
  runner: FlowRunner,
): Promise<SampledLengths | null> {
  const sent = sentBy(topology, traffic);
  const senders = sent.reduce((count, chunks) => count + (chunks > 0 ? 1 : 0), 0);
  if (senders === 0) return null;
  const colours = colourings(topology, traffic, sent);
  const order = bySimilarity(colours, topology.npuCount);
  const links = linkCount(topology);
  const samples = (work: number, stream: number): Sample =>
    sampleOf(order, sent, senders, Math.max(LEAST_SOURCES, Math.floor(work / links)), stream);
  const sample = samples(FLOW_WORK / ROUNDS, 1);
  const telling = samples(TELLING_WORK, 2);
  const sources = sample.sources.length;
  const maxRounds = Math.min(ROUNDS, Math.ceil(FLOW_WORK / links / sources));
  const tried = async (colour: Int32Array, isWhole = false): Promise<SampledLengths> => {
    const classes = linkClasses(topology, colour);
    const flow = await runner.concurrent({ ...problemOf(topology, traffic, classes, sample), maxRounds });
    const lengths = classes.of.map((c) => flow.length[c]);
    const about = rateAbout(topology, traffic, lengths, telling);
    return { lengths, about, sources, senders, isNear: isWhole && flow.bound <= flow.rate * (1 + NEAR) };
  };
  const depths = [...new Set(DEPTHS.map((depth) => Math.min(depth, colours.length)))].map((d) => colours[d - 1]);
  const found = await Promise.all(depths.slice(0, 2).map((colour) => tried(colour)));
  const least = Math.min(found[0].about, known * FAR);
  if (sources === senders) found.push(await tried(indicesBelow(nodeCount(topology)), true));
  else if (depths.length > 2 && found[1].about < least) found.push(await tried(depths[2]));
  return found.reduce((best, next) => (next.about < best.about || next.isNear ? next : best));
}

/** Returns [NPUs] how many chunks each sends. O(NPUs squared) where they do not send alike. */
function sentBy({ npuCount }: Topology, { each, fill }: Traffic): Float64Array {
  if (each !== null) return new Float64Array(npuCount).fill(each * (npuCount - 1));
  const row = new Float64Array(npuCount);
  return Float64Array.from(row, (_, npu) => {
    fill(npu, row);
    return row.reduce((sum, chunks) => sum + chunks, 0);
  });
}

/**
 * Returns the colours of nodes after 1, 2, ... rounds of refinement, as many as any depth needs and as split further. NPUs that
 * send or receive twice as much as others start with another colour.
 */
function colourings(topology: Topology, traffic: Traffic, sent: Float64Array): Int32Array[] {
  const { npuCount, linkSource, linkTarget } = topology;
  const colour = new Int32Array(nodeCount(topology)).fill(-1).fill(0, 0, npuCount);
  if (traffic.each === null) {
    const received = new Float64Array(npuCount);
    const row = new Float64Array(npuCount);
    for (let npu = 0; npu < npuCount; npu++) {
      traffic.fill(npu, row);
      for (let to = 0; to < npuCount; to++) received[to] += row[to];
    }
    for (let npu = 0; npu < npuCount; npu++) colour[npu] = 64 * octave(sent[npu]) + octave(received[npu]);
  }
  const kinds = bandwidthKinds(topology);
  const rounds: Int32Array[] = [];
  let count = 0;
  for (let depth = 1; depth <= DEPTHS[DEPTHS.length - 1]; depth++) {
    refineOnce(colour, linkSource, linkTarget, kinds);
    const finer = new Set(colour).size;
    if (finer <= count) break;
    count = finer;
    rounds.push(colour.slice());
  }
  return rounds;
}

/** Returns the number of doublings from 1 up to a whole number, and 1 more; 0 for 0. */
function octave(value: number): number {
  let octaves = 0;
  for (let rest = value; rest >= 1; rest /= 2) octaves++;
  return octaves;
}

/** Returns [links] a number for each bandwidth. */
function bandwidthKinds({ linkBytesPerSecond }: Topology): Int32Array {
  const known = new Map<number, number>();
  return Int32Array.from(linkBytesPerSecond, (bandwidth) => {
    const kind = known.get(bandwidth) ?? known.size;
    known.set(bandwidth, kind);
    return kind;
  });
}

/** Returns the NPUs such that those that are alike after more rounds are nearer; ties by number. */
function bySimilarity(colours: readonly Int32Array[], npuCount: number): Int32Array {
  const order = indicesBelow(npuCount);
  return order.sort((a, b) => {
    for (const colour of colours) if (colour[a] !== colour[b]) return colour[a] - colour[b];
    return a - b;
  });
}

interface Sample {
  readonly sources: Int32Array;
  /** [sources] such sources that each stands for. */
  readonly weight: Float64Array;
}

/**
 * Returns at most `count` senders such that each stands for as much of what is sent: one drawn from each of as many parts of the
 * order that send as much. All senders where they are no more.
 */
function sampleOf(order: Int32Array, sent: Float64Array, senders: number, count: number, stream: number): Sample {
  if (senders <= count) {
    const sources = indicesBelow(sent.length).filter((npu) => sent[npu] > 0);
    return { sources, weight: new Float64Array(senders).fill(1) };
  }
  const part = sent.reduce((sum, chunks) => sum + chunks, 0) / count;
  const weight = new Float64Array(sent.length);
  let passed = 0;
  let drawn = 0;
  for (const npu of order) {
    passed += sent[npu];
    for (; drawn < count && (drawn + draw(0, stream, drawn) / 2 ** 32) * part < passed; drawn++) {
      weight[npu] += part / sent[npu];
    }
  }
  const sources = indicesBelow(sent.length).filter((npu) => weight[npu] > 0);
  return { sources, weight: Float64Array.from(sources, (npu) => weight[npu]) };
}

interface LinkClasses {
  /** [links] */
  readonly of: Int32Array;
  /** [classes] bytes per second of a link. */
  readonly capacity: Float64Array;
}

/** Returns the classes of links by the colours of their ends and their bandwidths, in order of appearance. */
function linkClasses({ linkSource, linkTarget, linkBytesPerSecond }: Topology, colour: Int32Array): LinkClasses {
  const known = new Map<string, number>();
  const capacity: number[] = [];
  const of = linkSource.map((source, link) => {
    const key = `${colour[source]} ${colour[linkTarget[link]]} ${linkBytesPerSecond[link]}`;
    let number = known.get(key);
    if (number === undefined) {
      number = known.size;
      known.set(key, number);
      capacity.push(linkBytesPerSecond[link]);
    }
    return number;
  });
  return { of, capacity: Float64Array.from(capacity) };
}

/** Returns the kernel's problem of a sample of sources. */
function problemOf(
  topology: Topology,
  traffic: Traffic,
  classes: LinkClasses,
  sample: Sample,
): Omit<ConcurrentProblem, "maxRounds"> {
  const nodes = nodeCount(topology);
  const { offset, links } = outLinks(topology);
  const { sources, weight } = sample;
  let demand: Float64Array | null = null;
  if (traffic.each === null) {
    demand = new Float64Array(sources.length * nodes);
    for (const [s, npu] of sources.entries()) {
      traffic.fill(npu, demand.subarray(s * nodes, s * nodes + topology.npuCount));
    }
  }
  return {
    nodeCount: nodes,
    arcOffset: offset,
    arcTarget: links.map((link) => topology.linkTarget[link]),
    arcClass: links.map((link) => classes.of[link]),
    capacity: classes.capacity,
    sources,
    sourceWeight: weight,
    demand,
    terminals: new Uint8Array(nodes).fill(1, 0, topology.npuCount),
    gap: GAP,
    wantsFlow: 0,
  };
}

/** Returns about what lengths prove: as provenRate, over a sample. */
function rateAbout(topology: Topology, traffic: Traffic, lengths: Int32Array, { sources, weight }: Sample): number {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond } = topology;
  const network = graph(nodeCount(topology), linkSource, linkTarget, Float64Array.from(lengths));
  const row = new Float64Array(npuCount);
  let spent = 0;
  for (const [s, npu] of sources.entries()) {
    if (traffic.each === null) traffic.fill(npu, row);
    else row.fill(traffic.each);
    const far = distancesFrom(network, [npu]);
    for (let to = 0; to < npuCount; to++) if (row[to] > 0 && to !== npu) spent += weight[s] * row[to] * far[to];
  }
  let offered = 0;
  for (let link = 0; link < linkCount(topology); link++) offered += linkBytesPerSecond[link] * lengths[link];
  return offered / spent;
}
