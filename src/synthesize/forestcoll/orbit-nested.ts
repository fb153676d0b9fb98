import { disjointSets, type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { inLinks, nodeCount, outLinks, type Topology } from "../../model/topology/topology.ts";
import { extended, type OrbitBudgets, type OrbitTree, type Paths } from "./orbit-shares.ts";

/** Prices are at most NPUs times this. */
const PRICE_SCALE = 2 ** 20;

/**
 * Returns k trees of root 0 within the budgets, grown from scarce orbits to plentiful ones (orbit-grow.ts), each as low as the
 * growth makes it; null where it gets stuck. Made for switched fabrics whose tiers are ever scarcer: every pod, then every
 * leaf, server and NPU is entered once, and what the scarce tiers can carry beyond that shortens the trees. Copies share every
 * orbit's budget evenly, so at most orbits + 1 trees differ. Not exact: null says nothing of other methods. O(trees * levels * height * (nodes + links)).
 */
export function nestedTrees(
  topology: Topology,
  paths: Paths,
  { orbit, budget }: OrbitBudgets,
  k: number,
): readonly OrbitTree[] | null {
  for (const shares of [sharesByDirection, sharesByNode]) {
    const parts = shares(topology, { orbit, budget }, k);
    for (const byBudget of [true, false]) {
      const trees = nestedBy(topology, paths, { orbit, budget }, k, parts, byBudget);
      if (trees !== null) return trees;
    }
  }
  return null;
}

function nestedBy(
  topology: Topology,
  paths: Paths,
  { orbit, budget }: OrbitBudgets,
  k: number,
  parts: readonly Share[],
  byBudget: boolean,
): readonly OrbitTree[] | null {
  const levels = levelsOf(topology, { orbit, budget }, byBudget);
  if (levels.length === 0 || levels[levels.length - 1].groups < topology.npuCount) return null;
  const price = budget.map(
    (uses) => 1 + Math.floor((topology.npuCount * PRICE_SCALE) / Math.max(1, Math.floor(uses / k))),
  );
  const trees: OrbitTree[] = [];
  for (const { copies, left } of parts) {
    const into = growLowest(topology, paths, levels, { orbit, left, price });
    if (into === null) return null;
    trees.push({ copies, into });
  }
  return trees;
}

/** Returns the first tree no higher than what it aims at, from height 1 up; where there is none, the lowest that grows at all. */
function growLowest(topology: Topology, paths: Paths, levels: readonly Level[], meter: Meter): Int32Array | null {
  const grown = (aim: number, strict: boolean): GrownTree | null =>
    growTree(topology, paths, levels, { ...meter, left: meter.left.slice() }, aim, strict);
  for (let aim = 1; aim <= levels.length; aim++) {
    const tree = grown(aim, true);
    if (tree !== null) return tree.into;
  }
  let best: GrownTree | null = null;
  for (let aim = levels.length; aim >= 1; aim--) {
    const tree = grown(aim, false);
    if (tree !== null && (best === null || tree.height < best.height)) best = tree;
  }
  return best?.into ?? null;
}

/** What some copies that follow each other may use of each orbit, each of them. */
interface Share {
  readonly copies: number;
  /** [orbits] */
  readonly left: Float64Array;
}

/**
 * Splits budgets evenly over k copies, whose rests begin with the copy from[orbit]. Equal neighbours come as one.
 */
function evenShares(budget: Float64Array, from: Float64Array, k: number): Share[] {
  const ends = from.map((first, o) => (first + budget[o]) % k);
  const order = [...new Set([0, ...from, ...ends])].sort((a, b) => a - b);
  return order.map((copy, i) => ({
    copies: (i + 1 < order.length ? order[i + 1] : k) - copy,
    left: budget.map((uses, o) => Math.floor(uses / k) + ((copy - from[o] + k) % k < uses % k ? 1 : 0)),
  }));
}

/**
 * Splits budgets evenly over k copies; what does not divide goes to copies in turn, orbit after orbit of the same direction
 * (away from NPUs, towards them, neither), for orbits of one tier stand in for each other.
 */
function sharesByDirection(topology: Topology, { orbit, budget }: OrbitBudgets, k: number): Share[] {
  const { direction } = endsOf(topology, orbit, budget.length);
  const turn = [0, 0, 0];
  const from = budget.map((uses, o) => {
    const first = turn[direction[o]];
    turn[direction[o]] = (first + uses) % k;
    return first;
  });
  return evenShares(budget, from, k);
}

/**
 * Splits budgets evenly over k copies; what does not divide goes to copies in turn, orbit after orbit of the same direction at the
 * same nodes, and further away to the copies that get there: network cards of one link each way have the same copies on both.
 */
function sharesByNode(topology: Topology, { orbit, budget }: OrbitBudgets, k: number): Share[] {
  const { direction, near, far, distance } = endsOf(topology, orbit, budget.length);
  const turn = [0, 1, 2].map(() => new Map<number, number>());
  const from = new Float64Array(budget.length);
  const outwards = [...from.keys()].sort((a, b) => distance[a] - distance[b] || a - b);
  for (const o of outwards) {
    const next = turn[direction[o]];
    from[o] = next.get(near[o]) ?? 0;
    next.set(near[o], (from[o] + budget[o]) % k);
    if (!next.has(far[o])) next.set(far[o], from[o]);
  }
  return evenShares(budget, from, k);
}

/** Where orbits of links lead, [orbits]. */
interface OrbitEnds {
  /** 0: towards NPUs, 1: neither, 2: away from them. */
  readonly direction: Int32Array;
  /** The nodes at the end that is nearer to NPUs, and at the other, by the least that is surely in the same orbit. */
  readonly near: Int32Array;
  readonly far: Int32Array;
  /** Links between the near end and the nearest NPU. */
  readonly distance: Int32Array;
}

function endsOf(topology: Topology, orbit: Int32Array, orbits: number): OrbitEnds {
  const { npuCount, linkSource, linkTarget } = topology;
  const hops = new Int32Array(nodeCount(topology)).fill(-1).fill(0, 0, npuCount);
  for (let round = 0, changed = true; changed; round++) {
    changed = false;
    for (let link = 0; link < orbit.length; link++) {
      if (hops[linkSource[link]] !== round || hops[linkTarget[link]] >= 0) continue;
      hops[linkTarget[link]] = round + 1;
      changed = true;
    }
  }
  const { first, least } = orbitNodes(topology, orbit, orbits);
  const direction = first.map((link) => 1 + Math.sign(hops[linkTarget[link]] - hops[linkSource[link]]));
  const near = first.map((link, o) => least(direction[o] === 0 ? linkTarget[link] : linkSource[link]));
  const far = first.map((link, o) => least(direction[o] === 0 ? linkSource[link] : linkTarget[link]));
  const distance = first.map((link) => Math.min(hops[linkSource[link]], hops[linkTarget[link]]));
  return { direction, near, far, distance };
}

/** Returns the first link of each orbit, and what gives each node the least of those that the orbits show to be in its own. */
function orbitNodes({ linkSource, linkTarget, nodeNames }: Topology, orbit: Int32Array, orbits: number) {
  const nodes = disjointSets(nodeNames.length);
  const first = new Int32Array(orbits).fill(-1);
  for (let link = orbit.length - 1; link >= 0; link--) {
    const known = first[orbit[link]];
    first[orbit[link]] = link;
    if (known < 0) continue;
    nodes.join(linkSource[link], linkSource[known]);
    nodes.join(linkTarget[link], linkTarget[known]);
  }
  return { first, least: nodes.least };
}

/** A tree of root 0: the path into each NPU, [NPUs]. */
interface GrownTree {
  readonly into: Int32Array;
  readonly height: number;
}

/**
 * Returns a tree of root 0 within what is left of each orbit, or null when growth gets stuck; what it uses is taken off.
 *
 * Depth by depth, and at each depth component by component, coarse ones first: a component whose parent had been entered
 * before is entered at one NPU over the cheapest way. One whose parent was only entered at this very depth is entered too if
 * otherwise the tree would be higher than `aim`, one hop for each level; where it cannot be, `strict` growth ends. Ways that others need (orbit-reserve.ts) are not
 * taken. O(levels * height * (nodes + links)), and once more whenever an orbit is used up.
 */
export function growTree(
  topology: Topology,
  paths: Paths,
  levels: readonly Level[],
  meter: Meter,
  aim: number,
  strict: boolean,
): GrownTree | null {
  const { npuCount, linkSource } = topology;
  const { orbit, left } = meter;
  const kept = reserve(levels, left);
  if (kept === null) return null;
  const into = new Int32Array(npuCount).fill(-1);
  const reached = new Int32Array(npuCount);
  let count = 1;
  let depth = 0;
  while (count < npuCount) {
    depth++;
    const sources = reached.subarray(0, count);
    let entries = entriesFrom(topology, paths, sources, meter);

    /** Returns the last link of the cheapest way into one of some NPUs, the first of equals; -1 where there is none. */
    const cheapest = (npus: Int32Array): number => {
      let best = -1;
      let least = Number.POSITIVE_INFINITY;
      for (let j = 0; j < npus.length; j++) {
        const last = entryInto(topology, entries, meter, npus[j]);
        const price = last < 0 ? least : entryPrice(topology, entries, meter, last);
        if (price >= least) continue;
        best = last;
        least = price;
      }
      return best;
    };
    const enter = (last: number): void => {
      const npu = topology.linkTarget[last];
      const from = linkSource[last];
      const before = from < npuCount ? -1 : entries.path[from];
      const used = [orbit[last]];
      for (let p = before; p >= 0; p = paths.before[p]) used.push(orbit[paths.link[p]]);
      if (!kept.take(used, npu, depth)) return;
      into[npu] = extended(paths, before, last);
      reached[count++] = npu;
      if (used.some((o) => left[o] < 1)) entries = entriesFrom(topology, paths, sources, meter);
    };

    for (let i = 0; i < levels.length; i++) {
      const { members, groups } = levels[i];
      const late = depth >= aim - (levels.length - 1 - i);
      for (let g = 0; g < groups; g++) {
        if (kept.entered[i][g] >= 0) continue;
        const npus = members.items.subarray(members.offset[g], members.offset[g + 1]);
        const parent = i === 0 ? 0 : kept.entered[i - 1][levels[i - 1].group[npus[0]]];
        if (parent < 0 || (parent === depth && !late)) continue;
        const last = cheapest(npus);
        if (last >= 0) enter(last);
        if (strict && late && kept.entered[i][g] < 0) return null;
      }
    }
    if (count === sources.length) return null;
  }
  return { into, height: depth };
}

/** What a growing tree has entered, and what it must leave of the orbits for components that wait. */
interface Reserve {
  /** [levels][components] depth at which each was entered; -1: not yet. */
  readonly entered: readonly Int32Array[];
  /**
   * Takes a way over these orbits into an NPU at a depth. Returns false, and takes nothing, when an orbit would be used up
   * beyond its end, or when the links that lead into (or out of) the components of some level would be fewer than those that
   * still wait. O(levels * orbits of the way).
   */
  take(used: readonly number[], npu: number, depth: number): boolean;
}

/** Returns the reserve of a tree that has only its root, NPU 0, and writes to `left`; null when it has too few ways already. */
function reserve(levels: readonly Level[], left: Float64Array): Reserve | null {
  const entered = levels.map(({ group, groups }) => {
    const depths = new Int32Array(groups).fill(-1);
    depths[group[0]] = 0;
    return depths;
  });
  const waiting = levels.map(({ groups }) => groups - 1);
  const sumOver = (mask: Uint8Array): number => left.reduce((sum, uses, o) => sum + (mask[o] !== 0 ? uses : 0), 0);
  const waysIn = levels.map(({ enters }) => sumOver(enters));
  const waysOut = levels.map(({ leaves }) => sumOver(leaves));
  const fewer = (i: number, others: number): boolean => Math.min(waysIn[i], waysOut[i]) < others;
  if (levels.some((_, i) => fewer(i, waiting[i]))) return null;

  /** Uses orbits so often (-1: gives them back). */
  const use = (used: readonly number[], times: number): void => {
    for (const o of used) {
      left[o] -= times;
      levels.forEach(({ enters, leaves }, i) => {
        waysIn[i] -= times * enters[o];
        waysOut[i] -= times * leaves[o];
      });
    }
  };
  const take = (used: readonly number[], npu: number, depth: number): boolean => {
    use(used, 1);
    const isNew = (i: number): boolean => entered[i][levels[i].group[npu]] < 0;
    if (used.some((o) => left[o] < 0) || levels.some((_, i) => fewer(i, waiting[i] - (isNew(i) ? 1 : 0)))) {
      use(used, -1);
      return false;
    }
    levels.forEach(({ group }, i) => {
      if (!isNew(i)) return;
      entered[i][group[npu]] = depth;
      waiting[i]--;
    });
    return true;
  };
  return { entered, take };
}

/** What links cost and what is left of them, by orbit. */
interface Meter {
  /** [links] */
  readonly orbit: Int32Array;
  /** [orbits] uses that are left. */
  readonly left: Float64Array;
  /** [orbits] exact integers >= 1. */
  readonly price: Float64Array;
}

/** The cheapest ways from some NPUs to all switches, through switches, over orbits with uses left. */
interface Entries {
  /** [NPUs] 1 where ways may start. */
  readonly isSource: Uint8Array;
  /** [nodes] price of the way to each switch; Infinity: none. */
  readonly price: Float64Array;
  /** [nodes] its path (orbit-paths.ts). */
  readonly path: Int32Array;
}

/** Returns the cheapest ways from `sources`. Dijkstra 1959, switches of one price at a time: prices are few. */
function entriesFrom(topology: Topology, paths: Paths, sources: Int32Array, meter: Meter): Entries {
  const { npuCount, linkTarget } = topology;
  const { orbit, left, price } = meter;
  const { offset, links } = outLinks(topology);
  const nodes = nodeCount(topology);
  const isSource = new Uint8Array(npuCount);
  const best = new Float64Array(nodes).fill(Number.POSITIVE_INFINITY);
  const path = new Int32Array(nodes).fill(-1);
  const via = new Int32Array(nodes).fill(-1);
  let open: number[] = [];
  const relax = (v: number, cost: number): void => {
    for (let i = offset[v]; i < offset[v + 1]; i++) {
      const w = linkTarget[links[i]];
      const o = orbit[links[i]];
      if (w < npuCount || left[o] < 1 || cost + price[o] >= best[w]) continue;
      if (best[w] === Number.POSITIVE_INFINITY) open.push(w);
      best[w] = cost + price[o];
      via[w] = links[i];
    }
  };
  for (let i = 0; i < sources.length; i++) {
    isSource[sources[i]] = 1;
    relax(sources[i], 0);
  }
  while (open.length > 0) {
    let least = Number.POSITIVE_INFINITY;
    for (const w of open) least = Math.min(least, best[w]);
    const settled = open.filter((w) => best[w] === least);
    open = open.filter((w) => best[w] > least);
    for (const w of settled) {
      const before = topology.linkSource[via[w]];
      path[w] = extended(paths, before < npuCount ? -1 : path[before], via[w]);
      relax(w, least);
    }
  }
  return { isSource, price: best, path };
}

/** Returns the last link of the cheapest way into an NPU that has uses left, the first of equals; -1 where there is none. */
function entryInto(topology: Topology, entries: Entries, meter: Meter, npu: number): number {
  const { offset, links } = inLinks(topology);
  let entry = -1;
  let least = Number.POSITIVE_INFINITY;
  for (let i = offset[npu]; i < offset[npu + 1]; i++) {
    const price = entryPrice(topology, entries, meter, links[i]);
    if (price >= least) continue;
    least = price;
    entry = links[i];
  }
  return entry;
}

/** Returns the price of the cheapest way that ends with a link into an NPU; Infinity where there is none. */
function entryPrice(topology: Topology, entries: Entries, { orbit, left, price }: Meter, link: number): number {
  const from = topology.linkSource[link];
  const o = orbit[link];
  if (left[o] < 1) return Number.POSITIVE_INFINITY;
  if (from >= topology.npuCount) return entries.price[from] + price[o];
  return entries.isSource[from] !== 0 ? price[o] : Number.POSITIVE_INFINITY;
}

/** NPUs split ever finer: level i are the components that remain without the links of some orbits, last the single NPUs. */
interface Level {
  /** [NPUs] the component of each NPU, numbered from that of NPU 0 on. */
  readonly group: Int32Array;
  readonly groups: number;
  /** The NPUs of each component. */
  readonly members: Grouped;
  /** [orbits] 1 where the links of an orbit lead from elsewhere into a component with NPUs. */
  readonly enters: Uint8Array;
  /** [orbits] 1 where they lead out of one. */
  readonly leaves: Uint8Array;
}

/** Above this many tiers all that have equal budgets go at once. */
const MOST_TIERS = 32;

/**
 * Returns the levels, coarsest first: tier after tier of links is taken away, and each that splits the NPUs further makes a
 * level. On a fat tree these are pods, leaves, servers and NPUs. A tier is the orbits that join nodes of the same two orbits.
 * Scarce tiers go first when `byBudget`, and those that split least among equals; otherwise the latter alone decides.
 * O(tiers^2 * (nodes + links)).
 */
export function levelsOf(topology: Topology, { orbit, budget }: OrbitBudgets, byBudget: boolean): Level[] {
  const levels: Level[] = [];
  const tier = tiersOf(topology, orbit, budget.length);
  const scarcity = new Map<number, number>();
  for (let o = 0; o < budget.length; o++) {
    scarcity.set(tier[o], byBudget ? Math.min(scarcity.get(tier[o]) ?? budget[o], budget[o]) : 0);
  }
  const gone = new Uint8Array(budget.length);
  let last = splitWithout(topology, orbit, gone);
  while (scarcity.size > 0) {
    const least = Math.min(...scarcity.values());
    const equals = [...scarcity.keys()].filter((t) => scarcity.get(t) === least);
    let next = equals;
    if (equals.length > 1 && equals.length <= MOST_TIERS) {
      let fewest = Number.POSITIVE_INFINITY;
      for (const t of equals) {
        const { groups } = splitWithout(
          topology,
          orbit,
          gone.map((flag, o) => (tier[o] === t ? 1 : flag)),
        );
        if (groups <= last.groups || groups >= fewest) continue;
        fewest = groups;
        next = [t];
      }
    }
    for (const t of next) scarcity.delete(t);
    for (let o = 0; o < gone.length; o++) if (next.includes(tier[o])) gone[o] = 1;
    const split = splitWithout(topology, orbit, gone);
    if (split.groups > last.groups) levels.push(levelOf(topology, orbit, budget.length, split));
    last = split;
  }
  return levels;
}

/** Returns a number for the tier of each orbit; each orbit of links between NPUs is a tier of its own. */
function tiersOf(topology: Topology, orbit: Int32Array, orbits: number): Int32Array {
  const { npuCount, linkSource, linkTarget } = topology;
  const { first, least } = orbitNodes(topology, orbit, orbits);
  const byEnds = new Map<string, number>();
  return first.map((link, o) => {
    const [a, b] = [linkSource[link], linkTarget[link]];
    const ends = [least(a), least(b)].sort((x, y) => x - y).join();
    const key = Math.max(a, b) < npuCount ? `orbit ${o}` : ends;
    const known = byEnds.get(key) ?? byEnds.size;
    byEnds.set(key, known);
    return known;
  });
}

interface Split {
  /** [nodes] the least node of each node's component. */
  readonly component: Int32Array;
  /** The numbers of those with NPUs, in the order of their first NPUs. */
  readonly number: ReadonlyMap<number, number>;
  readonly groups: number;
}

/** Returns the components over links, both ways, of orbits that are not gone. O(nodes + links). */
function splitWithout(topology: Topology, orbit: Int32Array, gone: Uint8Array): Split {
  const { npuCount, linkSource, linkTarget } = topology;
  const sets = disjointSets(nodeCount(topology));
  for (let link = 0; link < orbit.length; link++) {
    if (gone[orbit[link]] === 0) sets.join(linkSource[link], linkTarget[link]);
  }
  const component = Int32Array.from({ length: nodeCount(topology) }, (_, v) => sets.least(v));
  const number = new Map<number, number>();
  for (let v = 0; v < npuCount; v++) if (!number.has(component[v])) number.set(component[v], number.size);
  return { component, number, groups: number.size };
}

function levelOf(topology: Topology, orbit: Int32Array, orbits: number, { component, number, groups }: Split): Level {
  const { npuCount, linkSource, linkTarget } = topology;
  const group = Int32Array.from({ length: npuCount }, (_, v) => number.get(component[v]) ?? 0);
  const enters = new Uint8Array(orbits);
  const leaves = new Uint8Array(orbits);
  for (let link = 0; link < orbit.length; link++) {
    const [from, to] = [component[linkSource[link]], component[linkTarget[link]]];
    if (from === to) continue;
    if (number.has(to)) enters[orbit[link]] = 1;
    if (number.has(from)) leaves[orbit[link]] = 1;
  }
  return { group, groups, members: groupedBy(group, groups), enters, leaves };
}
