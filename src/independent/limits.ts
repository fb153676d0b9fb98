import { countOf, has, membersOf, type Network, type Places, type Task } from "./collectives.ts";
import { dimensionsLimit, type Phases } from "./phases.ts";
import { dataOf, type Trees } from "./trees.ts";
import {
  type Fraction,
  fractionAt,
  greater,
  heap,
  type Json,
  listAt,
  lowest,
  NotHere,
  objectAt,
  SECOND,
  textAt,
  textOf,
  wholesAt,
  wrong,
} from "./values.ts";

/** Witnesses of limits that ask nothing of chunks: "Claims" of FORMATS.md. */

/** Whose limit it is. */
export interface Ground {
  readonly net: Network;
  readonly tasks: readonly Task[];
  /** Switches that could copy or sum are taken to forward only. */
  readonly forwarding: boolean;
  readonly trees: Trees | null;
  readonly phases: Phases | null;
}

const ZERO: Fraction = [0n, 1n];

/** Throws Wrong for a witness that says what nobody checks. */
export function saysOnly(witness: Json, keys: readonly string[]): void {
  for (const key of Object.keys(witness))
    if (key !== "kind" && !keys.includes(key)) wrong(`its witness says ${JSON.stringify(key)}`);
}

/** What a witness says of the border of a set. */
export const BORDER = ["nodes", "direction", "nodeCount", "npusInside", "bytesPerSecond"];

/** Returns [nodes] 1 inside of the set that a witness lists by name, and the bandwidth over its border. */
export function borderOf(net: Network, witness: Json): { readonly inside: Uint8Array; readonly rate: bigint } {
  const inside = new Uint8Array(net.names.length);
  const list = listAt(witness["nodes"], "witness.nodes");
  for (const name of list) {
    const node = nodeOf(net, name);
    if (inside[node] === 1) wrong(`node ${JSON.stringify(name)} is listed twice`);
    inside[node] = 1;
  }
  const npus = inside.subarray(0, net.npus).reduce((sum, one) => sum + one, 0);
  if (witness["nodeCount"] !== list.length || witness["npusInside"] !== npus)
    wrong("the set does not have so many nodes and NPUs");
  const enters = directionOf(witness) === "in" ? 1 : 0;
  let rate = 0n;
  net.from.forEach((from, link) => {
    if (inside[from] !== enters && inside[net.to[link]] === enters) rate += BigInt(net.rate[link]);
  });
  return witness["bytesPerSecond"] === `${rate}` ? { inside, rate } : wrong(`its border has ${rate} bytes/s`);
}

export const nodeOf = (net: Network, name: unknown): number =>
  net.number.get(textAt(name, "a witness's node")) ?? wrong(`no node is called ${JSON.stringify(name)}`);

/** Returns whether some NPU of a chunk's passes a test. O(members of sets) once, then O(1). */
export function someOf({ one, sets, of }: Places, test: (npu: number) => boolean): (chunk: number) => boolean {
  if (one !== null) return (chunk) => test(one[chunk]);
  const within = sets.map(({ members }) => members.some(test));
  return (chunk) => within[of(chunk)] as boolean;
}

/** Returns how many chunks must come into the set, or leave it. O(chunks + NPUs), and the sets of tables. */
export function crossing({ pre, post, chunks, sums }: Task, inside: Uint8Array, direction: string): number {
  const side = direction === "in" ? 1 : 0;
  const to = someOf(post, (npu) => inside[npu] === side);
  const from = someOf(pre, (npu) => (inside[npu] === side) !== sums);
  let count = 0;
  for (let c = 0; c < chunks; c++) if (to(c) && from(c) === sums) count++;
  return count;
}

export const directionOf = ({ direction }: Json): "in" | "out" =>
  direction === "in" || direction === "out" ? direction : wrong("its direction is neither in nor out");

/** Returns the time that so many bytes take at so many a second. */
const timeOf = ([num, den]: Fraction, rate: bigint): Fraction =>
  rate === 0n ? wrong("its links have no bandwidth") : [num * SECOND, den * rate];

const bytesOf = ({ bytes: [num, den] }: Task, chunks: number | bigint): Fraction => [num * BigInt(chunks), den];

