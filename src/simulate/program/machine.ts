import type { Program } from "../../model/program/program.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Adds } from "./mechanisms.ts";
import type { ProgramNetwork } from "./network.ts";
import type { ProgramRoutes } from "./routes.ts";
import type { Sizes } from "./sizes.ts";

/** What the machines of both kinds of programs are given. */
export interface Setup {
  readonly program: Program;
  readonly topology: Topology;
  readonly npuOfRank: Int32Array;
  readonly adds: Adds;
  readonly sizes: Sizes;
  readonly network: ProgramNetwork;
  readonly routes: ProgramRoutes;
  readonly timeline: TimelineDraft;
  /** Picoseconds that a thread block takes to send, receive, copy or add a byte; 0: none of its own. */
  readonly localPsPerByte: number;
  readonly onProgress: (done: number, total: number) => void;
}

/** What a machine tells when nothing happens any more. */
export interface Outcome {
  /** [blocks] when its last instruction was complete. */
  readonly blockEndPs: Float64Array;
  readonly instructions: number;
  /** Instructions that wait for ever. */
  readonly stuck: readonly number[];
}

/** Events between two reports of progress. */
export const REPORT = 65_536;

/** Messages of a simulation, in the order in which they were sent. Columns. */
export interface ProgramTimeline {
  /** [messages] when the first link began to send it, and when its last byte arrived. */
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
  /** [messages] ranks, and the instruction that moves it. */
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly instruction: Int32Array;
}

/** A timeline while it grows; nothing is kept where nobody asked for it. */
interface TimelineDraft {
  readonly begin: (startPs: number, source: number, target: number, instruction: number) => number;
  readonly end: (row: number, endPs: number) => void;
  readonly columns: () => ProgramTimeline | undefined;
}

/** Returns an empty timeline. */
export function timelineDraft(wanted: boolean): TimelineDraft {
  if (!wanted) return { begin: () => -1, end: () => {}, columns: () => undefined };
  const [start, end, from, to, by]: number[][] = [[], [], [], [], []];
  return {
    begin(startPs, source, target, instruction) {
      end.push(startPs);
      from.push(source);
      to.push(target);
      by.push(instruction);
      return start.push(startPs) - 1;
    },
    end: (row, endPs) => {
      if (row >= 0) end[row] = endPs;
    },
    columns: () => ({
      startPs: Float64Array.from(start),
      endPs: Float64Array.from(end),
      source: Int32Array.from(from),
      target: Int32Array.from(to),
      instruction: Int32Array.from(by),
    }),
  };
}

/** Who waits for what: lists of waiters by resource; everyone waits for one resource at a time. */
interface Waiting {
  /** [resources] -1: nobody. */
  readonly first: Int32Array;
  /** [waiters] */
  readonly next: Int32Array;
}

export const waiting = (resources: number, waiters: number): Waiting => ({
  first: new Int32Array(resources).fill(-1),
  next: new Int32Array(waiters).fill(-1),
});

/** Adds a waiter. */
export function waitOn({ first, next }: Waiting, resource: number, waiter: number): void {
  next[waiter] = first[resource];
  first[resource] = waiter;
}

/** Takes the waiter that came last out and hands it on, where there is one. */
export function wakeOne({ first, next }: Waiting, resource: number, wake: (waiter: number) => void): void {
  const waiter = first[resource];
  if (waiter < 0) return;
  first[resource] = next[waiter];
  wake(waiter);
}

/** Takes all waiters of a resource out, last come first, and hands them on. */
export function wakeAll({ first, next }: Waiting, resource: number, wake: (waiter: number) => void): void {
  let waiter = first[resource];
  first[resource] = -1;
  while (waiter >= 0) {
    const after = next[waiter];
    wake(waiter);
    waiter = after;
  }
}
