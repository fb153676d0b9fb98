import type { Experiment, ProbeFlow } from "../model/probe/measurements.ts";
import { type Answer, together } from "./asking.ts";
import type { PairFigures } from "./pairs.ts";
import type { Fabric } from "./segments.ts";

/** Endpoints of a fabric by the switch they hang on, and what joins the switches. */
export interface Trunks {
  /** [groups] endpoints. */
  readonly groups: readonly (readonly number[])[];
  readonly trunks: readonly Trunk[];
  /** Trunks join switches two by two; else each has one up and one down. */
  readonly direct: boolean;
}

/** A part of the network that was found: direct links, or a switch, perhaps of several with trunks between them. */
export interface FoundFabric extends Fabric {
  readonly trunks: Trunks | null;
}

export interface Trunk {
  /** Group that it leaves; null: the middle. */
  readonly from: number | null;
  readonly to: number | null;
  readonly bytesPerSecond: number;
}

/** Of pairs between two groups, this part at least is slower than its ports in a round of all. */
const MOSTLY = 0.35;
const SLOWER = 0.88;
const REPEATS = 9;

/** Returns what the ports of a pair would let through. */
function portsRate(fabric: Fabric, { source, target }: ProbeFlow): number {
  const out = fabric.out.find(({ endpoint, others }) => endpoint === source && others.includes(target));
  const into = fabric.in.find(({ endpoint, others }) => endpoint === target && others.includes(source));
  return Math.min(out?.bytesPerSecond ?? 0, into?.bytesPerSecond ?? 0);
}

/** Returns the pairs of a fabric that were slower beside others, or alone, than their ports. */
export function slowPairs(fabric: Fabric, figures: PairFigures): ProbeFlow[] {
  const n = figures.endpoints;
  return fabric.flows.filter((flow) => {
    const p = flow.source * n + flow.target;
    return Math.min(figures.besideRate[p], figures.rate[p]) < SLOWER * portsRate(fabric, flow);
  });
}

/**
 * Returns the endpoints of a fabric in groups, between which flows are slower than their ports when all flow, and within which they
 * are not: nearest groups are merged while fewer than a third of the flows between them were slow. O(endpoints^3).
 */
export function groupsOf(fabric: Fabric, slow: readonly ProbeFlow[]): number[][] {
  const members = [...new Set([...fabric.out, ...fabric.in].map(({ endpoint }) => endpoint))].sort((a, b) => a - b);
  const isSlow = new Set(slow.map(({ source, target }) => `${source} ${target}`));
  let groups = members.map((one) => [one]);
  const share = (a: readonly number[], b: readonly number[]): number => {
    let [count, all] = [0, 0];
    for (const { source, target } of fabric.flows) {
      if (!((a.includes(source) && b.includes(target)) || (b.includes(source) && a.includes(target)))) continue;
      all++;
      if (isSlow.has(`${source} ${target}`)) count++;
    }
    return all === 0 ? 1 : count / all;
  };
  for (;;) {
    let best: readonly [number, number, number] = [MOSTLY, -1, -1];
    for (let i = 0; i < groups.length; i++)
      for (let j = i + 1; j < groups.length; j++) {
        const now = share(groups[i], groups[j]);
        if (now < best[0]) best = [now, i, j];
      }
    const [, i, j] = best;
    if (i < 0) return groups;
    groups = [...groups.filter((_, k) => k !== i && k !== j), [...groups[i], ...groups[j]]];
  }
}

/** Asks what the trunks between groups let through: all that one sends out, all that one receives, and each pair of groups. */
export function* trunkLine(
  fabric: Fabric,
  figures: PairFigures,
  groups: readonly (readonly number[])[],
): Generator<readonly Experiment[], Trunks, readonly Answer[]> {
  const joined = new Set(fabric.flows.map(({ source, target }) => source * figures.endpoints + target));
  const between = (from: readonly number[], to: readonly number[]): ProbeFlow[] =>
    from
      .map((source, i) => ({ source, target: to[i % to.length] }))
      .filter(({ source, target }) => joined.has(source * figures.endpoints + target));
  const others = (g: number): number[] => interleaved(groups.filter((_, k) => k !== g));
  const pairs = groups.flatMap((_, a) => groups.map((__, b): [number, number] => [a, b])).filter(([a, b]) => a !== b);
  const experiments = [
    ...groups.map((group, g) => between(group, others(g))),
    ...groups.map((group, g) => {
      const from = others(g);
      const count = Math.min(from.length, Math.max(group.length, 1) * 2);
      return from.slice(0, count).map((source, i) => ({ source, target: group[i % group.length] }));
    }),
    ...pairs.map(([a, b]) => {
      const count = Math.max(groups[a].length, groups[b].length);
      return Array.from({ length: count }, (_, i) => ({
        source: groups[a][i % groups[a].length],
        target: groups[b][i % groups[b].length],
      }));
    }),
  ];
  const answers = yield experiments.map((flows) => together(flows, figures.bytes, REPEATS));
  const reached = answers.map(({ experiment, taken }) => {
    const net = figures.bytes - figures.burstBytes;
    // rate while all flow: the first that ends has had its share all the time
    return experiment.flows.reduce((sum, flow, i) => {
      const latency = figures.latencyS[flow.source * figures.endpoints + flow.target];
      return sum + net / (taken[i].seconds - latency);
    }, 0);
  });
  const count = groups.length;
  const up = reached.slice(0, count);
  const down = reached.slice(count, 2 * count);
  const mesh = reached.slice(2 * count);
  const direct = count > 2 && up.every((rate, g) => rate > 1.3 * Math.max(...mesh.filter((_, p) => pairs[p][0] === g)));
  if (count === 2 || direct)
    return {
      groups,
      direct: true,
      trunks: pairs.map(([from, to], p) => ({ from, to, bytesPerSecond: mesh[p] })),
    };
  return {
    groups,
    direct: false,
    trunks: groups.flatMap((_, g) => [
      { from: g, to: null, bytesPerSecond: up[g] },
      { from: null, to: g, bytesPerSecond: down[g] },
    ]),
  };
}

/** Returns the items of lists, one of each in turn. */
function interleaved(lists: readonly (readonly number[])[]): number[] {
  const most = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: most }, (_, i) => lists.flatMap((list) => (i < list.length ? [list[i]] : []))).flat();
}
