import { InfeasibleError, InputError, inWords } from "../../base/errors.ts";
import { optionName, type Place } from "../../base/option-names.ts";
import type { Engine } from "../../engine/types.ts";
import { type Construction, constructionText, graphOf } from "../../model/direct/construction.ts";
import { diameter, networkOf } from "../../model/direct/digraph.ts";
import {
  bidirectionalMooreSteps,
  greatestAllToAllRate,
  leastBandwidthTime,
  mooreSteps,
} from "../../model/direct/facts.ts";
import {
  add,
  compare,
  divide,
  format,
  multiply,
  parseRational,
  type Rational,
  rational,
  toNumber,
} from "../../model/numbers/rational.ts";
import { PS_PER_SECOND, PS_PER_US, parseBandwidth, parseSize, parseTime } from "../../model/numbers/units.ts";
import { constructionTopology } from "../../model/presets/construction.ts";
import { isSimulated } from "../../report/chain.ts";
import {
  bySimplicity,
  type Candidate,
  has,
  isBandwidthOptimal,
  meanDistances,
  TRAITS,
} from "../../synthesize/finder/candidates.ts";
import type { Evaluations } from "../../synthesize/finder/evaluated.ts";
import { type TopologyFinder, topologyFinder } from "../../synthesize/finder/finder.ts";
import { allToAllOn } from "../all-to-all.ts";
import { synthesize } from "../synthesize.ts";
import { runnerFor } from "../threads/runner.ts";

/** What networks are compared for. */
export const SEARCHED = ["allreduce", "allgather", "reducescatter", "alltoall"] as const;
export type Searched = (typeof SEARCHED)[number];

export interface SearchOptions {
  readonly nodes: number;
  readonly degree: number;
  /** Only networks whose links come in opposite pairs. */
  readonly bidirectional?: boolean;
  /** Latency of a comm step; 10 us. */
  readonly alphaPs?: number;
  /** B: of all links that leave a node; 100 Gb/s. */
  readonly bytesPerSecond?: number;
  /** How often which size is communicated: the best network takes the least time on average; 1 MiB. */
  readonly sizes?: readonly { readonly sizeBytes: number; readonly weight: number }[];
  /** All-reduce. */
  readonly collective?: Searched;
  /** Makes graph and all-gather of every row, judges them and compares T_L and T_B with what was predicted. */
  readonly verify?: boolean;
  /** All-to-all of every row, and the network that is best for it, also for other collectives. */
  readonly alltoall?: boolean;
}

/** What a search assumes where it is not said: the figures of table 3.4. */
const DEFAULTS = {
  bidirectional: false,
  alphaPs: parseTime("10us"),
  bytesPerSecond: parseBandwidth("100Gbps"),
  sizes: [{ sizeBytes: parseSize("1MiB"), weight: 1 }],
  collective: "allreduce",
  verify: false,
  alltoall: false,
} as const;

type Asked = Required<SearchOptions>;

export interface SearchHooks {
  /** What searches before this one evaluated; what this one evaluates is added. */
  readonly known?: Evaluations;
  readonly signal?: AbortSignal;
  readonly onProgress?: (what: string, done?: number, total?: number) => void;
}

/** A network that no other found one beats in T_L and T_B, or the best for an all-to-all. */
export interface SearchRow {
  readonly topology: string;
  /** No other found one beats it in T_L and T_B. */
  readonly efficient: boolean;
  /** T_L / alpha of an all-gather. */
  readonly steps: number;
  /** T_B in M / B, buffer over the bandwidth of a node: "1045/1024". */
  readonly bandwidth: string;
  readonly bandwidthValue: number;
  readonly diameter: number;
  /** As few steps as the Moore bound, that of undirected graphs where links come in opposite pairs. */
  readonly mooreOptimal: boolean;
  readonly bandwidthOptimal: boolean;
  readonly bidirectional: boolean;
  /** T_L + T_B once, and twice, on average over the sizes. */
  readonly allgatherUs: number;
  readonly allreduceUs: number;
  readonly alltoall: RowFlow | null;
  readonly alltoallUs: number | null;
  readonly verdict: RowVerdict | null;
}

