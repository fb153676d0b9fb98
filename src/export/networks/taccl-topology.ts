import { InputError, inWords } from "../../base/errors.ts";
import { jsonText } from "../../base/visible.ts";
import { PS_PER_US, toUs } from "../../model/numbers/units.ts";
import { linkCount, outLinks, type Topology } from "../../model/topology/topology.ts";

/** What a TACCL profile needs besides the network. */
export interface TacclProfileOptions {
  /** NPUs of each box in the order that the profile is to have; ascending without it. */
  readonly orders?: readonly (readonly number[])[];
}

const MEGABYTE = 2 ** 20;
const NPUS_OF_NDV2 = 8;
const NPUS_OF_DGX2 = 16;
/** TACCL's NDv2: pairs with two NVLinks and with one, in its numbering of the GPUs. */
const NDV2_PAIRS = [
  "0-1 0-4 1-3 2-3 2-6 4-5 5-7 6-7".split(" "),
  "0-2 0-3 1-2 1-5 3-7 4-6 4-7 5-6".split(" "),
] as const;

/**
 * Returns the text of a TACCL topology profile of a network: alpha and betas in us of 1 MB (2^20 bytes), of one box (all have to be
 * alike: the first is written), and what the boxes reach each other by. Boxes are the groups of the NPUs; without groups
 * all are one. NPUs of a box that one switch joins are written with one beta, those of an NDv2 in TACCL's order with two, others as
 * matrices of their direct links, [destination][source]. Throws InputError where a box has neither. O(nodes + links).
 */
export function topologyToTaccl(topology: Topology, { orders }: TacclProfileOptions = {}): string {
  const boxes = orders ?? boxesOf(topology);
  const [box] = boxes;
  const size = box.length;
  if (boxes.some(({ length }) => length !== size))
    throw new InputError(
      topology.name,
      "boxes of as many NPUs each",
      inWords(boxes.map(({ length }) => length).join(" and ")),
    );
  const inside = insideOf(topology, box);
  const remote = boxes.length > 1 ? remoteOf(topology, box, boxes[1]) : null;
  const alpha = toUs(inside.latencyPs);
  const invbws = (betas: readonly number[]): number[] => betas.map((beta) => rounded(alpha + beta));
  const profile = {
    name: inside.name,
    gpus_per_node: size,
    nics_per_node: remote?.nics ?? 1,
    alpha: rounded(alpha),
    ...(inside.betas === null
      ? {
          links: inside.links,
          betas: inside.matrix,
          invbws: inside.matrix.map((row) => row.map((beta) => (beta === 0 ? 0 : rounded(alpha + beta)))),
        }
      : { node_betas_list: inside.betas, node_invbws_list: invbws(inside.betas) }),
    ...(remote === null
      ? {}
      : {
          remote_alpha: rounded(remote.alpha),
          remote_beta: remote.beta,
          remote_invbw: rounded(remote.alpha + remote.beta),
        }),
  };
  return `${jsonText(profile, 2)}\n`;
}

/** Returns us with enough digits to read back a bandwidth to a millionth. */
const rounded = (us: number): number => Number(us.toPrecision(9));
const betaOf = (bytesPerSecond: number): number => rounded((MEGABYTE / bytesPerSecond) * 1e6);

function boxesOf({ npuCount, nodeTraits }: Topology): number[][] {
  const groups = new Map<string, number[]>();
  for (let npu = 0; npu < npuCount; npu++) {
    const group = nodeTraits[npu].group ?? "";
    const own = groups.get(group);
    if (own === undefined) groups.set(group, [npu]);
    else own.push(npu);
  }
  return [...groups.values()];
}

interface Inside {
  readonly name: string;
  readonly latencyPs: number;
  /** Null where there are matrices. */
  readonly betas: readonly number[] | null;
  readonly links: readonly (readonly number[])[];
  readonly matrix: readonly (readonly number[])[];
}

function insideOf(topology: Topology, box: readonly number[]): Inside {
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const n = box.length;
  const rate = box.map(() => new Float64Array(n));
  const latencies: number[] = [];
  const at = new Map(box.map((npu, i) => [npu, i]));
  for (let link = 0; link < linkCount(topology); link++) {
    const [from, to] = [at.get(linkSource[link]), at.get(linkTarget[link])];
    if (from === undefined || to === undefined) continue;
    rate[to][from] += linkBytesPerSecond[link];
    latencies.push(linkLatencyPs[link]);
  }
  const none = { links: [], matrix: [] };
  if (latencies.length === 0) {
    const hub = hubOf(topology, box);
    if (hub === null)
      throw new InputError(
        topology.name,
        "direct links within a box, or a switch that joins all its NPUs,",
        inWords("neither"),
      ).as("not-applicable");
    const name = n === NPUS_OF_DGX2 ? "DGX2_1MB" : "switch_1MB";
    return { name, latencyPs: hub.latencyPs, betas: [betaOf(hub.bytesPerSecond)], ...none };
  }
  const latencyPs = middle(latencies);
  const two = ndv2Rates(rate);
  if (two !== null) return { name: "NDv2_1MB", latencyPs, betas: two.map(betaOf), ...none };
  return {
    name: "custom_1MB",
    latencyPs,
    betas: null,
    links: rate.map((row) => Array.from(row, (value) => (value > 0 ? 1 : 0))),
    matrix: rate.map((row) => Array.from(row, (value) => (value > 0 ? betaOf(value) : 0))),
  };
}

