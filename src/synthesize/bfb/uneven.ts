import { InfeasibleError } from "../../base/errors.ts";
import { commSchedule } from "../../model/comm/builder.ts";
import type { CommSchedule } from "../../model/comm/schedule.ts";
import { arcSources, type DirectNetwork } from "../../model/direct/digraph.ts";
import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { add, compare, type Rational, rational } from "../../model/numbers/rational.ts";
import { serializationPs } from "../../model/routes/routes.ts";
import { leastTime, type Port, type ShardClass } from "./least-time.ts";

/** Shards that reach a node in one step, by the ports they may come over. */
interface StepClass extends ShardClass {
  /** Owners of the shards, ascending. */
  readonly owners: readonly number[];
}

/** What the best breadth-first broadcast over unequal links brings to a node. */
interface Target {
  readonly node: number;
  /** Per step. */
  readonly steps: readonly (readonly StepClass[])[];
  readonly ports: readonly Port[];
}

/** Breadth-first broadcast on unequal links, solved up to the number of parts. */
export interface UnevenBroadcast {
  /** Returns the sum over the steps of the longest that a node needs, with so many parts of a shard; null: cut anywhere. */
  psOf(parts: number | null): Rational;
  /** Returns the schedule with so many parts of a shard, symmetric where the graph has translations, and its psOf. */
  schedule(parts: number): { readonly schedule: CommSchedule; readonly ps: Rational };
}

/**
 * Returns the best breadth-first broadcast of shards of so many bytes on links of different latencies and bandwidths (Zhao 2026,
 * A.12), each node for itself: O(nodes * arcs) sets of ports, then a small exact flow per node and step. Throws InfeasibleError
 * where a node cannot be reached.
 */
export function unevenBroadcast(network: DirectNetwork, shardBytes: Rational): UnevenBroadcast {
  const { graph } = network;
  const into = groupedBy(graph.target, graph.nodes);
  const nodes = graph.translations === null ? [...Array(graph.nodes).keys()] : [0];
  const tail = arcSources(graph);
  const shardPs = portTimes(network, shardBytes);
  const targets = nodes.map((node) => targetOf(graph.nodes, tail, into, node, shardPs));
  const plans = (parts: number | null) =>
    targets.map(({ steps, ports }) => steps.map((classes) => leastTime(classes, ports, parts)));
  const psOfPlans = (all: ReturnType<typeof plans>): Rational => {
    let sum = rational(0);
    for (let t = 0; all.some((steps) => t < steps.length); t++) {
      sum = add(
        sum,
        all.map((steps) => steps[t]?.ps ?? rational(0)).reduce((a, b) => (compare(a, b) < 0 ? b : a)),
      );
    }
    return sum;
  };

  const schedule = (parts: number) => {
    const rows: Record<"step" | "source" | "arc" | "from" | "to", number[]> = {
      step: [],
      source: [],
      arc: [],
      from: [],
      to: [],
    };
    const all = plans(parts);
    all.forEach((steps, i) => {
      const target = targets[i] as Target;
      steps.forEach((plan, t) => {
        target.steps[t].forEach(({ owners, ports }, c) => {
          eachPiece(owners.length, plan.parts[c], parts, (shard, k, from, to) => {
            rows.step.push(t);
            rows.source.push(owners[shard] as number);
            rows.arc.push(into.items[into.offset[target.node] + (ports[k] as number)]);
            rows.from.push(from);
            rows.to.push(to);
          });
        });
      });
    });
    const steps = Math.max(...targets.map((target) => target.steps.length));
    const made = commSchedule({ graph, steps, parts, symmetry: graph.translations }, rows);
    return { schedule: made, ps: psOfPlans(all) };
  };
  return { psOf: (parts) => psOfPlans(plans(parts)), schedule };
}

/** Returns the times of each arc, computed once per class of equal links. */
function portTimes({ topology, linkOfArc }: DirectNetwork, shardBytes: Rational): readonly Port[] {
  const known = new Map<string, Port>();
  return Array.from(linkOfArc, (link) => {
    const bytesPerSecond = topology.linkBytesPerSecond[link];
    const latencyPs = topology.linkLatencyPs[link];
    const key = `${bytesPerSecond} ${latencyPs}`;
    const port = known.get(key) ?? {
      latencyPs: BigInt(latencyPs),
      shardPs: serializationPs(shardBytes, bytesPerSecond),
    };
    known.set(key, port);
    return port;
  });
}

/** Returns what reaches a node in each step, and over which of its ports: those of the nodes that are a step nearer. O(arcs). */
function targetOf(nodes: number, tail: Int32Array, into: Grouped, node: number, times: readonly Port[]): Target {
  const distance = new Int32Array(nodes).fill(-1);
  const mask: bigint[] = Array(nodes).fill(0n);
  distance[node] = 0;
  let level = [node];
  const steps: StepClass[][] = [];
  for (let t = 1; level.length > 0; t++) {
    const next: number[] = [];
    for (const v of level) {
      for (let i = into.offset[v]; i < into.offset[v + 1]; i++) {
        const w = tail[into.items[i]];
        if (distance[w] < 0) {
          distance[w] = t;
          next.push(w);
        }
        if (distance[w] === t) mask[w] |= t === 1 ? 1n << BigInt(i - into.offset[v]) : (mask[v] as bigint);
      }
    }
    if (next.length > 0)
      steps.push(
        classesOf(
          next.sort((a, b) => a - b),
          mask,
        ),
      );
    level = next;
  }
  const ports = Array.from(into.items.subarray(into.offset[node], into.offset[node + 1]), (arc) => times[arc] as Port);
  const missing = distance.indexOf(-1);
  if (missing >= 0) {
    throw new InfeasibleError(`NPU ${missing} cannot reach NPU ${node}`, { from: missing, to: node });
  }
  return { node, steps, ports };
}

function classesOf(owners: readonly number[], mask: readonly bigint[]): StepClass[] {
  const byMask = new Map<bigint, number[]>();
  for (const owner of owners) {
    const same = byMask.get(mask[owner] as bigint);
    if (same === undefined) byMask.set(mask[owner] as bigint, [owner]);
    else same.push(owner);
  }
  return Array.from(byMask, ([bits, members]) => {
    const ports: number[] = [];
    for (let p = 0, rest = bits; rest > 0n; p++, rest >>= 1n) if ((rest & 1n) === 1n) ports.push(p);
    return { shards: members.length, owners: members, ports };
  });
}

/** Tells how shards in order fill ports in order, of which port k takes taken[k] parts: at most one shard per border is cut. */
function eachPiece(
  shards: number,
  taken: readonly number[],
  parts: number,
  piece: (shard: number, port: number, from: number, to: number) => void,
): void {
  let left = taken[0] as number;
  let port = 0;
  for (let shard = 0; shard < shards; shard++) {
    for (let from = 0; from < parts; ) {
      while (left === 0) left = taken[++port] as number;
      const to = Math.min(parts, from + left);
      piece(shard, port, from, to);
      left -= to - from;
      from = to;
    }
  }
}