function cut({ net, tasks }: Ground, witness: Json): Fraction {
  saysOnly(witness, [...BORDER, "chunks", "bytes"]);
  const { inside, rate } = borderOf(net, witness);
  const direction = directionOf(witness);
  const chunks = tasks.map((task) => crossing(task, inside, direction));
  const sum = chunks.reduce((a, b) => a + b, 0);
  const bytes = tasks.map((task, t) => bytesOf(task, chunks[t]));
  const all = bytes.reduce(([a, b], [c, d]): Fraction => lowest([a * d + c * b, b * d]), ZERO);
  // of several collectives all that cross, or one of them
  const cases = [{ count: sum, bytes: all }, ...bytes.map((own, t) => ({ count: chunks[t], bytes: own }))];
  const told = witness["bytes"] === undefined ? null : textOf(fractionAt(witness["bytes"], "witness.bytes"));
  const meant = cases.find(({ count, bytes: own }) =>
    told === null ? count === witness["chunks"] : textOf(own) === told,
  );
  return timeOf((meant ?? wrong(`${sum} chunks of ${textOf(all)} bytes must cross it`)).bytes, rate);
}

/** Returns the least sum of weights from nodes to all nodes. */
export function distances(
  count: number,
  from: readonly number[],
  arcs: Arcs,
  weight: (arc: number) => number,
): Float64Array {
  const far = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  const queue = heap();
  for (const node of from) {
    far[node] = 0;
    queue.add(0, node);
  }
  while (queue.size() > 0) {
    const [key, node] = [queue.key(), queue.take()];
    if (key > far[node]) continue;
    for (const arc of arcs.leaving[node] ?? []) {
      const [next, to] = [key + weight(arc), arcs.to[arc] as number];
      if (next >= far[to]) continue;
      far[to] = next;
      queue.add(next, to);
    }
  }
  return far;
}

export interface Arcs {
  readonly to: ArrayLike<number>;
  readonly leaving: readonly (readonly number[])[];
}

export function arcsOf(count: number, from: ArrayLike<number>, to: ArrayLike<number>): Arcs {
  const leaving: number[][] = Array.from({ length: count }, () => []);
  for (let arc = 0; arc < from.length; arc++) leaving[from[arc] as number].push(arc);
  return { to, leaving };
}

/** Returns the greatest distance that some chunk must travel from one NPU to another; -1 where there is none. `to`: distances of all nodes to the latter. */
export function journey(tasks: readonly Task[], from: number, to: number, far: Float64Array): number {
  let most = -1;
  for (const { chunks, pre, post, sums } of tasks) {
    const known = new Map<number, number>();
    const nearest = (c: number): number => {
      const set = pre.one === null ? pre.of(c) : -1 - pre.one[c];
      const own = known.get(set) ?? membersOf(pre, c).reduce((least, npu) => Math.min(least, far[npu]), Infinity);
      known.set(set, own);
      return own;
    };
    for (let c = 0; c < chunks; c++)
      if (has(pre, c, from) && has(post, c, to)) most = Math.max(most, sums ? far[from] : nearest(c));
  }
  return most < Infinity ? most : -1;
}

function latency({ net, tasks }: Ground, witness: Json): Fraction {
  saysOnly(witness, ["from", "to"]);
  const [from, to] = [nodeOf(net, witness["from"]), nodeOf(net, witness["to"])];
  const back = distances(
    net.names.length,
    [to],
    arcsOf(net.names.length, net.to, net.from),
    (link) => net.latency[link],
  );
  const far = journey(tasks, from, to, back);
  return far < 0 ? wrong("nothing travels from the one NPU to the other") : [BigInt(far), 1n];
}

/** Returns how often chunks are sent at least, all together: to each NPU that lacks one; twice where it is summed for all. */
export function deliveries({ kind, size, chunks }: Task): number {
  const times = ["allgather", "broadcast", "reducescatter", "reduce"].includes(kind) ? 1 : kind === "allreduce" ? 2 : 0;
  return times * (size - 1) * chunks;
}

/** Everything that is sent leaves an NPU and comes into one. */
function work({ net, tasks, forwarding, phases }: Ground, witness: Json): Fraction {
  saysOnly(witness, ["dimensions"]);
  if (witness["dimensions"] !== undefined) {
    if (phases === null) return wrong("it is of phases");
    const set = wholesAt(witness["dimensions"], "witness.dimensions", phases.dimensions.length - 1);
    return new Set(set).size === set.length && set.length > 0
      ? dimensionsLimit(phases, set)
      : wrong("it lists no dimensions");
  }
  if (!forwarding && [...net.copies, ...net.sums].includes(true))
    wrong("switches copy or sum, so chunks need not be sent so often");
  const total = (ends: readonly number[]): bigint =>
    ends.reduce((sum, node, link) => (node < net.npus ? sum + BigInt(net.rate[link]) : sum), 0n);
  const [out, into] = [total(net.from), total(net.to)];
  const each = tasks.map((task) => timeOf(bytesOf(task, deliveries(task)), out < into ? out : into));
  return each.reduce(greater, ZERO);
}