/** What no network of that size can beat. */
export type SearchBound = Pick<SearchRow, "steps" | "bandwidth" | "bandwidthValue" | "allgatherUs" | "allreduceUs"> & {
  readonly alltoallRate: string;
  readonly alltoallRateValue: number;
  readonly alltoallUs: number;
};

/** What `search --json` prints: schema banyan/search@1. */
export interface SearchReport {
  readonly schema: "banyan/search@1";
  readonly nodes: number;
  readonly degree: number;
  readonly bidirectional: boolean;
  readonly alphaUs: number;
  /** B: of all links that leave a node together. */
  readonly bytesPerSecond: number;
  readonly sizes: Asked["sizes"];
  readonly collective: Searched;
  /** By ascending T_L. */
  readonly rows: readonly SearchRow[];
  readonly bound: SearchBound;
  /** The row with the least time for the collective. */
  readonly best: number;
  /** Of an all-reduce, all-gather or reduce-scatter: a network of fewer ports that takes less, with the same bandwidth per node. */
  readonly fewerPorts?: FewerPorts;
}

export interface FewerPorts {
  readonly degree: number;
  readonly topology: string;
  /** What it takes for the collective. */
  readonly us: number;
}

/** Most nodes and ports of a network that is searched for. */
export const MOST_NODES = 10_000;
export const MOST_DEGREE = 128;

/**
 * Returns the Pareto-efficient networks of this many nodes and ports (Zhao 2026, 3.5.4). Throws InputError where there can be none,
 * and where the library has none, with the nearest size that has.
 */
export async function search(
  engine: Engine,
  options: SearchOptions,
  { known = new Map(), signal, onProgress = () => undefined }: SearchHooks = {},
): Promise<SearchReport> {
  const asked = checked({ ...DEFAULTS, ...options });
  const { nodes, degree, bidirectional, alphaPs, bytesPerSecond, sizes, collective } = asked;
  const { runner, dispose } = runnerFor(engine, 0, signal, () => undefined);
  try {
    onProgress("searching");
    const finder = topologyFinder(runner.balance, { bidirectional, known });
    const found = await finder.frontier(nodes, degree);
    if (found.length === 0) throw await nothingFound(finder, asked);
    const networks = await networksFor(engine, finder, found, asked, signal, onProgress);
    const rows: SearchRow[] = [];
    for (const [i, { candidate, flow }] of networks.entries()) {
      if (asked.verify) onProgress(constructionText(candidate.construction), i, networks.length);
      const verdict = asked.verify ? await rowVerdict(engine, candidate, asked, signal) : null;
      rows.push(rowOf(candidate, found.includes(candidate), asked, flow, verdict));
    }
    const alphaUs = alphaPs / PS_PER_US;
    const time = (row: SearchRow): number => timeOf(row, collective);
    const best = rows.reduce((least, row, i) => (time(row) < time(rows[least] as SearchRow) ? i : least), 0);
    const about = { nodes, degree, bidirectional, alphaUs, bytesPerSecond, sizes, collective };
    const fewer = await betterWithFewer(finder, asked, time(rows[best] as SearchRow));
    const fewerPorts = fewer === null ? {} : { fewerPorts: fewer };
    return { schema: "banyan/search@1", ...about, rows, bound: boundRow(asked), best, ...fewerPorts };
  } finally {
    dispose();
  }
}

/** Times that differ by less are equal. */
const ROUNDING = 1e-9;

/**
 * Returns the best network of fewer ports where that takes less than `us`; the library does not have the best network of every
 * size and degree. A node's bandwidth is the same, so the links of fewer ports are faster. Degrees whose bound is no less are not
 * searched: it rises as ports become fewer. Null for an all-to-all, whose networks need a flow each.
 */
