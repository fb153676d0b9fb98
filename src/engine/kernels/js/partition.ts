import { CancelledError } from "../../../base/errors.ts";
import type { CancelFlag, PartitionProblem } from "../../contract/kernels.ts";
import { exactSum } from "../check.ts";
import {
  type Amount,
  type Amounts,
  type Arithmetic,
  BIGINTS,
  commonDivisor,
  DOUBLES,
  Flow,
  type FlowGraph,
  flowGraph,
  gcd,
} from "./flow.ts";
import { find, group, type Lists, NONE, range, unite } from "./lists.ts";

/** The JavaScript twin of native/kernels/partition.h, where the problem and the algorithm are explained: the same parts. */
export function partitionJs(problem: PartitionProblem, cancel?: CancelFlag): Int32Array {
  const divisor = commonDivisor(problem.capacity);
  const capacities = exactSum(problem.capacity) / BigInt(divisor);
  const fits = (capacities + 1n) * BigInt(problem.start.length) < 2n ** 51n;
  return new PartitionSearch(problem, divisor, capacities, fits ? DOUBLES : BIGINTS).run(cancel);
}

class PartitionSearch {
  readonly #problem: PartitionProblem;
  readonly #terminals: number;
  /** A node behind all others. */
  readonly #drain: number;
  readonly #of: (value: number) => Amount;
  readonly #graph: FlowGraph;
  readonly #flow: Flow;
  readonly #part: Int32Array;
  #parts = 0;
  /** [nodes + 1] */
  readonly #side: Uint8Array;
  /** [terminals] blocks so far. */
  readonly #parent: Int32Array;
  /** [1] of all capacities. */
  readonly #total: Amounts;
  /** The least ratio so far is p / q. */
  #p: Amount;
  #q: Amount;
  /** More than any flow. */
  #endless: Amount;

  constructor(problem: PartitionProblem, divisor: number, capacities: bigint, arithmetic: Arithmetic) {
    const { of, zeros } = arithmetic;
    this.#problem = problem;
    this.#terminals = problem.start.length;
    this.#drain = problem.nodeCount;
    this.#of = of;
    this.#graph = this.#build(divisor, arithmetic);
    this.#flow = new Flow(this.#graph, arithmetic);
    this.#part = new Int32Array(this.#terminals);
    this.#side = new Uint8Array(this.#drain + 1);
    this.#parent = range(this.#terminals);
    this.#total = zeros(1);
    this.#total[0] = (arithmetic === DOUBLES ? Number(capacities) : capacities) as Amount;
    this.#p = of(0);
    this.#q = of(1);
    this.#endless = of(0);
  }

  run(cancel?: CancelFlag): Int32Array {
    this.#number(this.#problem.start);
    if (this.#parts < 2) this.#number(range(this.#terminals));
    if (this.#parts < 2) return this.#part;
    this.#measure(group(this.#part, this.#parts), cancel);
    for (;;) {
      const sum = this.#truncate(cancel);
      if (!(sum + this.#p < this.#of(0))) return this.#part;
      this.#number(this.#parent.map((_, v) => find(this.#parent, v)));
      this.#p = sum + this.#of(this.#parts) * this.#p;
      this.#q *= this.#of(this.#parts - 1);
      this.#reduce();
    }
  }

  /** Returns the network turned around, with an arc from every terminal to the drain. */
  #build(divisor: number, arithmetic: Arithmetic): FlowGraph {
    const { linkSource, linkTarget, capacity } = this.#problem;
    const links = linkSource.length;
    const source = new Int32Array(links + this.#terminals);
    const target = new Int32Array(links + this.#terminals).fill(this.#drain);
    const capacities = new Float64Array(links + this.#terminals);
    source.set(linkTarget);
    source.set(range(this.#terminals), links);
    target.set(linkSource);
    capacities.set(capacity);
    const network = { nodeCount: this.#drain + 1, linkSource: source, linkTarget: target, capacity: capacities };
    const { nodeCount } = network;
    return flowGraph(network, divisor, group(source, nodeCount), group(target, nodeCount), arithmetic);
  }

  /** Numbers parts as they come. */
  #number(name: Int32Array): void {
    const number = new Int32Array(this.#terminals).fill(NONE);
    this.#parts = 0;
    for (let v = 0; v < this.#terminals; v++) {
      if (number[name[v]] === NONE) number[name[v]] = this.#parts++;
      this.#part[v] = number[name[v]];
    }
  }

  /** Returns the arc from a terminal to the drain: arcs ascend by tail. */
  #outlet(terminal: number): number {
    return this.#graph.offset[this.#drain] + terminal;
  }

  /** Feeds all terminals, and what goes with no part, without limit; nothing drains. */
  #refill(factor: Amount): void {
    this.#flow.scale(factor);
    this.#endless = factor * this.#total[0] + this.#of(1);
    for (let v = 0; v < this.#terminals; v++) this.#flow.feed(v, this.#endless);
    for (let v = this.#drain - this.#problem.outsideCount; v < this.#drain; v++) this.#flow.feed(v, this.#endless);
  }

  #drainInto(terminal: number, amount: Amount): void {
    this.#flow.widen(this.#outlet(terminal), amount > 0 ? amount : this.#of(0));
    this.#flow.feed(terminal, amount > 0 ? this.#of(0) : -amount);
  }

  #close(terminal: number): void {
    this.#flow.widen(this.#outlet(terminal), this.#of(0));
    this.#flow.feed(terminal, this.#endless);
  }

  /** Sets p/q to the ratio of the parts to begin with. */
  #measure({ offset, items }: Lists, cancel?: CancelFlag): void {
    this.#refill(this.#of(1));
    this.#p = this.#of(0);
    for (let i = 0; i < this.#parts; i++) {
      if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
      for (let j = offset[i]; j < offset[i + 1]; j++) this.#drainInto(items[j], this.#endless);
      this.#p += this.#flow.solve(this.#drain, this.#endless);
      this.#flow.undo();
      for (let j = offset[i]; j < offset[i + 1]; j++) this.#close(items[j]);
    }
    this.#q = this.#of(this.#parts - 1);
    this.#reduce();
  }

  #reduce(): void {
    const common = gcd(this.#p, this.#q);
    this.#p /= common;
    this.#q /= common;
  }

  /** Returns Dilworth's truncation of q f - p, whose blocks are the sets of #parent. */
  #truncate(cancel?: CancelFlag): Amount {
    const flow = this.#flow;
    this.#refill(this.#q);
    for (let v = 0; v < this.#terminals; v++) this.#parent[v] = v;
    let drained = this.#of(0);
    let sum = drained;
    for (let v = 0; v < this.#terminals; v++) {
      if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
      this.#drainInto(v, this.#endless);
      const x = flow.solve(this.#drain, drained + this.#endless) - drained - this.#p;
      flow.markSinkSide(this.#drain, this.#side);
      for (let u = 0; u < v; u++) if (this.#side[u] !== 0) unite(this.#parent, u, v);
      flow.undo();
      this.#drainInto(v, x);
      if (x > 0) drained += x;
      sum += x;
    }
    return sum;
  }
}
