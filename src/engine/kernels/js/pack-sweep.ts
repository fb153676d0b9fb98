import { CancelledError } from "../../../base/errors.ts";
import type { CancelFlag } from "../../contract/kernels.ts";
import { DOUBLES, Flow } from "./flow.ts";
import { touch, touched } from "./lists.ts";
import type { PackNet } from "./pack-net.ts";
import type { PackState } from "./pack-state.ts";

/** Are there violated cuts? One maximum flow per NPU: the twin of native/kernels/pack_sweep.h, function by function. */
export class PackSweep {
  readonly #state: PackState;
  readonly #flow: Flow;
  /** [npus] sinks. */
  readonly #order: Int32Array;
  /** [npus] 1: in a violated set. */
  readonly #passed: Uint8Array;
  /** [npus] 1: all can flow into it. */
  readonly #enough: Uint8Array;
  /** [nodes + 1] */
  readonly #side: Uint8Array;

  constructor(state: PackState) {
    const { nodes, npus, graph } = state.net;
    this.#state = state;
    this.#flow = new Flow(graph, DOUBLES);
    this.#order = orderSinks(state.net);
    this.#passed = new Uint8Array(npus);
    this.#enough = new Uint8Array(npus);
    this.#side = new Uint8Array(nodes + 1);
  }

  /**
   * Calls found(inside, largest) for every violated set, marked in `inside` [nodes + 1]; with `tight` also for sets that have
   * nothing to spare, the smallest around their NPUs. The state may change meanwhile; the sets are of what it was.
   * `again`: since the last sweep trees have only been undone, so NPUs that could get all then still can.
   */
  run(
    tight: boolean,
    again: boolean,
    cancel: CancelFlag | undefined,
    found: (inside: Uint8Array, largest: boolean) => void,
  ): void {
    const flow = this.#flow;
    const order = this.#order;
    const side = this.#side;
    const all = this.#state.missing();
    const enough = this.#enough;
    this.#feed(all);
    if (!again) enough.fill(0);
    for (let v = 0; v < enough.length; v++) if (enough[v] !== 0) flow.feed(v, all);
    if (!tight) this.#screen(all, cancel);
    this.#passed.fill(0);
    for (let i = 0; i < order.length; i++) {
      const sink = order[i];
      if (this.#passed[sink] !== 0 || enough[sink] !== 0) continue;
      if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
      const into = flow.solve(sink, tight ? all + 1 : all);
      if (into < all || (tight && into === all)) {
        flow.markSinkSide(sink, side);
        if (this.#hasOutsider()) {
          if (into < all) this.#passOver();
          found(side, false);
        }
      }
      if (into < all) {
        this.#markLargest();
        this.#passOver();
        found(side, true);
      }
      flow.undo();
      if (into >= all) flow.feed(sink, all);
    }
  }

  /** Finds the NPUs that all can flow into. */
  #screen(all: number, cancel: CancelFlag | undefined): void {
    const flow = this.#flow;
    this.#passed.fill(0);
    for (let sink = 0; sink < this.#passed.length; sink++) {
      if (this.#passed[sink] !== 0 || this.#enough[sink] !== 0) continue;
      if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
      const enough = flow.solve(sink, all) >= all;
      if (!enough) {
        this.#markLargest();
        this.#passOver();
      }
      flow.undo();
      if (!enough) continue;
      flow.feed(sink, all);
      this.#enough[sink] = 1;
    }
  }

  /** Marks the largest violated set after a flow that fell short. */
  #markLargest(): void {
    const side = this.#side;
    this.#flow.markSourceSide(side);
    for (let v = 0; v < side.length; v++) side[v] = side[v] === 0 ? 1 : 0;
  }

  #feed(all: number): void {
    const { net, open, reached, unstarted, copies } = this.#state;
    const { nodes, npus, gate, graph } = net;
    for (let v = 0; v < npus; v++) graph.capacity[gate[v]] = open && reached[v] !== 0 ? all : 0;
    this.#flow.scale(1);
    for (let v = 0; v < npus; v++) this.#flow.feed(v, unstarted[v]);
    this.#flow.feed(nodes, open ? copies : 0);
  }

  #hasOutsider(): boolean {
    const { npus } = this.#state.net;
    for (let v = 0; v < npus; v++) if (this.#side[v] === 0) return true;
    return false;
  }

  #passOver(): void {
    const passed = this.#passed;
    for (let v = 0; v < passed.length; v++) if (this.#side[v] !== 0) passed[v] = 1;
  }
}

/** NPUs breadth-first over links in both directions, from the least that has not been reached. */
function orderSinks({ nodes, npus, graph }: PackNet): Int32Array {
  const { offset, tail } = graph;
  const seen = touched(nodes + 1);
  const order = new Int32Array(npus);
  seen.marks[nodes] = 1;
  let ordered = 0;
  let taken = 0;
  for (let start = 0; start < npus; start++) {
    touch(seen, start);
    for (; taken < seen.count; taken++) {
      const v = seen.list[taken];
      if (v < npus) order[ordered++] = v;
      for (let a = offset[v]; a < offset[v + 1]; a++) touch(seen, tail[a]);
    }
  }
  return order;
}