async function betterWithFewer(finder: TopologyFinder, asked: Asked, us: number): Promise<FewerPorts | null> {
  const { nodes, collective } = asked;
  if (collective === "alltoall") return null;
  const time = (steps: number, bandwidth: Rational): number =>
    timeOf({ ...timesUs(steps, bandwidth, asked), alltoallUs: null }, collective);
  let best: FewerPorts | null = null;
  for (let degree = asked.degree - 1; degree >= 1; degree--) {
    const least = (best?.us ?? us) * (1 - ROUNDING);
    const fewest = fewestSteps({ ...asked, degree });
    if (!Number.isFinite(fewest) || time(fewest, leastBandwidthTime(nodes)) >= least) break;
    for (const { steps, bandwidth, construction } of await finder.frontier(nodes, degree)) {
      const own = time(steps, bandwidth);
      if (own < (best?.us ?? us) * (1 - ROUNDING)) best = { degree, topology: constructionText(construction), us: own };
    }
  }
  return best;
}

/** Returns the efficient networks by ascending T_L, with their flows, and the best for an all-to-all, where those are asked for. */
async function networksFor(
  engine: Engine,
  finder: TopologyFinder,
  found: readonly Candidate[],
  { nodes, degree, alltoall, collective }: Asked,
  signal: AbortSignal | undefined,
  onProgress: NonNullable<SearchHooks["onProgress"]>,
): Promise<{ readonly candidate: Candidate; readonly flow: RowFlow | null }[]> {
  if (!alltoall && collective !== "alltoall") return found.map((candidate) => ({ candidate, flow: null }));
  const flowing: Flowing[] = [];
  for (const candidate of found) {
    onProgress(constructionText(candidate.construction), flowing.length, found.length);
    flowing.push({ candidate, flow: await rowFlow(engine, candidate.construction, signal) });
  }
  const others = await finder.others(nodes, degree);
  const names = new Set(found.map(({ construction }) => constructionText(construction)));
  const further = others.filter(({ construction }) => !names.has(constructionText(construction)));
  const least = Math.max(...flowing.map(({ flow }) => flow.rateValue));
  const best = await bestForAllToAll(engine, further, least, signal, onProgress);
  if (best !== null) flowing.push(best);
  return flowing.sort((a, b) => a.candidate.steps - b.candidate.steps);
}

/** Returns the time of a row for a collective, in us. */
export function timeOf(
  row: Pick<SearchRow, "allgatherUs" | "allreduceUs" | "alltoallUs">,
  collective: Searched,
): number {
  if (collective === "alltoall") return row.alltoallUs ?? Number.POSITIVE_INFINITY;
  return collective === "allreduce" ? row.allreduceUs : row.allgatherUs;
}

function checked(options: Asked): Asked {
  const { nodes, degree, bidirectional, sizes, alphaPs, bytesPerSecond, collective } = options;
  if (!Number.isSafeInteger(nodes) || nodes < 2 || nodes > MOST_NODES)
    throw new InputError(optionName("nodes"), `a whole number, 2 to ${MOST_NODES}`, nodes).as("out-of-range");
  if (!Number.isSafeInteger(degree) || degree < 1 || degree > MOST_DEGREE)
    throw new InputError(optionName("degree"), `a whole number, 1 to ${MOST_DEGREE}`, degree).as("out-of-range");
  if (bidirectional && nodes % 2 === 1 && degree % 2 === 1) {
    const even = `an even degree for an odd number of nodes, whose links come in pairs (${degree + 1}, or ${nodes + 1} nodes)`;
    throw new InputError(optionName("degree"), even, degree);
  }
  if (!SEARCHED.includes(collective))
    throw new InputError(optionName("collective"), `one of ${SEARCHED.join(", ")}`, collective).as("unknown-name");
  if (sizes.length === 0) throw new InputError(optionName("sizeBytes"), "at least one size");
  wholeAbove(0, optionName("alphaPs", ", in picoseconds"), alphaPs);
  wholeAbove(1, optionName("bytesPerSecond", ", in bytes per second"), bytesPerSecond);
  for (const { sizeBytes, weight } of sizes) {
    wholeAbove(1, optionName("sizeBytes", ", in bytes"), sizeBytes);
    wholeAbove(1, `a weight of ${optionName("sizeBytes")}`, weight);
  }
  return options;
}

