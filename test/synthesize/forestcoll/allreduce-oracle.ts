import type { LpRows, LpSolver } from "../../../src/engine/contract/programs.ts";
import { add, compare, multiply, type Rational, rational, subtract } from "../../../src/model/numbers/rational.ts";
import { linkCount, nodeCount, type Topology } from "../../../src/model/topology/topology.ts";
import type { AllReduceRates } from "../../../src/synthesize/forestcoll/allreduce-rates.ts";

/** Optimal rates of trees and the proof of an all-reduce's by other means: the dissertation's own linear program, and the definitions. */

/** A linear program in the making: variables >= 0, rows as lists of [variable, coefficient]. */
export class Program {
  private readonly objective: number[] = [];
  private readonly rows: { terms: readonly (readonly [number, number])[]; lower: number; upper: number }[] = [];

  variable(objective = 0): number {
    return this.objective.push(objective) - 1;
  }

  /** lower <= sum of the terms <= upper. */
  row(terms: readonly (readonly [number, number])[], lower: number, upper: number): void {
    const sums = new Map<number, number>();
    for (const [variable, value] of terms) sums.set(variable, (sums.get(variable) ?? 0) + value);
    this.rows.push({ terms: [...sums].filter(([, value]) => value !== 0), lower, upper });
  }

  solve(solver: LpSolver): number {
    const offset = new Int32Array(this.rows.length + 1);
    this.rows.forEach(({ terms }, i) => {
      offset[i + 1] = (offset[i] as number) + terms.length;
    });
    const rows: LpRows = {
      lower: Float64Array.from(this.rows, ({ lower }) => lower),
      upper: Float64Array.from(this.rows, ({ upper }) => upper),
      offset,
      column: Int32Array.from(this.rows.flatMap(({ terms }) => terms.map(([variable]) => variable))),
      value: Float64Array.from(this.rows.flatMap(({ terms }) => terms.map(([, value]) => value))),
    };
    const columns = this.objective.length;
    const { status, objective } = solver.solve({
      objective: Float64Array.from(this.objective),
      lower: new Float64Array(columns),
      upper: new Float64Array(columns).fill(Number.POSITIVE_INFINITY),
      rows,
    });
    if (status !== "optimal") throw new Error(`the oracle's program is ${status}`);
    return objective;
  }
}

/** Which way trees go: from their roots, as an all-gather's, to them, as a reduce-scatter's, or both, as an all-reduce's. */
const WAYS = { allgather: ["out"], reducescatter: ["in"], allreduce: ["out", "in"] } as const;

/**
 * Returns the value of (B.5) of Zhao 2026 with the variables b' of B.7, letter by letter: for each direction a multi-commodity
 * flow through the network realizes capacities b' between members, and for each member a flow in those brings it everything.
 * What goes one way only has one direction, and the same share of every member.
 */
export function flowProgramRate(
  topology: Topology,
  members: readonly number[],
  solver: LpSolver,
  kind: keyof typeof WAYS = "allreduce",
): number {
  const program = new Program();
  const links = linkCount(topology);
  const infinity = Number.POSITIVE_INFINITY;
  const x =
    kind === "allreduce"
      ? members.map(() => program.variable(1))
      : Array<number>(members.length).fill(program.variable(members.length));
  const capacity = WAYS[kind].map((way) => ({ way, column: Array.from({ length: links }, () => program.variable()) }));
  for (let l = 0; l < links; l++) {
    const used = capacity.map(({ column }) => [column[l] as number, 1] as const);
    program.row(used, 0, topology.linkBytesPerSecond[l] as number);
  }
  for (const { way, column } of capacity) {
    const tail = way === "out" ? topology.linkSource : topology.linkTarget;
    const head = way === "out" ? topology.linkTarget : topology.linkSource;
    // [from][to] capacity between members, and what of it each link carries, by the member it comes from
    const between = members.map((_, a) => members.map((_, b) => (a === b ? -1 : program.variable())));
    const carried = members.map(() => Array.from({ length: links }, () => program.variable()));
    for (let l = 0; l < links; l++) {
      program.row([[column[l] as number, 1], ...carried.map((flow) => [flow[l] as number, -1] as const)], 0, infinity);
    }
    members.forEach((from, a) => {
      for (let v = 0; v < nodeCount(topology); v++) {
        if (v === from) continue;
        const terms: [number, number][] = [];
        for (let l = 0; l < links; l++) {
          if (head[l] === v) terms.push([carried[a]?.[l] as number, 1]);
          if (tail[l] === v) terms.push([carried[a]?.[l] as number, -1]);
        }
        const b = members.indexOf(v);
        if (b >= 0) terms.push([between[a]?.[b] as number, -1]);
        program.row(terms, 0, 0);
      }
    });
    members.forEach((_, sink) => {
      const fed = members.map(() => program.variable());
      const flow = members.map((_, a) => members.map((_, b) => (a === b ? -1 : program.variable())));
      members.forEach((_, a) => {
        const root = [
          [x[a] as number, 1],
          [fed[a] as number, -1],
        ] as const;
        program.row(root, 0, infinity);
        const inflow: [number, number][] = [[fed[a] as number, 1]];
        members.forEach((_, b) => {
          if (a === b) return;
          const pair = [
            [between[a]?.[b] as number, 1],
            [flow[a]?.[b] as number, -1],
          ] as const;
          program.row(pair, 0, infinity);
          inflow.push([flow[b]?.[a] as number, 1], [flow[a]?.[b] as number, -1]);
        });
        if (a === sink) for (const share of x) inflow.push([share, -1]);
        program.row(inflow, 0, infinity);
      });
    });
  }
  return program.solve(solver);
}

