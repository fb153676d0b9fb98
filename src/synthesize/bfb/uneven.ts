import { InfeasibleError } from "../../base/errors.ts";
import { type CommSchedule, commSchedule } from "../../model/comm/schedule.ts";
import { arcSources, type DirectNetwork } from "../../model/direct/digraph.ts";
import { BigFlow } from "../../model/graph/flow.ts";
import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { bigLcm, bigSum } from "../../model/numbers/integers.ts";
import { add, compare, type Rational, rational } from "../../model/numbers/rational.ts";
import { serializationPs } from "../../model/routes/routes.ts";

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
  /** Returns the sum over the steps of the longest that a node needs, with this many parts of a shard; null: cut anywhere. */
  psOf(parts: number | null): Rational;
  /** Returns the schedule with this many parts of a shard, symmetric where the graph has translations, and its psOf. */
  schedule(parts: number): { readonly schedule: CommSchedule; readonly ps: Rational };
}

/**
 * Returns the best breadth-first broadcast of shards of this many bytes on links of different latencies and bandwidths (Zhao 2026,
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

/** A link into a node, in picoseconds. */
export interface Port {
  readonly latencyPs: bigint;
  /** How long a whole shard occupies the link. */
  readonly shardPs: Rational;
}

/** Shards that may come over the same ports. */
export interface ShardClass {
  readonly shards: number;
  /** Their ports, ascending, at least one. */
  readonly ports: readonly number[];
}

/** How one step brings shards to a node in the least time. */
interface StepPlan {
  readonly ps: Rational;
  /** Per class and port of the class: parts that come over it, all shards of the class together; empty where shards are fluid. */
  readonly parts: readonly (readonly number[])[];
}

/** What can come over links in a time, in units that `demand` of a shard are counted in. */
interface Rule {
  /** Units that a port brings in the time. */
  room(port: Port, ps: Rational): bigint;
  /** Units of a shard at that time. */
  demand(ps: Rational): bigint;
  /** Least time in which these ports bring this many shards. */
  least(ports: readonly Port[], shards: number): Rational;
}

/**
 * Returns the least time U in which the shards arrive, a link that carries x > 0 of them needing latency + x * shardPs (Zhao 2026,
 * A.12), with shards cut anywhere (`parts` null) or into this many equal parts, and what each port then brings.
 *
 * U is enough just when every set J of classes has |J| <= sum over its ports of room(U), room(U) = max(0, (U - latency) / shardPs):
 * a link that is used with load x has latency + x * shardPs <= U, so x <= room(U), and one that is not used has x = 0 <= room(U);
 * the other way round, loads within the rooms that a flow finds use no link whose latency is U or more. So links that are too
 * far drop out by themselves, and the paper's second solve without them (A.5.3) is not needed: it would solve the same
 * problem. Parts are whole, so their rooms are rounded down and the flow is of integers: the optimum of A.12 with the
 * constraints of A.11. Newton on sets: a set that a maximum flow finds broken gives the next U, which rises each time.
 */
export function leastTime(classes: readonly ShardClass[], ports: readonly Port[], parts: number | null): StepPlan {
  const rule = parts === null ? fluid(ports) : whole(parts);
  const flow = new BigFlow();
  const source = flow.addNodes(classes.length + ports.length + 2);
  const sink = source + 1;
  const classArcs = classes.map((_, c) => flow.addArc(source, sink + 1 + c, 0n));
  const portArcs = ports.map((_, p) => flow.addArc(sink + 1 + classes.length + p, sink, 0n));
  const between = classes.map((shards, c) =>
    shards.ports.map((p) => ({ p, arc: flow.addArc(sink + 1 + c, sink + 1 + classes.length + p, 0n) })),
  );
  const leastOf = (set: readonly number[]): Rational => {
    const used = new Set(set.flatMap((c) => classes[c].ports));
    const shards = set.reduce((sum, c) => sum + classes[c].shards, 0);
    return rule.least(
      [...used].sort((a, b) => a - b).map((p) => ports[p]),
      shards,
    );
  };
  for (let ps = leastOf(classes.map((_, c) => c)); ; ) {
    const demands = classes.map(({ shards }) => BigInt(shards) * rule.demand(ps));
    const total = bigSum(demands);
    for (const [c, demand] of demands.entries()) flow.setCapacity(classArcs[c], demand);
    for (const [p, port] of ports.entries()) flow.setCapacity(portArcs[p], rule.room(port, ps));
    for (const arcs of between) for (const { arc } of arcs) flow.setCapacity(arc, total);
    if (flow.solve(source, sink, total) === total) {
      const shares = between.map((arcs) => arcs.map(({ arc }) => Number(flow.flow(arc))));
      return { ps, parts: parts === null ? [] : shares };
    }
    const side = flow.sourceSide(source);
    ps = leastOf([...classes.keys()].filter((c) => side[sink + 1 + c] === 1));
  }
}

/** Shards that are cut anywhere: rooms are exact, in units that make them whole. */
function fluid(all: readonly Port[]): Rule {
  const unit = all.reduce((product, { shardPs }) => bigLcm(product, shardPs.num), 1n);
  return {
    room: ({ latencyPs, shardPs }, ps) => {
      const left = ps.num - latencyPs * ps.den;
      return left <= 0n ? 0n : (left * shardPs.den * unit) / shardPs.num;
    },
    demand: (ps) => ps.den * unit,
    least: (ports, shards) => fluidTime(ports, rational(shards)),
  };
}

/** Returns the least time in which the ports bring this many shards: the nearest ones share, as many as are nearer than that. */
function fluidTime(ports: readonly Port[], shards: Rational): Rational {
  const nearest = [...ports].sort((a, b) => (a.latencyPs < b.latencyPs ? -1 : a.latencyPs > b.latencyPs ? 1 : 0));
  // U = (shards + sum of latency / shardPs) / (sum of 1 / shardPs) over the ports in use
  let weighted = shards;
  let rate = rational(0);
  let ps = rational(0);
  for (const { latencyPs, shardPs } of nearest) {
    if (rate.num > 0n && compare(rational(latencyPs), ps) >= 0) break;
    rate = rational(rate.num * shardPs.num + shardPs.den * rate.den, rate.den * shardPs.num);
    weighted = rational(
      weighted.num * shardPs.num + latencyPs * shardPs.den * weighted.den,
      weighted.den * shardPs.num,
    );
    ps = rational(weighted.num * rate.den, weighted.den * rate.num);
  }
  return ps;
}

/** Equal parts: rooms are rounded down. */
function whole(parts: number): Rule {
  const count = BigInt(parts);
  const room = ({ latencyPs, shardPs }: Port, ps: Rational): bigint => {
    const left = ps.num - latencyPs * ps.den;
    return left <= 0n ? 0n : (left * shardPs.den * count) / (ps.den * shardPs.num);
  };
  /** When the port has brought this many parts. */
  const end = ({ latencyPs, shardPs }: Port, brought: bigint): Rational =>
    rational(latencyPs * shardPs.den * count + brought * shardPs.num, shardPs.den * count);
  return {
    room,
    demand: () => count,
    least: (ports, shards) => {
      const wanted = BigInt(shards) * count;
      // rounding down loses less than a part per port, so few more ends are needed
      for (let ps = fluidTime(ports, rational(shards)); ; ) {
        const rooms = ports.map((port) => room(port, ps));
        if (bigSum(rooms) >= wanted) return ps;
        ps = ports.map((port, i) => end(port, rooms[i] + 1n)).reduce((a, b) => (compare(b, a) < 0 ? b : a));
      }
    },
  };
}
