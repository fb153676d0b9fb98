import { InfeasibleError } from "../../base/errors.ts";
import { compare, divide, multiply, type Rational, rational } from "../numbers/rational.ts";
import { PS_PER_SECOND } from "../numbers/units.ts";
import type { Topology } from "../topology/topology.ts";
import type { LagWitness } from "./lag.ts";

/** What proves a bound; anyone can recompute the time from it. */
export type Witness =
  | ({
      /** The chunks that must cross the border of the nodes S cannot do so faster. */
      readonly kind: "cut";
      readonly nodes: readonly number[];
      /** "in": they must enter S; "out": they must leave it (enter its complement). */
      readonly direction: "in" | "out";
      readonly npusInside: number;
      /** Bandwidth of the links that cross the border in that direction, GB/s. */
      readonly entryGBps: number;
      /** Of whole chunks over given routes: bandwidth of the links that these charge there, where that is less. */
      readonly usedGBps?: number;
      /** Chunks (or bytes, for a limit) that must cross. */
      readonly demand: string;
      /** How many chunks they are; of several collectives all together. */
      readonly chunks?: number;
      /** Where they are given as bytes: exact, "1073741824" or "1/3". */
      readonly bytes?: string;
      /** Nothing can cross before it has come from this NPU over the fastest routes. */
      readonly from?: number;
      /** After it has crossed, the last one must still reach this NPU. */
      readonly to?: number;
    } & LagWitness)
  | ({
      /** What must go from one part of the NPUs to another cannot leave the parts, or enter them, faster (tryPartition). */
      readonly kind: "partition";
      readonly side: "in" | "out";
      readonly parts: number;
      /** The part of every node in order, as runs: part of the first, nodes, 1 where each stands in the next part, 0 in the same; -1: in none. */
      readonly nodes: readonly (readonly [part: number, nodes: number, step: 0 | 1])[];
      /** Switches that only forward and stand with a part, perhaps with several: part, first switch, how many. */
      readonly along: readonly (readonly [part: number, first: number, count: number])[];
      /** What must cross on that side in all, exact: "1073741824" or "1/3". */
      readonly bytes: string;
      /** Bandwidth of the borders of all parts on that side, exact. */
      readonly bytesPerSecond: string;
      readonly totalGBps: number;
    } & LagWitness)
  | {
      /** What enters S last must still be spread inside it, to `npu`: at least these chunks arrive at S from `afterPs` on. */
      readonly kind: "tail";
      readonly nodes: readonly number[];
      /** "in": chunks spread inside S; "out": the time-reversed view, contributions gather inside S before they leave. */
      readonly direction: "in" | "out";
      readonly npusInside: number;
      readonly entryGBps: number;
      readonly usedGBps?: number;
      readonly npu: number;
      readonly afterPs: number;
      readonly demand: string;
      readonly chunks?: number;
    }
  | {
      readonly kind: "work";
      readonly demand: string;
      /** Bandwidth of the links that count, GB/s: of whole chunks, those that the routes use. */
      readonly totalGBps: number;
      /** Bandwidth of all links of the network, GB/s, where that is more than what counts. */
      readonly networkGBps?: number;
      /** [links] Where ways are weighted: what a link counts. */
      readonly lengths?: readonly number[];
      /** [nodes] Where only what goes from part to part counts: the part of each, -1 for none. */
      readonly part?: readonly number[];
      /** Where it is of phases: the dimensions. */
      readonly dimensions?: readonly number[];
    }
  | {
      /** All-reduce: weighted cuts (DualCertificate) leave no better way to share links between reduction and broadcast. */
      readonly kind: "dual";
      readonly cuts: readonly {
        readonly nodes: readonly number[];
        readonly direction: "in" | "out";
        readonly weight: string;
      }[];
      /** Of nodes that only forward: "-1/3". */
      readonly potentials?: readonly { readonly node: number; readonly out: string; readonly in: string }[];
    }
  | {
      /** All-to-all: what is sent uses as much length of links as source and target are apart under these lengths (dual of LP A.1, Zhao 2026). */
      readonly kind: "lengths";
      /** [links] whole numbers >= 0. */
      readonly lengths: readonly number[];
    }
  | { readonly kind: "latency"; readonly from: number; readonly to: number }
  | {
      /** A message brings only what its sender has when it begins, so latencies add up (doublingBoundOf). */
      readonly kind: "doubling";
      /** "in": what is received; "out": what is sent, which is the same in reversed time. */
      readonly direction: "in" | "out";
      /** Different chunks; or copies of one chunk ("in": contributions in one sum). */
      readonly what: "chunks" | "copies";
      /** How many there must be, and how many there can be at the start. */
      readonly count: number;
      readonly known: number;
      /** Messages that a set receives, or sends, at a time. */
      readonly ways: number;
      /** Sets of NPUs that faster routes join; each NPU by itself where there are as many. */
      readonly sets: number;
      /** What a round takes, each of which multiplies what is known by 1 + ways at most; and each chunk besides, over all ways. */
      readonly rounds: number;
      readonly roundPs: number;
      readonly chunkPs: number;
    }
  | {
      /** A mixed-integer program that describes every schedule that ends before the bound has no solution. */
      readonly kind: "program";
      /** What it describes: "whole chunks, each sent by itself, in time slots of 21.47 us". */
      readonly model: string;
      /** Slots that are too few. */
      readonly slots: number;
      readonly columns: number;
      readonly rows: number;
      /** Nodes of the search tree; 0 where its linear relaxation already has no solution. */
      readonly nodes: number;
    }
  | { readonly kind: "nothing" };