function wholeAbove(least: number, place: Place, value: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw new InputError(place, `a whole number, ${least} or more`, value).as("out-of-range");
}

/** Returns the error for a size at which the library has nothing, naming the nearest that has. */
async function nothingFound(finder: TopologyFinder, { nodes, degree, bidirectional }: Asked): Promise<Error> {
  for (let away = 1; away <= 4; away++) {
    for (const [n, d] of [
      [nodes, degree + away],
      [nodes, degree - away],
      [nodes + away, degree],
      [nodes - away, degree],
    ]) {
      if (n < 2 || d < 1 || (await finder.frontier(n, d)).length === 0) continue;
      const near = `a size and degree that a known network has (the nearest is ${optionName("nodes")} ${n} ${optionName("degree")} ${d})`;
      return new InputError(
        `${optionName("nodes")} and ${optionName("degree")}`,
        near,
        inWords(`${nodes} and ${degree}${bidirectional ? " both ways" : ""}`),
      );
    }
  }
  return new InfeasibleError(`no known network has ${nodes} nodes of degree ${degree}`, { nodes, degree });
}

function rowOf(
  candidate: Candidate,
  efficient: boolean,
  options: Asked,
  alltoall: RowFlow | null,
  verdict: RowVerdict | null,
): SearchRow {
  const { steps, bandwidth } = candidate;
  return {
    topology: constructionText(candidate.construction),
    efficient,
    steps,
    bandwidth: format(bandwidth),
    bandwidthValue: toNumber(bandwidth),
    diameter: diameterOf(candidate),
    mooreOptimal: steps === fewestSteps(options),
    bandwidthOptimal: isBandwidthOptimal(candidate),
    bidirectional: has(candidate, TRAITS.bidirectional),
    ...timesUs(steps, bandwidth, options),
    alltoall,
    alltoallUs: alltoall === null ? null : alltoallUs(parseRational(alltoall.rate) as Rational, options),
    verdict,
  };
}

/** The theoretical bound: each figure for itself, whatever network has it. */
function boundRow(options: Asked): SearchBound {
  const { nodes, degree } = options;
  const steps = fewestSteps(options);
  const bandwidth = leastBandwidthTime(nodes);
  const rate = greatestAllToAllRate(nodes, degree);
  return {
    steps,
    bandwidth: format(bandwidth),
    bandwidthValue: toNumber(bandwidth),
    ...timesUs(steps, bandwidth, options),
    alltoallRate: format(rate),
    alltoallRateValue: toNumber(rate),
    alltoallUs: alltoallUs(rate, options),
  };
}

const fewestSteps = ({ nodes, degree, bidirectional }: Asked): number =>
  (bidirectional ? bidirectionalMooreSteps : mooreSteps)(nodes, degree);

/** Returns M / B in us, on average over the sizes. */
function bufferUs({ sizes, bytesPerSecond }: Asked): Rational {
  const weight = sizes.reduce((sum, size) => sum + BigInt(size.weight), 0n);
  const bytes = sizes.reduce((sum, size) => sum + BigInt(size.weight) * BigInt(size.sizeBytes), 0n);
  return rational(bytes * BigInt(PS_PER_SECOND), weight * BigInt(bytesPerSecond) * BigInt(PS_PER_US));
}

function timesUs(steps: number, bandwidth: Rational, options: Asked) {
  const latency = rational(BigInt(steps) * BigInt(options.alphaPs), BigInt(PS_PER_US));
  const once = add(latency, multiply(bandwidth, bufferUs(options)));
  return { allgatherUs: toNumber(once), allreduceUs: toNumber(add(once, once)) };
}