/** What is sent from one NPU to another takes as much length of links as they are apart. */
function lengths({ net, tasks }: Ground, witness: Json): Fraction {
  saysOnly(witness, ["lengths"]);
  const length = wholesAt(witness["lengths"], "witness.lengths", 2 ** 30, net.from.length);
  const arcs = arcsOf(net.names.length, net.from, net.to);
  const offered = length.reduce((sum, own, link) => sum + BigInt(own) * BigInt(net.rate[link]), 0n);
  const each = tasks.map((task) => {
    const sent = new Map<number, Map<number, number>>();
    for (let c = 0; c < task.chunks; c++) {
      const [from] = membersOf(task.pre, c) as [number];
      const [to] = membersOf(task.post, c) as [number];
      if (task.sums || countOf(task.pre, c) + countOf(task.post, c) > 2) return ZERO;
      const own = sent.get(from) ?? new Map<number, number>();
      sent.set(from, own.set(to, (own.get(to) ?? 0) + 1));
    }
    let spent = 0n;
    for (const [from, targets] of sent) {
      const far = distances(net.names.length, [from], arcs, (link) => length[link]);
      for (const [to, count] of targets) {
        if (far[to] === Infinity) wrong("a chunk cannot reach its NPU");
        spent += BigInt(count) * BigInt(far[to]);
      }
    }
    return timeOf(bytesOf(task, spent), offered);
  });
  return each.reduce(greater, ZERO);
}

/** Weighted sets of an all-reduce, and potentials: the time of the data at the rate that they prove. */
function dual({ net, trees }: Ground, witness: Json): Fraction {
  saysOnly(witness, ["cuts", "potentials"]);
  if (trees === null || trees.task.kind !== "allreduce") return wrong("it is for trees of an all-reduce");
  const weight = { out: net.from.map(() => ZERO), in: net.from.map(() => ZERO) };
  const covered = net.names.map(() => ZERO);
  const sum = (list: Fraction[], i: number, [num, den]: Fraction): void => {
    const [a, b] = list[i];
    list[i] = lowest([a * den + num * b, b * den]);
  };
  for (const entry of listAt(witness["cuts"], "witness.cuts")) {
    const one = objectAt(entry, "witness.cuts");
    const own = fractionAt(one["weight"], "witness.cuts.weight", 0n);
    const inside = new Set(listAt(one["nodes"], "witness.cuts.nodes").map((name) => nodeOf(net, name)));
    if (trees.task.groups[0]?.members.every((npu) => inside.has(npu))) wrong("a set lacks no member");
    for (const node of inside) sum(covered, node, own);
    const direction = directionOf(one);
    net.from.forEach((from, link) => {
      const leaves = inside.has(from);
      if (leaves !== inside.has(net.to[link]) && leaves === (direction === "out")) sum(weight[direction], link, own);
    });
  }
  for (const npu of trees.task.groups[0]?.members ?? []) {
    const [num, den] = covered[npu];
    if (num < den) wrong(`the sets around ${net.names[npu]} weigh less than 1`);
  }
  for (const entry of listAt(witness["potentials"] ?? [], "witness.potentials")) {
    const one = objectAt(entry, "witness.potentials");
    const node = nodeOf(net, one["node"]);
    if (trees.inNetwork || trees.task.groups[0]?.rank.has(node))
      wrong("a potential is at a node that does not only forward");
    for (const way of ["out", "in"] as const) {
      const [num, den] = fractionAt(one[way], "witness.potentials", null);
      net.from.forEach((from, link) => {
        if (net.to[link] === node) sum(weight[way], link, [num, den]);
        if (from === node) sum(weight[way], link, [-num, den]);
      });
    }
  }
  const rate = weight.out.reduce((total: Fraction, out, link) => {
    const [num, den] = greater(greater(out, weight.in[link]), ZERO);
    return lowest([total[0] * den + num * BigInt(net.rate[link]) * total[1], total[1] * den]);
  }, ZERO);
  const [num, den] = dataOf(trees);
  return rate[0] === 0n ? wrong("it has no bandwidth") : [num * SECOND * rate[1], den * rate[0]];
}

/** Returns the time that a witness proves for whatever it is of. Throws Wrong, NotHere. */
export function provenPs(ground: Ground, kind: string, witness: Json): Fraction {
  switch (kind) {
    case "nothing":
      return ZERO;
    case "cut":
      return cut(ground, witness);
    case "latency":
      return latency(ground, witness);
    case "work":
      return witness["lengths"] === undefined ? work(ground, witness) : lengths(ground, witness);
    case "lengths":
      return lengths(ground, witness);
    case "dual":
      return dual(ground, witness);
    case "program":
      throw new NotHere("an integer program without a solution, which only its search shows");
    default:
      return wrong(`no witness is called ${JSON.stringify(kind)}`);
  }
}