/** A proved lower bound on the time of a collective. */
export interface Bound {
  /** Exact, in picoseconds. */
  readonly ps: Rational;
  readonly witness: Witness;
}

/** Returns the witness as it reads when time (and every link) is turned around again. */
export function reversedWitness(witness: Witness): Witness {
  switch (witness.kind) {
    case "cut": {
      const { from, to, ...rest } = witness;
      return {
        ...rest,
        direction: witness.direction === "in" ? "out" : "in",
        ...(to === undefined ? {} : { from: to }),
        ...(from === undefined ? {} : { to: from }),
      };
    }
    case "tail":
    case "doubling":
      return { ...witness, direction: witness.direction === "in" ? "out" : "in" };
    case "partition":
      return { ...witness, side: witness.side === "in" ? "out" : "in" };
    case "dual":
      return {
        ...witness,
        cuts: witness.cuts.map((cut) => ({ ...cut, direction: cut.direction === "in" ? "out" : "in" })),
      };
    case "latency":
      return { kind: "latency", from: witness.to, to: witness.from };
    default:
      return witness;
  }
}

/** The largest bound found so far; a later one must be strictly larger to replace it. */
export interface Best {
  ps: Rational;
  witness: Witness;
  /** The bound in whole picoseconds, for bounds that are whole. */
  wholePs: number;
}

export const nothingYet = (): Best => ({ ps: rational(0), witness: { kind: "nothing" }, wholePs: 0 });

export function offerWhole(best: Best, ps: number, witness: () => Witness): void {
  if (ps <= best.wholePs) return;
  best.wholePs = ps;
  best.ps = rational(ps);
  best.witness = witness();
}

export function offerRational(best: Best, ps: Rational, witness: () => Witness): void {
  if (compare(ps, best.ps) <= 0) return;
  best.ps = ps;
  best.witness = witness();
}

export const asBound = (best: Best): Bound => ({ ps: best.ps, witness: best.witness });

/** Returns the error for a pair of NPUs that must be connected and are not. */
export function unreachable(topology: Topology, from: number, to: number): InfeasibleError {
  const { nodeNames } = topology;
  return new InfeasibleError(`no path leads from ${nodeNames[from]} to ${nodeNames[to]}`, { from, to });
}

/** Returns the error for a set whose border chunks must cross where nothing does. */
export function noWay(
  topology: Topology,
  nodes: ArrayLike<number>,
  direction: "in" | "out",
  demand: number,
): InfeasibleError {
  const names = Array.from(nodes, (v) => topology.nodeNames[v]);
  const shown = names.length > 4 ? `${names.slice(0, 4).join(", ")} and ${names.length - 4} more` : names.join(", ");
  return new InfeasibleError(
    `no route ${direction === "in" ? "enters" : "leaves"} ${shown}, but ${demand} chunks must`,
    { nodes: Array.from(nodes), direction, demand },
  );
}

/** Returns what `work` returns; an infeasibility that it finds in reversed time is described the right way around. */
export function inReversedTime<T>(topology: Topology, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof InfeasibleError)) throw error;
    const { from, to, nodes, direction, demand } = error.witness;
    if (from !== undefined) throw unreachable(topology, to as number, from as number);
    throw noWay(topology, nodes as number[], direction === "in" ? "out" : "in", demand as number);
  }
}

/**
 * Returns the bound on the time of an all-to-all that lengths of links prove, where every unit of demand is `bytes` and
 * `bytesPerSecond` is the sum of bandwidth * length over links by the sum of demand * distance over pairs: what is sent from s to
 * t uses length as much as their distance at least, and a link carries no more than its bandwidth times the time (dual of
 * LP A.1, Zhao 2026). Holds for any routes, chunks and latencies.
 */
export const lengthsBound = (lengths: Int32Array, bytesPerSecond: Rational, bytes: Rational): Bound => ({
  ps: divide(multiply(bytes, rational(PS_PER_SECOND)), bytesPerSecond),
  witness: { kind: "lengths", lengths: Array.from(lengths) },
});
