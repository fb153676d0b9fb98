import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/engine/types.ts";
import { downstreamFirst, movesOf } from "../../../src/lower/moves.ts";
import { holds, plainEngine, STEP_CASES, scheduleOf, TREE_CASES, titleOf } from "../../support/lowering-cases.ts";
import { runMoves } from "../../support/moves-run.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await plainEngine();
});
afterAll(() => engine.close());

describe("movesOf", () => {
  it.each([...STEP_CASES, ...TREE_CASES].map((what) => [titleOf(what), what] as const))("%s", async (_, what) => {
    const moves = movesOf(await scheduleOf(engine, what));
    const { collective, rankCount, rootRank, chunksPerBlock, chunkCount } = moves;
    const blockOf = (chunk: number) => Math.floor(chunk / chunksPerBlock);
    const at = (when: "start" | "end") => (rank: number, chunk: number) =>
      holds(collective.kind, when, rank, blockOf(chunk), rankCount, rootRank);
    const end = runMoves(moves, at("start"));
    for (let rank = 0; rank < rankCount; rank++) {
      for (let chunk = 0; chunk < chunkCount; chunk++) {
        if (!at("end")(rank, chunk)) continue;
        const from = Array.from({ length: rankCount }, (_, r) => r).filter((r) => at("start")(r, chunk));
        expect([...end[rank][chunk]].sort((a, b) => a[0] - b[0])).toEqual(from.map((r) => [r, 1]));
      }
    }
    moves.chunk.forEach((chunk, m) => {
      expect(blockOf(chunk)).toBe(blockOf(chunk + moves.chunks[m] - 1));
      expect(moves.arrivesAt[m]).toBeGreaterThan(moves.departsAt[m]);
    });
  });
});

describe("downstreamFirst", () => {
  it("puts arrivals at the end of a path first", () => {
    const inOrder = downstreamFirst(Int32Array.of(0, 1, 2), Int32Array.of(1, 2, 3));
    expect([...inOrder(Uint32Array.of(0, 1, 2))]).toEqual([2, 1, 0]);
  });

  it("cuts a circle at one place", () => {
    const inOrder = downstreamFirst(Int32Array.of(0, 1, 2), Int32Array.of(1, 2, 0));
    expect([...inOrder(Uint32Array.of(0, 1, 2))]).toEqual([1, 0, 2]);
  });
});
