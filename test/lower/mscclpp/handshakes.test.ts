import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/engine/types.ts";
import { lowerToPlan } from "../../../src/lower/mscclpp/plan.ts";
import {
  blockCount,
  OPS,
  OUTPUT,
  type Program,
  rankOfBlocks,
  SCRATCH,
  VIA,
  WAIT_BARRIER,
} from "../../../src/model/program/program.ts";
import { programBuilder } from "../../../src/model/program/program-builder.ts";
import { verifyProgram } from "../../../src/verify/program/program.ts";
import { plainEngine, scheduleOf } from "../../support/lowering-cases.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await plainEngine();
});
afterAll(() => engine.close());

/**
 * Returns two calls of a plan, one after the other, on buffers of their own but in the same scratch, all of it touched by both:
 * every rank begins a call by touching what the call gives it (its stream's earlier work), and no block goes on with the second
 * call before all blocks of its rank have ended the first. Nothing holds ranks together but the plan.
 */
function twoCalls(plan: Program): Program {
  const builder = programBuilder();
  const ranks = rankOfBlocks(plan);
  const shift = [plan.inputChunks[0], plan.outputChunks[0], 0];
  const events = Array.from(plan.eventInitial, (_, e) =>
    builder.addEvent({ rank: plan.eventRank[e], peer: plan.eventPeer[e], id: plan.eventId[e], via: "memory" }),
  );
  let block = 0;
  for (let rank = 0; rank < plan.rankCount; rank++) {
    builder.addRank();
    const blocks = ranks.filter((one) => one === rank).length;
    const barrier = builder.addBarrier({ rank, id: 0, blocks });
    for (let b = 0; b < blocks; b++, block++) {
      builder.addBlock({ id: plan.blockId[block] });
      for (let call = 0; call < 2; call++) {
        let step = call * 1000;
        const meet = () => builder.add({ op: "barrier", step: step++, waits: [{ kind: WAIT_BARRIER, on: barrier }] });
        meet();
        if (b === 0)
          for (let k = 0; k < plan.outputChunks[rank]; k++) {
            const place = { rank, buffer: OUTPUT, index: call * shift[OUTPUT] + k };
            const from = { rank, buffer: SCRATCH, index: plan.scratchChunks[rank] };
            builder.add({ op: "copy", step: step++, via: "local", chunks: 1, sources: [from], destinations: [place] });
          }
        meet();
        for (let i = plan.instructionOffset[block]; i < plan.instructionOffset[block + 1]; i++) {
          const operand = (o: number) => ({
            rank: plan.operandRank[o],
            buffer: plan.operandBuffer[o],
            index: plan.operandIndex[o] + call * shift[plan.operandBuffer[o]],
          });
          const [first, end] = [plan.operandOffset[i], plan.operandOffset[i + 1]];
          const middle = first + plan.sourceCount[i];
          const list = (from: number, to: number) => Array.from({ length: to - from }, (_, k) => operand(from + k));
          const waits = Array.from(plan.waitOn.subarray(plan.waitOffset[i], plan.waitOffset[i + 1]));
          const posts = Array.from(plan.postOn.subarray(plan.postOffset[i], plan.postOffset[i + 1]));
          builder.add({
            op: OPS[plan.op[i]],
            step: step + plan.step[i],
            via: VIA[plan.via[i]],
            chunks: plan.chunks[i],
            waits: waits.map((on) => ({ kind: plan.waitKind[plan.waitOffset[i]], on: events[on] })),
            posts: posts.map((on) => events[on]),
            sources: list(first, middle),
            destinations: list(middle, end),
          });
        }
      }
    }
  }
  const twice = (chunks: Int32Array): Int32Array => chunks.map((many) => 2 * many);
  return builder.build({
    ...{ name: "two calls", machine: "mscclpp", collective: "custom", rootRank: 0, rankCount: plan.rankCount },
    ...{ protocol: "Simple", inPlace: false, outOfPlace: true, minBytes: null, maxBytes: null, finer: 1 },
    ...{ loopChunks: 2 * plan.loopChunks, channelCount: plan.channelCount },
    inputChunks: twice(plan.inputChunks),
    outputChunks: twice(plan.outputChunks),
    scratchChunks: plan.scratchChunks.map((many) => many + 1),
  });
}

const races = (plan: Program): number =>
  verifyProgram(twoCalls(plan), { limit: 1000 }).violations.filter(({ kind }) => kind === "race" || kind === "deadlock")
    .length;

const greets = ({ op }: Program): boolean => op.includes(OPS.indexOf("rlxwait"));

describe("handshakes of plans", () => {
  const cases = (["direct", "rhd", "ring"] as const).flatMap((algorithm) =>
    (["allgather", "reducescatter", "allreduce"] as const).flatMap((collective) =>
      [1, 4].map((parts) => ({ algorithm, collective, parts })),
    ),
  );

  it.each(cases)("hold two calls apart: $algorithm $collective in $parts parts", async ({ parts, ...what }) => {
    const schedule = await scheduleOf(engine, { network: "switch:4", ...what });
    for (const reads of [true, false]) {
      const plan = lowerToPlan(schedule, { placement: "out", reads, parts, instances: 2 });
      expect(blockCount(plan)).toBeGreaterThan(0);
      expect(races(plan)).toBe(0);
    }
  });

  it("are left out only where sums come back", async () => {
    const planOf = async (collective: "allreduce" | "reducescatter") =>
      lowerToPlan(await scheduleOf(engine, { network: "switch:4", collective, algorithm: "direct" }), {
        placement: "out",
        reads: false,
      });
    expect(greets(await planOf("allreduce"))).toBe(false);
    expect(greets(await planOf("reducescatter"))).toBe(true);
  });
});
