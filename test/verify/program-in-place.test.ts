import { describe, expect, test } from "vitest";
import { INPUT, OUTPUT, type Program } from "../../src/model/program/program.ts";
import { type ProgramBuilder, programBuilder } from "../../src/model/program/program-builder.ts";
import { verifyProgram } from "../../src/verify/program/program.ts";
import { programHeader } from "../support/program-header.ts";

const RANKS = 3;

/** Returns a program in which the root (0) exchanges a chunk with every other rank, which names its own by (buffer, index). */
function star(
  collective: "gather" | "scatter",
  own: (rank: number) => readonly [buffer: number, index: number],
): Program {
  const builder = programBuilder();
  const toRoot = collective === "gather";
  const move = (b: ProgramBuilder, rank: number, buffer: number, index: number, sends: boolean): void => {
    const operands = [{ rank, buffer, index }];
    if (sends) b.add({ op: "s", chunks: 1, sends: true, sources: operands });
    else b.add({ op: "r", chunks: 1, receives: true, destinations: operands });
  };
  builder.addRank();
  for (let peer = 1; peer < RANKS; peer++) {
    builder.addBlock({ id: peer - 1, sendPeer: toRoot ? -1 : peer, recvPeer: toRoot ? peer : -1 });
    move(builder, 0, toRoot ? OUTPUT : INPUT, peer, !toRoot);
  }
  for (let rank = 1; rank < RANKS; rank++) {
    builder.addRank();
    builder.addBlock({ id: 0, sendPeer: toRoot ? 0 : -1, recvPeer: toRoot ? -1 : 0 });
    move(builder, rank, ...own(rank), toRoot);
  }
  return builder.build(programHeader("msccl", collective, RANKS, RANKS));
}

describe("verifyProgram, on calls in place", () => {
  test.each([
    ["gather", INPUT, OUTPUT],
    ["scatter", OUTPUT, INPUT],
  ] as const)(
    "a %s leaves other ranks one part, under its number in the part and in the whole",
    (kind, part, whole) => {
      expect(verifyProgram(star(kind, () => [part, 0])).violations).toEqual([]);
      expect(verifyProgram(star(kind, (rank) => [whole, rank])).violations).toEqual([]);
      const other = verifyProgram(star(kind, (rank) => [whole, RANKS - rank]));
      expect(other.violations.map((violation) => violation.kind)).toEqual(["bounds", "bounds"]);
    },
  );
});
