import { describe, expect, it } from "vitest";
import { fewPieces } from "../../../src/model/messages/few-pieces.ts";
import { type Pieces, piecesOf } from "../../../src/model/messages/pieces.ts";
import { roundsOf } from "../../../src/model/messages/rounds.ts";
import { make, ring, ringAllReduce, task } from "../../support/hand-made-schedules.ts";
import { simpleSchedule } from "../../support/simple-schedules.ts";

/** Returns how many messages carry something, and for each round the most that an NPU sends or receives, in blocks, added up. */
function costs({ first, rounds }: Pieces, chunks: Int32Array): { readonly messages: number; readonly blocks: number } {
  const share = (piece: number): number => {
    const block = first.findIndex((from, b) => from <= piece && piece < first[b + 1]);
    return chunks[piece] / chunks.subarray(first[block], first[block + 1]).reduce((a, b) => a + b);
  };
  const shares = Array.from(chunks, (_, piece) => share(piece));
  let [messages, blocks] = [0, 0];
  for (const ofRound of rounds) {
    const load = new Map<string, number>();
    for (const { source, target, stored, added } of ofRound) {
      const carried = [...stored, ...added].reduce((sum, piece) => sum + shares[piece], 0);
      if (carried > 0) messages++;
      for (const end of [`from ${source}`, `to ${target}`]) load.set(end, (load.get(end) ?? 0) + carried);
    }
    blocks += Math.max(...load.values());
  }
  return { messages, blocks };
}

/** Returns an all-gather round a ring of n NPUs, half of each block either way. */
function bothWays(n: number): Pieces {
  const at = (npu: number): number => ((npu % n) + n) % n;
  const rounds = Array.from({ length: n - 1 }, (_, k) =>
    Array.from({ length: 2 * n }, (_, piece) => {
      const [block, step] = [piece >> 1, piece % 2 === 0 ? 1 : -1];
      const source = at(block + step * k);
      return { source, target: at(source + step), stored: [piece], added: [] };
    }),
  );
  const first = Int32Array.from({ length: n + 1 }, (_, block) => 2 * block);
  return { first, chunks: new Int32Array(2 * n).fill(1), rounds };
}

describe("few pieces", () => {
  it("leave every block a way, fewer messages, and not much more for the busiest", () => {
    let gained = 0;
    for (let seed = 0; seed < 400; seed++) {
      const schedule = simpleSchedule(seed);
      const { collective } = schedule;
      if (collective.groupCount !== 1 || collective.kind === "custom") continue;
      const whole = ["allreduce", "broadcast", "reduce"].includes(collective.kind);
      const pieces = piecesOf(schedule, roundsOf(schedule), whole ? collective.chunkCount : collective.chunksPerNpu);
      const few = fewPieces(pieces);
      if (few === null) continue;
      gained++;
      few.forEach((chunks, piece) => {
        expect([0, pieces.chunks[piece]]).toContain(chunks);
      });
      const [all, left] = [costs(pieces, pieces.chunks), costs(pieces, few)];
      expect(left.messages, `seed ${seed}`).toBeLessThanOrEqual(0.75 * all.messages);
      expect(left.blocks, `seed ${seed}`).toBeLessThanOrEqual(1.25 * all.blocks + 1e-9);
    }
    expect(gained).toBeGreaterThan(5);
  });

  it("are none where every block has one way", () => {
    const schedule = make(ring(5), task("allreduce", 5), ringAllReduce(5));
    const pieces = piecesOf(schedule, roundsOf(schedule), 5);
    expect(costs(pieces, pieces.chunks).messages).toBe(40);
    expect(fewPieces({ ...pieces, first: Int32Array.of(0, 1, 2, 3, 4, 5) })).toBeNull();
  });

  it("go one way round a ring each, as many one way as NPUs can send at once", () => {
    const pieces = bothWays(8);
    expect(costs(pieces, pieces.chunks)).toEqual({ messages: 112, blocks: 7 });
    expect(costs(pieces, fewPieces(pieces) as Int32Array)).toEqual({ messages: 56, blocks: 7 });
  });
});
