import { countOf, membersOf, type Network, type Places, readTask, type Task } from "./collectives.ts";
import {
  bad,
  ceil,
  compare,
  exact,
  type Fraction,
  flagAt,
  fractionAt,
  type Json,
  LARGEST,
  listAt,
  lowest,
  objectAt,
  plus,
  SECOND,
  wholeAt,
  wholesAt,
  wrong,
} from "./values.ts";

/** Trees: "Trees, JSON" of FORMATS.md. */

interface Tree {
  readonly root: number;
  readonly copies: number;
  /** Links from the root outwards. */
  readonly edges: readonly (readonly number[])[];
}

interface Forest {
  readonly direction: "out" | "in";
  /** Of a copy. */
  readonly rate: Fraction;
  readonly trees: readonly Tree[];
  /** By link, the end nearer to the root and the other one. */
  readonly near: readonly number[];
  readonly far: readonly number[];
}

export interface Trees {
  readonly net: Network;
  readonly task: Task;
  readonly forests: readonly Forest[];
  readonly concurrent: boolean;
  readonly inNetwork: boolean;
  /** Elements of the group of maps. */
  readonly order: number;
  readonly sizes: readonly number[];
  readonly maps: readonly (readonly number[])[];
  readonly certificate: unknown;
}

export function readTrees(file: Json, net: Network): Trees {
  const task = readTask(file, "", net);
  const { symmetry = null } = file;
  const { sizes, steps } = symmetry === null ? { sizes: [], steps: [] } : objectAt(symmetry, "symmetry");
  const orders = wholesAt(sizes, "symmetry.sizes", LARGEST);
  const order = orders.reduce((product, size) => product * size, 1);
  if (!Number.isSafeInteger(order) || order < 1 || orders.length > 64)
    bad("symmetry.sizes", "sizes below 2^53 in all", sizes);
  const maps = listAt(steps, "symmetry.steps").map((one) =>
    wholesAt(one, "symmetry.steps", net.names.length - 1, net.names.length),
  );
  if (maps.length !== orders.length) bad("symmetry.steps", "a map for each size", steps);
  const forests = listAt(file["forests"], "forests").map((one): Forest => {
    const { direction, copyBytesPerSecond, trees } = objectAt(one, "forests");
    if (direction !== "out" && direction !== "in") return bad("a forest's direction", '"out" or "in"', direction);
    const [near, far] = direction === "out" ? [net.from, net.to] : [net.to, net.from];
    const rate = fractionAt(copyBytesPerSecond, "copyBytesPerSecond");
    return { direction, rate, trees: listAt(trees, "trees").map((tree) => readTree(tree, task, net)), near, far };
  });
  const [concurrent, inNetwork] = [flagAt(file["concurrent"], "concurrent"), flagAt(file["inNetwork"], "inNetwork")];
  return {
    net,
    task,
    forests,
    concurrent,
    inNetwork,
    order,
    sizes: orders,
    maps,
    certificate: file["certificate"] ?? null,
  };
}

function readTree(value: unknown, { size }: Task, net: Network): Tree {
  const { root, copies, edges } = objectAt(value, "a tree");
  const lists = listAt(edges, "a tree's edges").map((edge) =>
    wholesAt(Array.isArray(edge) ? edge : [edge], "an edge", net.from.length - 1),
  );
  if (lists.length !== size - 1 || lists.some((edge) => edge.length === 0))
    bad("a tree's edges", `${size - 1} edges`, edges);
  return {
    root: wholeAt(root, "a tree's root", 0, net.npus - 1),
    copies: wholeAt(copies, "a tree's copies", 1),
    edges: lists,
  };
}

/** Sets of nodes, or of links, that maps take to each other. */
interface Orbits {
  readonly of: Int32Array;
  readonly size: Int32Array;
}

function orbitsOf(count: number, maps: readonly ArrayLike<number>[]): Orbits {
  const up = Int32Array.from({ length: count }, (_, i) => i);
  const top = (i: number): number => {
    let at = i;
    while (up[at] !== at) at = up[at] = up[up[at] as number];
    return at;
  };
  for (const map of maps) for (let i = 0; i < count; i++) up[top(i)] = top(map[i]);
  const size = new Int32Array(count);
  const of = Int32Array.from({ length: count }, (_, i) => top(i));
  for (const own of of) size[own] = size[own] + 1;
  return { of, size };
}