function middle(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1];
}

/** Returns the rates of double and single NVLinks where the links are those of TACCL's NDv2, the first about twice the second. */
function ndv2Rates(rate: readonly Float64Array[]): number[] | null {
  if (rate.length !== NPUS_OF_NDV2) return null;
  const of = (pairs: readonly string[]): number[] =>
    pairs.flatMap((pair) => {
      const [a, b] = pair.split("-").map(Number);
      return [rate[a][b], rate[b][a]];
    });
  const [doubles, singles] = NDV2_PAIRS.map(of);
  const links = rate.reduce((sum, row) => sum + row.filter((value) => value > 0).length, 0);
  const all = [...doubles, ...singles];
  if (links !== all.length || all.includes(0)) return null;
  const [two, one] = [middle(doubles), middle(singles)];
  const near = (values: readonly number[], value: number): boolean =>
    values.every((x) => Math.abs(x / value - 1) < 0.1);
  return near(doubles, two) && near(singles, one) && Math.abs(two / one - 2) < 0.2 ? [two, one] : null;
}

/** Returns the switch that joins all NPUs of a box both ways at the greatest rate: the least of its ports; null where there is none. */
function hubOf(topology: Topology, box: readonly number[]): { bytesPerSecond: number; latencyPs: number } | null {
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs, npuCount, nodeNames } = topology;
  const members = new Set(box);
  let best: { bytesPerSecond: number; latencyPs: number } | null = null;
  for (let hub = npuCount; hub < nodeNames.length; hub++) {
    const ports: number[] = [];
    for (let link = 0; link < linkCount(topology); link++) {
      if (linkSource[link] === hub && members.has(linkTarget[link])) ports.push(link);
      if (linkTarget[link] === hub && members.has(linkSource[link])) ports.push(link);
    }
    if (ports.length < 2 * box.length) continue;
    const bytesPerSecond = Math.min(...ports.map((link) => linkBytesPerSecond[link]));
    if (best === null || bytesPerSecond > best.bytesPerSecond)
      best = { bytesPerSecond, latencyPs: 2 * middle(ports.map((link) => linkLatencyPs[link])) };
  }
  return best;
}

/** Returns the fastest way from a box to another: latency, the narrowest link, and how many switches of the box lead out. */
function remoteOf(
  topology: Topology,
  from: readonly number[],
  to: readonly number[],
): { alpha: number; beta: number; nics: number } {
  const { nodeTraits, npuCount, linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs, nodeNames } = topology;
  const out = outLinks(topology);
  const targets = new Set(to);
  const [group] = [nodeTraits[from[0]].group];
  // least latency from any NPU of the box over switches only
  const time = new Float64Array(nodeNames.length).fill(Number.POSITIVE_INFINITY);
  const width = new Float64Array(nodeNames.length);
  for (const npu of from) {
    time[npu] = 0;
    width[npu] = Number.POSITIVE_INFINITY;
  }
  for (let changed = true; changed; ) {
    changed = false;
    for (let node = 0; node < nodeNames.length; node++) {
      if (time[node] === Number.POSITIVE_INFINITY || (node < npuCount && time[node] > 0)) continue;
      for (const link of out.links.subarray(out.offset[node], out.offset[node + 1])) {
        const next = linkTarget[link];
        if (time[node] + linkLatencyPs[link] >= time[next]) continue;
        time[next] = time[node] + linkLatencyPs[link];
        width[next] = Math.min(width[node], linkBytesPerSecond[link]);
        changed = true;
      }
    }
  }
  const first = [...targets].sort((a, b) => time[a] - time[b] || a - b)[0];
  if (time[first] === Number.POSITIVE_INFINITY)
    throw new InputError(topology.name, "boxes that reach each other over switches", inWords("others")).as(
      "not-applicable",
    );
  const leaving = new Set<number>();
  for (let link = 0; link < linkCount(topology); link++) {
    const source = linkSource[link];
    if (nodeTraits[source].group === group && nodeTraits[linkTarget[link]].group !== group) leaving.add(source);
  }
  return {
    alpha: time[first] / PS_PER_US,
    beta: betaOf(width[first]),
    nics: Math.max(1, Math.min(from.length, leaving.size)),
  };
}
