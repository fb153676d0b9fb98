import type { Rational } from "../numbers/rational.ts";

/** What proves a bound; anyone can recompute the time from it. */
export type Witness =
  | {
      /** The chunks that must cross the border of the nodes S cannot do so faster. */
      readonly kind: "cut";
      readonly nodes: readonly number[];
      /** "in": they must enter S; "out": they must leave it (enter its complement). */
      readonly direction: "in" | "out";
      readonly npusInside: number;
      /** Bandwidth of the links that cross the border in that direction, GB/s. */
      readonly entryGBps: number;
      /** Chunks (or bytes, for a limit) that must cross. */
      readonly demand: string;
      /** Nothing can cross before it has come from this NPU over the fastest routes. */
      readonly from?: number;
      /** After it has crossed, the last one must still reach this NPU. */
      readonly to?: number;
    }
  | {
      /** What enters S last must still be spread inside it, to `npu`: at least these chunks arrive at S from `afterPs` on. */
      readonly kind: "tail";
      readonly nodes: readonly number[];
      /** "in": chunks spread inside S; "out": the time-reversed view, contributions gather inside S before they leave. */
      readonly direction: "in" | "out";
      readonly npusInside: number;
      readonly entryGBps: number;
      readonly npu: number;
      readonly afterPs: number;
      readonly demand: string;
    }
  | { readonly kind: "work"; readonly demand: string; readonly totalGBps: number }
  | {
      /** All-reduce: weighted cuts (DualCertificate) leave no better way to share links between reduction and broadcast. */
      readonly kind: "dual";
      readonly cuts: readonly {
        readonly nodes: readonly number[];
        readonly direction: "in" | "out";
        readonly weight: string;
      }[];
    }
  | {
      /** All-to-all: what is sent uses as much length of links as source and target are apart under these lengths (dual of LP A.1, Zhao 2026). */
      readonly kind: "lengths";
      /** [links] whole numbers >= 0. */
      readonly lengths: readonly number[];
    }
  | { readonly kind: "latency"; readonly from: number; readonly to: number }
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
      return { ...witness, direction: witness.direction === "in" ? "out" : "in" };
    case "dual":
      return {
        kind: "dual",
        cuts: witness.cuts.map((cut) => ({ ...cut, direction: cut.direction === "in" ? "out" : "in" })),
      };
    case "latency":
      return { kind: "latency", from: witness.to, to: witness.from };
    default:
      return witness;
  }
}