/** Returns the orbits of nodes and of links. Throws Wrong where the maps are no abelian group of maps of the network onto itself. */
function checkSymmetry({ net, task, sizes, maps }: Trees): { readonly nodes: Orbits; readonly links: Orbits } {
  const { names, npus, from, to, rate, latency } = net;
  const isMember = new Set(membersOf({ one: null, sets: task.groups, of: () => 0 }, 0));
  const keyOf = (a: number, b: number, link: number): string => `${a} ${b} ${rate[link]} ${latency[link]}`;
  const alike = new Map<string, number[]>();
  const nth = from.map((a, link) => {
    const key = keyOf(a, to[link], link);
    const list = alike.get(key);
    if (list === undefined) alike.set(key, [link]);
    return list === undefined ? 0 : list.push(link) - 1;
  });
  const linkMaps = maps.map((map, d) => {
    const seen = new Uint8Array(names.length);
    for (const [v, w] of map.entries()) {
      if (seen[w] === 1) wrong(`map ${d} of the symmetry takes two nodes to ${names[w]}`);
      seen[w] = 1;
      if (v < npus !== w < npus || isMember.has(v) !== isMember.has(w))
        wrong(`map ${d} takes ${names[v]} to another kind of node`);
      if (maps.some((other) => map[other[v] as number] !== other[w]))
        wrong(`maps of the symmetry do not commute at ${names[v]}`);
    }
    for (let v = 0; v < map.length; v++) {
      let length = 0;
      for (let w = v; seen[w] === 1; w = map[w], length++) seen[w] = 0;
      if (length > 0 && sizes[d] % length !== 0) wrong(`map ${d} does not bring ${names[v]} back`);
    }
    return Int32Array.from(from, (a, link) => {
      const key = keyOf(map[a], map[to[link] as number], link);
      return alike.get(key)?.[nth[link] as number] ?? wrong(`map ${d} takes link ${link} to none like it`);
    });
  });
  return { nodes: orbitsOf(names.length, maps), links: orbitsOf(from.length, linkMaps) };
}

/** What the collective wants of forests: their directions, and the chunks of each root; null: any. */
function wantedOf({ task }: Trees): {
  readonly directions: readonly string[];
  readonly share: ReadonlyMap<number, number> | null;
} {
  const { groups, size, pre, post, sums, chunks, kind } = task;
  if (groups.length !== 1) wrong("trees are for one group");
  const isAll = (places: Places): boolean => {
    if (places.one === null && places.sets === groups) return true;
    for (let c = 0; c < chunks; c++)
      if (countOf(places, c) !== size || !membersOf(places, c).every((v) => groups[0]?.rank.has(v))) return false;
    return true;
  };
  const ownersIn = (places: Places): ReadonlyMap<number, number> => {
    const share = new Map<number, number>();
    for (let c = 0; c < chunks; c++) {
      const [npu] = membersOf(places, c) as [number];
      if (countOf(places, c) !== 1 || groups[0]?.rank.has(npu) !== true) wrong("trees do not make this collective");
      share.set(npu, (share.get(npu) ?? 0) + 1);
    }
    return share;
  };
  if (!isAll(sums ? pre : post)) wrong("trees do not make this collective");
  if (!sums) return { directions: ["out"], share: ownersIn(pre) };
  if (isAll(post) && (size > 1 || kind === "allreduce")) return { directions: ["in", "out"], share: null };
  return { directions: ["in"], share: ownersIn(post) };
}

/** Returns, for each edge of a tree, how many of its first links carry nothing, and the order in which edges are taken. */
function walkOf({ net, inNetwork, task }: Trees, { direction, near, far }: Forest, nodes: Orbits) {
  const trait = direction === "out" ? net.copies : net.sums;
  const unable = new Set(net.names.flatMap((_, v) => (v < net.npus || !trait[v] ? [nodes.of[v] as number] : [])));
  const has = new Int32Array(net.names.length).fill(-1);
  const depth = new Int32Array(net.names.length);
  let tree = 0;
  return ({ root, edges }: Tree): { readonly order: readonly number[]; readonly skips: readonly number[] } => {
    const skips = edges.map(() => 0);
    const listed = edges.map((_, e) => e);
    if (!inNetwork) return { order: listed, skips };
    tree++;
    depth[root] = 0;
    const level = edges.map((edge) => {
      const own = depth[near[edge[0] as number] as number];
      depth[far[edge.at(-1) as number] as number] = Math.min(own + 1, task.size);
      return own;
    });
    const order = listed.sort((a, b) => level[a] - level[b] || a - b);
    for (const e of order) {
      const inner = edges[e].slice(0, -1).map((link) => far[link]);
      skips[e] = inner.findLastIndex((node) => has[node] === tree) + 1;
      for (const node of inner.slice(skips[e])) if (!unable.has(nodes.of[node])) has[node] = tree;
    }
    return { order, skips };
  };
}