/** Returns (M / N) / (f * B / d) in us. */
const alltoallUs = (rate: Rational, options: Asked): number =>
  toNumber(divide(multiply(bufferUs(options), rational(options.degree, options.nodes)), rate));

/** What is computed for single networks of a search: diameter, all-to-all, and whether the prediction holds. */

/** Breadth-first searches from all nodes may look at this many arcs. */
const MOST_VISITS = 2e8;

/** Returns the diameter of a candidate's graph; of very large ones what theorems say, which is never less. */
function diameterOf(candidate: Candidate): number {
  const { nodes, degree, construction } = candidate;
  const searched = construction.kind === "family" ? 1 : nodes;
  return searched * nodes * degree <= MOST_VISITS ? diameter(graphOf(construction)) : candidate.diameter;
}

/** The all-to-all on links of bandwidth 1: f of (A.1), and what no flow beats. */
interface RowFlow {
  readonly rate: string;
  readonly rateValue: number;
  readonly bound: string;
  readonly boundValue: number;
}

/** Links of the network that flows are found on. */
const LINK_BYTES_PER_SECOND = 1_000_000;
/** Flows are proved to be as near to the optimum as this; those that only tell which network to look at closely, this. */
const GAP = 0.01;
const COARSE_GAP = 0.05;

/** Returns the rate of an all-to-all on a construction, at most `gap` below the proved bound where the flow gets there. */
export async function rowFlow(
  engine: Engine,
  construction: Construction,
  signal: AbortSignal | undefined,
  gap = GAP,
): Promise<RowFlow> {
  const link = { bytesPerSecond: LINK_BYTES_PER_SECOND, latencyPs: 0 };
  const graph = graphOf(construction);
  const about = { shape: graph.translations ?? [] };
  const { topology } = networkOf(graph, constructionText(construction), link, about);
  const { rate, bound } = await allToAllOn(engine, topology, {
    gap,
    ...(signal === undefined ? {} : { signal }),
  });
  const ofOne = (value: Rational): Rational => divide(value, rational(LINK_BYTES_PER_SECOND));
  return {
    rate: format(ofOne(rate)),
    rateValue: toNumber(ofOne(rate)),
    bound: format(ofOne(bound)),
    boundValue: toNumber(ofOne(bound)),
  };
}

/** Flows that only tell which network to look at closely visit this many arcs a round in all, and are this many at most. */
const MOST_FLOW_VISITS = 5e7;
const MOST_COARSE = 12;
const MOST_FINE = 3;

interface Flowing {
  readonly candidate: Candidate;
  readonly flow: RowFlow;
}

/**
 * Returns the network with the greatest rate of an all-to-all among candidates; null where none is above `least`. Those with the
 * least distances get a rough flow, the best of these a good one; none that its bound, or that of its distances, rules out.
 */
export async function bestForAllToAll(
  engine: Engine,
  candidates: readonly Candidate[],
  least: number,
  signal: AbortSignal | undefined,
  onProgress: (what: string) => void,
): Promise<Flowing | null> {
  const ranked = candidates
    .map((candidate) => ({
      candidate,
      most: candidate.degree / (meanDistances(candidate) ?? Number.POSITIVE_INFINITY),
    }))
    .sort((a, b) => b.most - a.most || bySimplicity(a.candidate, b.candidate));
  const solved = async (candidate: Candidate, gap: number): Promise<Flowing> => {
    onProgress(constructionText(candidate.construction));
    return { candidate, flow: await rowFlow(engine, candidate.construction, signal, gap) };
  };
  let reached = least;
  const rough: Flowing[] = [];
  for (const { candidate, most } of ranked) {
    const { nodes, degree } = candidate;
    const enough = Math.min(MOST_COARSE, Math.max(1, Math.floor(MOST_FLOW_VISITS / (nodes * nodes * degree))));
    if (most <= reached || rough.length === enough) break;
    rough.push(await solved(candidate, COARSE_GAP));
    reached = Math.max(reached, (rough.at(-1) as Flowing).flow.rateValue);
  }
  rough.sort((a, b) => b.flow.rateValue - a.flow.rateValue || bySimplicity(a.candidate, b.candidate));
  let best: Flowing | null = null;
  for (const { candidate, flow } of rough.slice(0, MOST_FINE)) {
    if (flow.boundValue <= (best?.flow.rateValue ?? least)) continue;
    const fine = await solved(candidate, GAP);
    if (fine.flow.rateValue > (best?.flow.rateValue ?? least)) best = fine;
  }
  return best;
}

