import { describe, expect, test } from "vitest";
import { INPUT, OUTPUT, type Program, SCRATCH, WAIT_EVENT, WAIT_INSTRUCTION } from "../../src/model/program/program.ts";
import {
  type Operand,
  type ProgramBuilder,
  type ProgramHeader,
  programBuilder,
} from "../../src/model/program/program-builder.ts";
import { verifyProgram } from "../../src/verify/program/program.ts";
import { programHeader } from "../support/program-header.ts";

const at = (rank: number, buffer: number, index: number, packet = false): Operand => ({ rank, buffer, index, packet });

/** Returns a program of two ranks whose root, or whose first rank, brings `chunks` chunks to the other. */
function program(
  machine: Program["machine"],
  chunks: number,
  add: (b: ProgramBuilder) => void,
  more: Partial<ProgramHeader>,
) {
  const builder = programBuilder();
  add(builder);
  const scratchChunks = Int32Array.of(chunks, chunks);
  const apart = { inPlace: false, outOfPlace: true, scratchChunks, ...more };
  return builder.build(programHeader(machine, "broadcast", 2, chunks, apart));
}

const kinds = (of: Program): string[] => verifyProgram(of).violations.map(({ kind }) => kind);

describe("verifyProgram, on what is in order", () => {
  test("a copy of memory onto itself undoes what another block writes there, unless it comes before or after", () => {
    const broadcast = (waits: boolean): Program =>
      program(
        "msccl",
        1,
        (b) => {
          b.addRank();
          b.addBlock({ id: 0, sendPeer: 1 });
          b.add({ op: "s", chunks: 1, sends: true, sources: [at(0, INPUT, 0)] });
          b.addRank();
          b.addBlock({ id: 0, recvPeer: 0 });
          const received = b.add({
            ...{ op: "r", chunks: 1, receives: true, publishes: true },
            destinations: [at(1, OUTPUT, 0)],
          });
          b.addBlock({ id: 1 });
          b.add({
            ...{ op: "cpy", chunks: 1, sources: [at(1, INPUT, 0)], destinations: [at(1, OUTPUT, 0)] },
            waits: waits ? [{ kind: WAIT_INSTRUCTION, on: received }] : [],
          });
        },
        { inPlace: true, outOfPlace: false },
      );
    expect(kinds(broadcast(true))).toEqual([]);
    expect(kinds(broadcast(false))).toEqual(["race"]);
  });

  test("of two signals that follow no nop either may come first: each brings its data once both are there", () => {
    const broadcast = (nop: boolean, waitsAtOnce: number): Program =>
      program(
        "mscclpp",
        2,
        (b) => {
          const event = b.addEvent({ rank: 1, peer: 0, id: 0, via: "port" });
          b.addRank();
          b.addBlock({ id: 0 });
          b.add({ op: "copy", chunks: 2, sources: [at(0, INPUT, 0)], destinations: [at(0, OUTPUT, 0)] });
          for (const k of [0, 1]) {
            const to = [at(1, SCRATCH, k)];
            b.add({ op: "pws", via: "port", chunks: 1, sources: [at(0, INPUT, k)], destinations: to, posts: [event] });
            if (nop) b.add({ op: "nop" });
          }
          b.addRank();
          b.addBlock({ id: 0 });
          for (const k of [0, 1]) {
            if (k % waitsAtOnce === 0)
              for (let n = 0; n < waitsAtOnce; n++)
                b.add({ op: "wait", via: "port", waits: [{ kind: WAIT_EVENT, on: event }] });
            b.add({ op: "nop" });
            b.add({ op: "copy", chunks: 1, sources: [at(1, SCRATCH, k)], destinations: [at(1, OUTPUT, k)] });
          }
        },
        {},
      );
    expect(kinds(broadcast(false, 2))).toEqual([]);
    expect(kinds(broadcast(true, 1))).toEqual([]);
    expect(kinds(broadcast(false, 1))).toEqual(["race"]);
  });

  test("a packet tells of its own chunk, not of others in which its instruction reads the same memory", () => {
    const overwrites = (...read: readonly number[]): Program =>
      program(
        "mscclpp",
        3,
        (b) => {
          b.addRank();
          b.addBlock({ id: 0 });
          const sources = read.map((index) => at(0, INPUT, index));
          b.add({ op: "respkt", chunks: 2, sources, destinations: [at(1, SCRATCH, 0, true)] });
          b.addRank();
          b.addBlock({ id: 0 });
          b.add({ op: "put", chunks: 1, sources: [at(1, SCRATCH, 1, true)], destinations: [at(0, INPUT, 1)] });
        },
        { collective: "custom" },
      );
    expect(kinds(overwrites(0, 0))).toEqual([]);
    expect(kinds(overwrites(0, 1))).toEqual(["race"]);
    expect(kinds(overwrites(1, 0))).toEqual(["race"]);
  });

  /** Blocks that copy a chunk into scratch and release one semaphore, and one that acquires it as often, at once or before each that it reads. */
  const copiesToScratch = (blocks: number, initial: number, atOnce: boolean): Program =>
    program(
      "mscclpp",
      blocks,
      (b) => {
        const event = b.addEvent({ rank: 0, peer: 0, id: 0, via: "local", initial });
        b.addRank();
        for (let k = 0; k < blocks; k++) {
          b.addBlock({ id: k });
          b.add({ op: "copy", chunks: 1, sources: [at(0, INPUT, k)], destinations: [at(0, SCRATCH, k)] });
          b.add({ op: "nop" });
          b.add({ op: "sem_release", posts: [event] });
        }
        b.addBlock({ id: blocks });
        const acquire = (): number => b.add({ op: "sem_acquire", waits: [{ kind: WAIT_EVENT, on: event }] });
        if (atOnce) for (let k = 0; k < blocks; k++) acquire();
        for (let k = 0; k < blocks; k++) {
          if (!atOnce) acquire();
          b.add({ op: "nop" });
          b.add({ op: "copy", chunks: 1, sources: [at(0, SCRATCH, k)], destinations: [at(0, OUTPUT, k)] });
        }
        b.addRank();
      },
      { collective: "custom" },
    );

  test("a semaphore that counts 1 at the start is acquired before it is released", () => {
    expect(kinds(copiesToScratch(1, 0, true))).toEqual([]);
    expect(kinds(copiesToScratch(1, 1, true))).toEqual(["race"]);
  });

  test("of two blocks that release a semaphore either may be first: both are sure to have done so after two acquires", () => {
    expect(kinds(copiesToScratch(2, 0, true))).toEqual([]);
    expect(kinds(copiesToScratch(2, 0, false))).toEqual(["race"]);
  });

  test("of two blocks that acquire a semaphore either may be first: one release must do for whoever posts the next", () => {
    const handedOn = (blocks: number): Program =>
      program(
        "mscclpp",
        1,
        (b) => {
          const event = b.addEvent({ rank: 0, peer: 0, id: 0, via: "local" });
          b.addRank();
          b.addBlock({ id: 0 });
          b.add({ op: "sem_release", posts: [event] });
          for (let id = 1; id <= blocks; id++) {
            b.addBlock({ id });
            b.add({ op: "sem_acquire", waits: [{ kind: WAIT_EVENT, on: event }] });
            b.add({ op: "nop" });
            if (id < blocks) b.add({ op: "sem_release", posts: [event] });
          }
          b.addRank();
        },
        { collective: "custom" },
      );
    expect(kinds(handedOn(1))).toEqual([]);
    expect(kinds(handedOn(2))).toEqual(["deadlock"]);
  });
});