const ZERO = rational(0);
const sumOf = (values: Iterable<Rational>): Rational => [...values].reduce(add, ZERO);

/** Returns what the certificate proves, from the definition; throws where it proves nothing. */
export function certifiedRate(topology: Topology, members: readonly number[], rates: AllReduceRates): Rational {
  const { certificate } = rates;
  if (certificate === null) throw new Error("no certificate");
  const cuts = certificate.cuts.map((cut) => ({ ...cut, inside: new Set(cut.nodes) }));
  for (const { nodes, inside, weight } of cuts) {
    if (!nodes.every((v, i) => i === 0 || (nodes[i - 1] as number) < v)) throw new Error("nodes are not ascending");
    if (members.every((v) => inside.has(v))) throw new Error("a set lacks no member");
    if (weight.num < 0n) throw new Error("a negative weight");
  }
  for (const v of members) {
    const around = sumOf(cuts.filter(({ inside }) => inside.has(v)).map(({ weight }) => weight));
    if (compare(around, rational(1)) < 0) throw new Error(`the sets around ${v} weigh too little`);
    if (certificate.potentials.some(({ node }) => node === v)) throw new Error(`member ${v} has a potential`);
  }
  const bounds = Array.from(topology.linkBytesPerSecond, (bandwidth, link) => {
    const from = topology.linkSource[link] as number;
    const to = topology.linkTarget[link] as number;
    const price = (direction: "out" | "in"): Rational => {
      const [near, far] = direction === "out" ? [from, to] : [to, from];
      const crossed = cuts.filter((c) => c.direction === direction && c.inside.has(near) && !c.inside.has(far));
      const at = (node: number): Rational => certificate.potentials.find((p) => p.node === node)?.[direction] ?? ZERO;
      return add(sumOf(crossed.map(({ weight }) => weight)), subtract(at(to), at(from)));
    };
    const most = [ZERO, price("out"), price("in")].reduce((a, b) => (compare(a, b) < 0 ? b : a));
    return multiply(most, rational(bandwidth));
  });
  return sumOf(bounds);
}

/** Returns what is wrong with a solution, all cuts looked at; empty: nothing. For few nodes. */
export function faultsOf(topology: Topology, members: readonly number[], rates: AllReduceRates): string[] {
  const faults: string[] = [];
  const { copies, outCapacity, inCapacity, copyBytesPerSecond } = rates;
  const nodes = nodeCount(topology);
  const total = copies.reduce((sum, x) => sum + BigInt(x), 0n);
  if (compare(rates.rate, multiply(rational(total), copyBytesPerSecond)) !== 0) faults.push("rate");
  topology.linkBytesPerSecond.forEach((bandwidth, l) => {
    const used = rational(BigInt(outCapacity[l] as number) + BigInt(inCapacity[l] as number));
    if (compare(multiply(used, copyBytesPerSecond), rational(bandwidth)) > 0) faults.push(`link ${l}`);
  });
  const ways = [
    { name: "out", capacity: outCapacity, tail: topology.linkSource, head: topology.linkTarget },
    { name: "in", capacity: inCapacity, tail: topology.linkTarget, head: topology.linkSource },
  ];
  for (const { name, capacity, tail, head } of ways) {
    for (let set = 1; set < 2 ** nodes; set++) {
      const inside = (v: number): boolean => ((set >> v) & 1) === 1;
      let leaving = 0n;
      let entering = 0n;
      capacity.forEach((c, l) => {
        if (inside(tail[l] as number) && !inside(head[l] as number)) leaving += BigInt(c);
        if (!inside(tail[l] as number) && inside(head[l] as number)) entering += BigInt(c);
      });
      const within = members.map((v, rank) => (inside(v) ? BigInt(copies[rank] as number) : 0n));
      const shares = within.reduce((sum, x) => sum + x, 0n);
      if (members.some((v) => !inside(v)) && shares > leaving) faults.push(`${name}: cut ${set.toString(2)}`);
      const only = Math.log2(set);
      if (Number.isInteger(only) && !members.includes(only) && leaving !== entering)
        faults.push(`${name}: node ${only}`);
    }
  }
  return faults;
}
