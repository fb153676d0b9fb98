import * as fc from "fast-check";
import { type Random, random } from "../../src/base/random.ts";
import { type Balance, type BalanceProblem, balanceRows } from "../../src/engine/contract/kernels.ts";

/** Problems of the balance kernel, and what every answer must satisfy, from the definition alone. */

export type Arc = readonly [source: number, target: number];

/** Returns the problem of all targets over arcs, in their order at every node. */
export function balanceProblem(nodeCount: number, arcs: readonly Arc[], settings: Partial<BalanceProblem> = {}) {
  const entering = Array.from({ length: nodeCount }, (): number[] => []);
  for (const [source, target] of arcs) entering[target].push(source);
  const inOffset = new Int32Array(nodeCount + 1);
  entering.forEach((sources, v) => {
    inOffset[v + 1] = inOffset[v] + sources.length;
  });
  const problem: BalanceProblem = {
    nodeCount,
    inOffset,
    inSource: Int32Array.from(entering.flat()),
    targets: Int32Array.from(entering.keys()),
    parts: 0,
    wantsShares: 0,
    threads: 1,
    maxSteps: nodeCount,
    maxRows: 0,
    ...settings,
  };
  return settings.maxRows === undefined ? { ...problem, maxRows: balanceRows(problem) } : problem;
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Returns the generalized Kautz graph Pi(d, m): x to -d x - j modulo m for j = 1 .. d. */
export const kautzArcs = (degree: number, nodes: number): Arc[] =>
  range(nodes).flatMap((x) =>
    range(degree).map((j): Arc => [x, (degree * (nodes - x) + nodes * degree - j - 1) % nodes]),
  );

export const hypercubeArcs = (dimensions: number): Arc[] =>
  range(2 ** dimensions).flatMap((x) => range(dimensions).map((i): Arc => [x, x ^ (1 << i)]));

export const torusArcs = (width: number, height: number): Arc[] =>
  range(width * height).flatMap((v) => {
    const x = v % width;
    const row = v - x;
    const across = [(x + 1) % width, (x + width - 1) % width].map((to): Arc => [v, row + to]);
    const along = [width, width * (height - 1)].map((by): Arc => [v, (v + by) % (width * height)]);
    return [...across, ...along];
  });

export const completeArcs = (nodes: number): Arc[] =>
  range(nodes).flatMap((a) => range(nodes).flatMap((b): Arc[] => (a === b ? [] : [[a, b]])));

/** A ring through all nodes and random arcs, parallel ones and self-loops among them. */
function randomArcs(generator: Random, nodes: number, extra: number): Arc[] {
  const ring = range(nodes).map((v): Arc => [v, (v + 1) % nodes]);
  return [...ring, ...Array.from({ length: extra }, (): Arc => [generator.below(nodes), generator.below(nodes)])];
}

interface Draw {
  readonly mostNodes: number;
  /** Most arcs per node besides the ring. */
  readonly density: number;
}

/** Random problems in which everyone reaches everyone, some of a few targets, some with shares. */
export const balanceProblems = ({ mostNodes, density }: Draw): fc.Arbitrary<BalanceProblem> =>
  fc
    .record({
      seed: fc.nat({ max: 2 ** 31 }),
      nodes: fc.integer({ min: 1, max: mostNodes }),
      arcs: fc.nat({ max: density }),
      parts: fc.constantFrom(0, 1, 2, 3, 7, 12, 100),
      shares: fc.constantFrom(0, 1),
      targets: fc.constantFrom(1, 2, 5),
    })
    .map(({ seed, nodes, arcs, parts, shares, targets }) => {
      const generator = random(seed, 61);
      const extra = generator.below(arcs * nodes + 1);
      return balanceProblem(nodes, randomArcs(generator, nodes, extra), {
        targets: Int32Array.from(range(nodes).filter(() => generator.below(targets) === 0)),
        parts,
        wantsShares: parts === 0 ? 0 : shares,
      });
    });

/** The shards that reach a target in each step: their nodes, each with the ports on shortest paths. */
export type Steps = ReadonlyMap<number, readonly number[]>[];

/** Returns what the definition says of a target, by distances between all pairs. O(nodes^3). */
export function stepsTo({ nodeCount, inOffset, inSource }: BalanceProblem, target: number): Steps {
  const distance = Array.from({ length: nodeCount }, (_, a) =>
    Array.from({ length: nodeCount }, (_, b) => (a === b ? 0 : Number.POSITIVE_INFINITY)),
  );
  for (let v = 0; v < nodeCount; v++) {
    for (let i = inOffset[v]; i < inOffset[v + 1]; i++) if (inSource[i] !== v) distance[inSource[i]][v] = 1;
  }
  for (let k = 0; k < nodeCount; k++) {
    for (const row of distance) {
      for (let b = 0; b < nodeCount; b++) row[b] = Math.min(row[b], row[k] + distance[k][b]);
    }
  }
  const steps: Map<number, readonly number[]>[] = [];
  const sources = inSource.subarray(inOffset[target], inOffset[target + 1]);
  for (let v = 0; v < nodeCount; v++) {
    const step = distance[v][target];
    if (v === target) continue;
    steps[step] ??= new Map();
    steps[step].set(
      v,
      range(sources.length).filter((k) => sources[k] !== target && distance[v][sources[k]] === step - 1),
    );
  }
  return steps.slice(1);
}

/** Returns the greatest ratio of shards to ports over all sets of ports (theorem 19), as [shards, ports]. O(2^ports). */
export function greatestRatio(shards: ReadonlyMap<number, readonly number[]>): readonly [number, number] {
  const sets = [...shards.values()].map((ports) => ports.reduce((set, k) => set | (1 << k), 0));
  const all = sets.reduce((union, set) => union | set, 0);
  let best: readonly [number, number] = [0, 1];
  for (let set = all; set > 0; set = (set - 1) & all) {
    const inside = sets.filter((ports) => (ports & ~set) === 0).length;
    let size = 0;
    for (let left = set; left > 0; left &= left - 1) size++;
    if (inside * best[1] > best[0] * size) best = [inside, size];
  }
  return best;
}

/** Returns the rows of the i-th target. */
export const rowsOf = (balance: Balance, i: number) =>
  range(balance.rowOffset[i + 1] - balance.rowOffset[i]).map((at) => {
    const row = balance.rowOffset[i] + at;
    return {
      step: balance.step[row],
      port: balance.port[row],
      source: balance.source[row],
      from: balance.from[row],
      to: balance.to[row],
    };
  });

/** Returns the laws that rows break: parts once each, over shortest paths, sorted, loads least, few cuts. */
export function brokenShareLaws(problem: BalanceProblem, balance: Balance): string[] {
  const broken = new Set<string>();
  problem.targets.forEach((target, i) => {
    const rows = rowsOf(balance, i);
    const steps = stepsTo(problem, target);
    const keys = rows.map(({ step, port, source, from }) => [step, port, source, from]);
    const sorted = keys.toSorted((a, b) => a.map((key, k) => key - b[k]).find((order) => order !== 0) ?? 0);
    if (JSON.stringify(keys) !== JSON.stringify(sorted)) broken.add("rows are not sorted");
    const ports = problem.inOffset[target + 1] - problem.inOffset[target];
    steps.forEach((shards, at) => {
      const here = rows.filter(({ step }) => step === at + 1);
      if (here.length > shards.size + ports - 1) broken.add("more cuts than ports");
      for (const [node, allowed] of shards) {
        const pieces = here.filter(({ source }) => source === node).sort((a, b) => a.from - b.from);
        if (pieces.some(({ port }) => !allowed.includes(port))) broken.add("a port off the shortest paths");
        const ends = [0, ...pieces.map(({ to }) => to)];
        if (pieces.some(({ from, to }, k) => from !== ends[k] || to <= from) || ends.at(-1) !== problem.parts)
          broken.add("parts do not make the shard");
        for (let k = 1; k < pieces.length; k++)
          if (pieces[k].port === pieces[k - 1].port) broken.add("a cut within a port");
      }
      const load = new Array<number>(ports).fill(0);
      for (const { port, from, to } of here) load[port] += to - from;
      const [inside, size] = greatestRatio(shards);
      if (Math.max(...load) !== Math.ceil((problem.parts * inside) / size)) broken.add("a load is not least");
    });
    const expected = steps.reduce((sum, { size }) => sum + size, 0);
    if (new Set(rows.map(({ source }) => source)).size !== expected) broken.add("not all shards arrive");
  });
  return [...broken];
}

/** Returns the loads that the definition asks for, in the columns of a Balance. */
export function loadsByOracle(problem: BalanceProblem): Pick<Balance, "steps" | "loadNum" | "loadDen" | "worst"> {
  const best: { num: number; den: number; worst: number }[] = [];
  for (const target of problem.targets) {
    stepsTo(problem, target).forEach((shards, step) => {
      const [inside, size] = greatestRatio(shards);
      const num = problem.parts === 0 ? inside : Math.ceil((problem.parts * inside) / size);
      const den = problem.parts === 0 ? size : 1;
      const before = best[step] ?? { num: 0, den: 1 };
      if (num * before.den > before.num * den) best[step] = { num, den, worst: target };
    });
  }
  const divisors = best.map(({ num, den }) => gcd(num, den));
  return {
    steps: best.length,
    loadNum: Int32Array.from(best, ({ num }, i) => num / divisors[i]),
    loadDen: Int32Array.from(best, ({ den }, i) => den / divisors[i]),
    worst: Int32Array.from(best, ({ worst }) => worst),
  };
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

/** Returns T_B in units of M / B: the sum of loads times degree / nodes. */
export const bandwidthTime = ({ steps, loadNum, loadDen }: Balance, degree: number, nodes: number): number =>
  range(steps).reduce((sum, i) => sum + loadNum[i] / loadDen[i], 0) * (degree / nodes);
