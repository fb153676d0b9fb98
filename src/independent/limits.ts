import { countOf, has, membersOf, type Network, type Places, type Task } from "./collectives.ts";
import { dimensionsLimit, type Phases } from "./phases.ts";
import { dataOf, type Trees } from "./trees.ts";
import {
  compare,
  type Fraction,
  fractionAt,
  greater,
  heap,
  type Json,
  listAt,
  lowest,
  NotHere,
  objectAt,
  plus,
  SECOND,
  textAt,
  textOf,
  wholeAt,
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
    wrong("the set does not have that many nodes and NPUs");
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

/** Returns the time that this many bytes take at this many a second. */
const timeOf = ([num, den]: Fraction, rate: bigint): Fraction =>
  rate === 0n ? wrong("its links have no bandwidth") : [num * SECOND, den * rate];

const bytesOf = ({ bytes: [num, den] }: Task, chunks: number | bigint): Fraction => [num * BigInt(chunks), den];

function cut({ net, tasks }: Ground, witness: Json): Fraction {
  saysOnly(witness, [...BORDER, "bytes", "leastLagPs"]);
  const { inside, rate } = borderOf(net, witness);
  const direction = directionOf(witness);
  const each = tasks.map((task) => bytesOf(task, crossing(task, inside, direction)));
  // of several collectives all that cross, or one of them
  const all = each.reduce(([a, b], [c, d]): Fraction => lowest([a * d + c * b, b * d]), ZERO);
  const must = fractionAt(witness["bytes"], "witness.bytes");
  if (![all, ...each].some((bytes) => compare(bytes, must) === 0)) wrong(`${textOf(all)} bytes must cross it`);
  const least = witness["leastLagPs"];
  if (least === undefined) return timeOf(must, rate);
  const enters = direction === "in" ? 1 : 0;
  const part = Array.from(inside, (own, node) => (node < net.npus ? own : -1));
  const border = net.from.flatMap((from, link): Bordering[] =>
    inside[from] !== enters && inside[net.to[link]] === enters ? [[link, 1 - enters]] : [],
  );
  return laggingPs(net, part, border, "out", must, least);
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

/** What an NPU sends over some of the dimensions of phases. */
function dimensions({ phases }: Ground, witness: Json): Fraction {
  saysOnly(witness, ["dimensions"]);
  if (phases === null) return wrong("it is of phases");
  const set = wholesAt(witness["dimensions"], "witness.dimensions", phases.dimensions.length - 1);
  return new Set(set).size === set.length && set.length > 0
    ? dimensionsLimit(phases, set)
    : wrong("it lists no dimensions");
}

/** A link of a border, and the part on the side that is counted. */
type Bordering = readonly [link: number, own: number];

/** Returns, for each node in no part, the two nearest parts over links from `from` to `to`: [2 nodes] parts, and latencies. */
function nearestParts(net: Network, part: ArrayLike<number>, from: readonly number[], to: readonly number[]) {
  const nodes = net.names.length;
  const arcs = arcsOf(nodes, from, to);
  const own = new Float64Array(2 * nodes).fill(-1);
  const ps = new Float64Array(2 * nodes).fill(Number.POSITIVE_INFINITY);
  const queue = heap();
  const leave = (node: number, which: number, after: number): void => {
    for (const link of arcs.leaving[node])
      if (part[to[link]] < 0) queue.add(after + net.latency[link], which * nodes + to[link]);
  };
  for (let node = 0; node < nodes; node++) {
    if (part[node] < 0) continue;
    own[2 * node] = part[node];
    ps[2 * node] = 0;
    leave(node, part[node], 0);
  }
  while (queue.size() > 0) {
    const after = queue.key();
    const id = queue.take();
    const [node, which] = [id % nodes, Math.floor(id / nodes)];
    const at = 2 * node + (own[2 * node] < 0 ? 0 : 1);
    if (own[at] >= 0 || own[2 * node] === which) continue;
    own[at] = which;
    ps[at] = after;
    leave(node, which, after);
  }
  return {
    // where two others are nearer, the nearer of what is known stands for it: that is less
    toOwn: (node: number, which: number): number => (own[2 * node] === which ? ps[2 * node] : ps[2 * node + 1]),
    toOther: (node: number, which: number): number => (own[2 * node] === which ? ps[2 * node + 1] : ps[2 * node]),
  };
}

/** Returns when this many bytes can have crossed a border: nothing does before, or after, what it takes from part to part. */
function laggingPs(
  net: Network,
  part: ArrayLike<number>,
  border: readonly Bordering[],
  side: "in" | "out",
  [num, den]: Fraction,
  least: unknown,
): Fraction {
  const before = nearestParts(net, part, net.from, net.to);
  const behind = nearestParts(net, part, net.to, net.from);
  const sums = new Map<number, bigint>();
  for (const [link, own] of border) {
    const [tail, head] = [net.from[link], net.to[link]];
    const ways =
      side === "out"
        ? before.toOwn(tail, own) + behind.toOther(head, own)
        : before.toOther(tail, own) + behind.toOwn(head, own);
    const lag = net.latency[link] + ways;
    if (lag < Infinity) sums.set(lag, (sums.get(lag) ?? 0n) + BigInt(net.rate[link]));
  }
  const steps = [...sums].sort(([a], [b]) => a - b);
  if (steps.length === 0 || steps[0][0] !== least) wrong("the least latency of what crosses is another");
  let [rate, late] = [0n, 0n];
  for (const [i, [lag, own]] of steps.entries()) {
    rate += own;
    late += own * BigInt(lag);
    const time: Fraction = [num * SECOND + late * den, den * rate];
    if (i + 1 === steps.length || compare(time, [BigInt(steps[i + 1][0]), 1n]) <= 0) return time;
  }
  return ZERO;
}

/** Which sides of parts are counted: sums outside of them merge departures, copies deliveries. */
const SIDES: Readonly<Record<string, readonly [times: number, ...sides: string[]]>> = {
  allreduce: [2, "out", "in"],
  allgather: [1, "out"],
  broadcast: [1, "out"],
  reducescatter: [1, "in"],
  reduce: [1, "in"],
};

/** Returns [nodes] the part of each, -1 for none, as runs say. */
function partsOf(net: Network, witness: Json, parts: number): Int32Array {
  const part = new Int32Array(net.names.length);
  let next = 0;
  for (const run of listAt(witness["nodes"], "witness.nodes")) {
    const [first, length, step] = listAt(run, "witness.nodes") as readonly unknown[];
    const least = first === -1 ? -1 : wholeAt(first, "a part", 0, parts - 1);
    const by = wholeAt(step, "a step", 0, least < 0 ? 0 : 1);
    const count = wholeAt(length, "the nodes of a run", 1, part.length - next);
    for (let i = 0; i < count; i++) part[next++] = wholeAt(least + i * by + 1, "a part", 0, parts) - 1;
  }
  return next === part.length ? part : wrong("its runs are not all nodes");
}

/** Parts with NPUs, all of them: what goes from one to another leaves the one, and comes into the other. */
function partition({ net, tasks, forwarding }: Ground, witness: Json): Fraction {
  saysOnly(witness, ["side", "parts", "nodes", "along", "bytes", "bytesPerSecond", "leastLagPs"]);
  const parts = wholeAt(witness["parts"], "witness.parts", 2, net.npus);
  const side = directionOf({ direction: witness["side"] });
  const part = partsOf(net, witness, parts);
  const [copies, sums] = forwarding ? [[], []] : [net.copies, net.sums];
  if (part.subarray(0, net.npus).includes(-1) || new Set(part.subarray(0, net.npus)).size !== parts)
    wrong("its parts are not of all NPUs");
  const isAble = (node: number): boolean => copies[node] === true || sums[node] === true;
  for (let node = net.npus; node < part.length; node++) {
    if (part[node] >= 0 && !isAble(node)) wrong(`${net.names[node]} only forwards, and is in a part`);
    if (part[node] < 0 && (side === "out" ? copies : sums)[node] === true) wrong(`${net.names[node]} is in no part`);
  }
  const along = new Map<number, number[]>();
  for (const run of listAt(witness["along"], "witness.along")) {
    const [own, first, count] = wholesAt(run, "witness.along", part.length, 3);
    for (let node = first; node < first + count; node++) {
      const isFit = own < parts && node >= net.npus && node < part.length && !isAble(node);
      if (!isFit || along.get(node)?.includes(own)) wrong("what stands with a part is no switch that only forwards");
      along.set(node, [...(along.get(node) ?? []), own]);
    }
  }
  const [near, far] = side === "out" ? [net.from, net.to] : [net.to, net.from];
  const border: Bordering[] = [];
  near.forEach((node, link) => {
    for (const own of part[node] >= 0 ? [part[node]] : (along.get(node) ?? []))
      if (part[far[link]] !== own && !along.get(far[link])?.includes(own)) border.push([link, own]);
  });
  const rate = border.reduce((sum, [link]) => sum + BigInt(net.rate[link]), 0n);
  if (witness["bytesPerSecond"] !== `${rate}`) wrong(`its borders have ${rate} bytes/s`);
  const bytes = fractionAt(witness["bytes"], "witness.bytes");
  const isSent = tasks.some((task) => {
    const [times, ...sides] = SIDES[task.kind] ?? [0];
    const apart = task.groups.reduce((sum, { members }) => sum + new Set(members.map((npu) => part[npu])).size - 1, 0);
    const all = bytesOf(task, (BigInt(times * apart) * BigInt(task.chunks)) / BigInt(task.groups.length));
    return sides.includes(side) && compare(bytes, all) <= 0;
  });
  if (!isSent) wrong("less must go from part to part");
  const least = witness["leastLagPs"];
  return least === undefined ? timeOf(bytes, rate) : laggingPs(net, part, border, side, bytes, least);
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

/** Weighted sets of trees, and potentials: the time of the data at the rate that they prove. */
function dual({ net, trees }: Ground, witness: Json): Fraction {
  saysOnly(witness, ["cuts", "potentials"]);
  if (trees === null) return wrong("it is for trees");
  const { task } = trees;
  const isAllReduce = task.kind === "allreduce";
  let shares = ZERO;
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
    if (!isAllReduce) {
      if ((direction === "in") !== task.sums) wrong("its sets are of the other direction");
      const places = task.sums ? task.post : task.pre;
      let count = 0n;
      for (let chunk = 0; chunk < task.chunks; chunk++) {
        const [holder, ...others] = membersOf(places, chunk);
        if (others.length === 0 && inside.has(holder)) count++;
      }
      shares = plus(shares, lowest([own[0] * count, own[1]]));
    }
    net.from.forEach((from, link) => {
      const leaves = inside.has(from);
      if (leaves !== inside.has(net.to[link]) && leaves === (direction === "out")) sum(weight[direction], link, own);
    });
  }
  for (const npu of trees.task.groups[0]?.members ?? []) {
    const [num, den] = covered[npu];
    if (isAllReduce && num < den) wrong(`the sets around ${net.names[npu]} weigh less than 1`);
  }
  for (const entry of listAt(witness["potentials"] ?? [], "witness.potentials")) {
    const one = objectAt(entry, "witness.potentials");
    const node = nodeOf(net, one["node"]);
    const isActive = net.copies[node] || net.sums[node];
    if ((trees.inNetwork && isActive) || trees.task.groups[0]?.rank.has(node))
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
  if (!isAllReduce && shares[0] === 0n) return wrong("nothing starts or ends inside its sets");
  const [num, den] = dataOf(trees);
  const [up, down]: Fraction = isAllReduce ? [1n, 1n] : [shares[0], shares[1] * BigInt(task.chunks)];
  return rate[0] === 0n ? wrong("it has no bandwidth") : [num * SECOND * rate[1] * up, den * rate[0] * down];
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
    case "partition":
      return partition(ground, witness);
    case "work":
      return witness["lengths"] === undefined ? dimensions(ground, witness) : lengths(ground, witness);
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