/** Throws Wrong for trees that are none, for roots, symmetries and loads that are not as they should be. O(links of all edges). */
export function checkTrees(trees: Trees): Orbits {
  const { net, task, forests, concurrent, order } = trees;
  const { directions, share } = wantedOf(trees);
  if (forests.map(({ direction }) => direction).join() !== directions.join())
    wrong(`the forests are not ${directions.join(", ")}`);
  if (concurrent && forests.length < 2) wrong("a single forest runs beside no other");
  const { nodes, links } = checkSymmetry(trees);
  for (const forest of forests) for (const tree of forest.trees) checkTree(trees, forest, tree);
  const evenly = (listed: readonly number[], { of, size }: Orbits): bigint[] => {
    const sum = listed.map(() => 0n);
    for (const [i, own] of listed.entries()) if (own > 0) sum[of[i] as number] = sum[of[i] as number] + BigInt(own);
    return Array.from(of, (own) => sum[own] * BigInt(order / size[own]));
  };
  const counted = (length: number, visit: (add: (i: number, copies: number) => void) => void): number[] => {
    const sums: number[] = new Array(length).fill(0);
    visit((i, copies) => {
      sums[i] = sums[i] + copies;
      if (!Number.isSafeInteger(sums[i])) wrong("copies go beyond 2^53");
    });
    return sums;
  };
  const roots = forests.map((forest) =>
    evenly(
      counted(net.names.length, (add) => {
        for (const { root, copies } of forest.trees) add(root, copies);
      }),
      nodes,
    ),
  );
  const all = roots[0].reduce((sum, own) => sum + own, 0n);
  for (let npu = 0; npu < net.npus; npu++) {
    const own = roots[0][npu];
    const isRight =
      share === null ? own === roots[1][npu] : own * BigInt(task.chunks) === all * BigInt(share.get(npu) ?? 0);
    if (!isRight) wrong(`${net.names[npu]} is the root of ${own} copies, not of its part`);
  }
  const loads = forests.map((forest) => {
    const walk = walkOf(trees, forest, nodes);
    return evenly(
      counted(net.from.length, (add) => {
        for (const tree of forest.trees) {
          const { skips } = walk(tree);
          tree.edges.forEach((edge, e) => {
            for (let i = skips[e]; i < edge.length; i++) add(edge[i], tree.copies);
          });
        }
      }),
      links,
    );
  });
  net.rate.forEach((rate, link) => {
    const used = forests.map((forest, f): Fraction => [loads[f][link] * forest.rate[0], forest.rate[1]]);
    const most = concurrent ? used.reduce(plus) : used.reduce((a, b) => (compare(b, a) > 0 ? b : a));
    if (compare(most, [BigInt(rate), 1n]) > 0) wrong(`trees hold more than the bandwidth of link ${link}`);
  });
  return nodes;
}

function checkTree({ net, task }: Trees, { near, far }: Forest, { root, edges }: Tree): void {
  const { rank } = task.groups[0] as Task["groups"][0];
  const reached = new Set([root]);
  if (!rank.has(root)) wrong(`${net.names[root]} is the root of a tree but no member`);
  for (const edge of edges) {
    let node = near[edge[0] as number];
    if (!reached.has(node)) wrong(`an edge starts at ${net.names[node]}, where its tree has not been`);
    const passed = new Set<number>();
    for (const [i, link] of edge.entries()) {
      if (near[link] !== node) wrong("the links of an edge do not follow each other");
      node = far[link];
      if (i + 1 < edge.length && (rank.has(node) || passed.has(node))) wrong(`an edge passes ${net.names[node]}`);
      passed.add(node);
    }
    if (!rank.has(node) || reached.has(node)) wrong(`an edge ends at ${net.names[node]}, no member that is left`);
    reached.add(node);
  }
}

const copiesOf = ({ order }: Trees, { trees }: Forest): bigint =>
  trees.reduce((sum, { copies }) => sum + BigInt(copies), 0n) * BigInt(order);

/** Returns the bytes of the data that go through in a second, with ever more pieces. */
export function throughputOf(trees: Trees): Fraction {
  const rates = trees.forests.map((forest): Fraction => [forest.rate[0] * copiesOf(trees, forest), forest.rate[1]]);
  if (trees.concurrent) return rates.reduce((a, b) => (compare(b, a) < 0 ? b : a));
  const [num, den] = rates.map(([a, b]): Fraction => [b, a]).reduce(plus);
  return [den, num];
}

export const dataOf = ({ task: { bytes, chunks } }: Pick<Trees, "task">): Fraction => [
  bytes[0] * BigInt(chunks),
  bytes[1],
];