/** What came of making and judging a row's all-gather. */
interface RowVerdict {
  /** as predicted, or with less T_L or T_B; worse; or no schedule was made. */
  readonly outcome: "as predicted" | "better" | "worse" | "not made";
  readonly steps: number | null;
  readonly bandwidth: string | null;
  /** Why no schedule was made. */
  readonly reason: string | null;
  /**
   * What the schedule that `synth` makes of the collective takes in the simulation, on average over the sizes; null for an
   * all-to-all, and where it is too large to be simulated unless asked for.
   */
  readonly simulatedUs: number | null;
}

/**
 * Returns how the all-gather of a row, made and judged like any other schedule, compares with its prediction: that of the
 * expansions, or, where it takes more, that of BFB on the same graph, by which some line graphs were evaluated. A schedule that
 * is wrong is an error of the pipeline.
 */
async function rowVerdict(
  engine: Engine,
  candidate: Candidate,
  asked: Asked,
  signal: AbortSignal | undefined,
): Promise<RowVerdict> {
  try {
    const expanded = await verdictOf(engine, candidate, "expansion", signal);
    const verdict = expanded.outcome === "worse" ? await verdictOf(engine, candidate, "bfb", signal) : expanded;
    return { ...verdict, simulatedUs: await simulatedUs(engine, candidate, asked, signal) };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { outcome: "not made", steps: null, bandwidth: null, reason: error.message, simulatedUs: null };
  }
}

/** Returns what the schedule of a row's collective takes in the simulation, on average over the sizes. */
async function simulatedUs(
  engine: Engine,
  { construction, degree }: Candidate,
  { collective, sizes, bytesPerSecond, alphaPs }: Asked,
  signal: AbortSignal | undefined,
): Promise<number | null> {
  if (collective === "alltoall") return null;
  const link = `${Math.floor(bytesPerSecond / degree)}B/s,${alphaPs}ps`;
  const topology = constructionTopology(`${constructionText(construction)}@${link}`);
  let [sum, weights] = [0, 0];
  for (const { sizeBytes, weight } of sizes) {
    const { report } = await synthesize(engine, topology, {
      collective,
      sizeBytes,
      algorithm: "expand",
      ...(signal === undefined ? {} : { signal }),
    });
    if (!isSimulated(report)) return null;
    sum += weight * report.time.us;
    weights += weight;
  }
  return sum / weights;
}

async function verdictOf(
  engine: Engine,
  { construction, steps, bandwidth }: Candidate,
  policy: "expansion" | "bfb",
  signal: AbortSignal | undefined,
): Promise<Omit<RowVerdict, "simulatedUs">> {
  const { report } = await synthesize(engine, constructionTopology(constructionText(construction)), {
    collective: "allgather",
    algorithm: "expand",
    policy,
    simulate: false,
    ...(signal === undefined ? {} : { signal }),
  });
  const { direct } = report;
  if (direct === undefined) return { outcome: "not made", steps: null, bandwidth: null, reason: "no comm steps" };
  const made = parseRational(direct.bandwidth) as Rational;
  const order = compare(made, bandwidth);
  const worse = direct.steps > steps || order > 0;
  const outcome = worse ? "worse" : direct.steps < steps || order < 0 ? "better" : "as predicted";
  return { outcome, steps: direct.steps, bandwidth: direct.bandwidth, reason: null };
}