/** Returns the rate at which a copy is sent: its own where all shares that it makes are fractions of numbers below 2^53, else rounded down. */
function paceOf({ net }: Trees, { rate: [num, den] }: Forest): Fraction {
  const isExact = (one: Fraction): boolean =>
    [...new Set(net.rate)].every((rate) =>
      lowest([one[0], one[1] * BigInt(rate)]).every((part) => part <= BigInt(LARGEST)),
    );
  if (isExact([num, den])) return [num, den];
  const unit = BigInt(LARGEST) / BigInt(net.rate.reduce((most, rate) => Math.max(most, rate), 1));
  const rounded: Fraction = [(num * unit) / den, unit];
  return rounded[0] > 0n && isExact(rounded) ? rounded : wrong("a copy has too little bandwidth");
}

interface Timed {
  readonly tree: Tree;
  /** How long a piece takes on an edge, and the first one to all members. */
  readonly serial: bigint;
  readonly fill: bigint;
}

function timedTrees(trees: Trees, forest: Forest, nodes: Orbits, pieces: bigint): Timed[] {
  const { net } = trees;
  const { near, far } = forest;
  const [data, pace, all] = [dataOf(trees), paceOf(trees, forest), copiesOf(trees, forest)];
  const walk = walkOf(trees, forest, nodes);
  const depth = new Int32Array(net.names.length);
  const latency = new Float64Array(net.names.length);
  return forest.trees.map((tree) => {
    const parts = data[1] * all * pace[0] * BigInt(tree.copies) * pieces;
    const serial = ceil(data[0] * SECOND * pace[1], parts);
    depth[tree.root] = 0;
    latency[tree.root] = 0;
    let fill = 0n;
    const { order, skips } = walk(tree);
    for (const e of order) {
      const edge = tree.edges[e] as readonly number[];
      const skip = skips[e];
      const start = near[edge[skip] as number];
      const level = depth[start] + (skip === 0 ? 1 : 0);
      let sum = latency[start];
      for (const link of edge.slice(skip)) {
        sum += net.latency[link];
        depth[far[link] as number] = level;
        latency[far[link] as number] = sum;
      }
      const there = BigInt(level) * serial + BigInt(sum);
      if (there > fill) fill = there;
    }
    return { tree, serial, fill };
  });
}

/** Returns what trees take, each copy's part cut into this many pieces: the closed form of FORMATS.md. */
export function treesPs(trees: Trees, nodes: Orbits, pieces: number): number {
  if (trees.task.size < 2) return 0;
  const cut = BigInt(pieces);
  const timed = trees.forests.map((forest) => timedTrees(trees, forest, nodes, cut));
  const most = (values: readonly bigint[]): bigint => values.reduce((a, b) => (b > a ? b : a), 0n);
  if (!trees.concurrent) {
    const each = timed.map((own) =>
      most(own.map(({ tree, serial, fill }) => (BigInt(tree.copies) * cut - 1n) * serial + fill)),
    );
    return exact(each.reduce((sum, ps) => sum + ps, 0n));
  }
  // in-trees hand over to out-trees at their roots, copy by copy as listed, images of a tree behind each other
  const queues = timed.map((own) => {
    const at = new Map<number, Timed[]>();
    for (const one of own) {
      const orbit = nodes.of[one.tree.root];
      const images = trees.order / nodes.size[orbit];
      const list = at.get(orbit) ?? [];
      if (list.length + images > 4e6) wrong("the symmetry repeats trees too often");
      for (let i = 0; i < images; i++) list.push(one);
      at.set(orbit, list);
    }
    return at;
  });
  let last = 0n;
  for (const [orbit, givers] of queues[0] as Map<number, Timed[]>) {
    const takers = queues[1]?.get(orbit) ?? [];
    for (let i = 0, o = 0, inPlace = 0, outPlace = 0; i < givers.length && o < takers.length; ) {
      const [giver, taker] = [givers[i] as Timed, takers[o] as Timed];
      const count = Math.min(giver.tree.copies - inPlace, taker.tree.copies - outPlace);
      const leaves = [0n, cut - 1n].flatMap((piece) =>
        [0, count - 1].map((copy) => {
          const complete = (piece * BigInt(giver.tree.copies) + BigInt(inPlace + copy)) * giver.serial;
          return complete + (BigInt(taker.tree.copies) * (cut - piece) - 1n - BigInt(outPlace + copy)) * taker.serial;
        }),
      );
      last = most([last, most(leaves) + giver.fill + taker.fill]);
      [inPlace, outPlace] = [inPlace + count, outPlace + count];
      if (inPlace === giver.tree.copies) [i, inPlace] = [i + 1, 0];
      if (outPlace === taker.tree.copies) [o, outPlace] = [o + 1, 0];
    }
  }
  return exact(last);
}
