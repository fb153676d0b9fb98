import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { lowerToMsccl } from "../../../src/lower/msccl/lower.ts";
import { blockCount, OPS, type Program } from "../../../src/model/program/program.ts";
import { MSCCL_RUNTIMES, type MscclRuntime } from "../../../src/model/program/runtimes.ts";
import type { Schedule } from "../../../src/model/slots/slot-schedule.ts";
import type { TreeFlow } from "../../../src/model/trees/tree-flow.ts";
import { plainEngine, STEP_CASES, scheduleOf, TREE_CASES, titleOf } from "../../support/lowering-cases.ts";
import { misbehaviour } from "../../support/program-oracle.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await plainEngine();
});
afterAll(() => engine.close());

const RUNTIMES = ["msccl", "azure", "rccl"] as const;
const PLACEMENTS = ["in", "out", "both"] as const;

/** Returns what a program does wrong in random interleavings of the calls it is for, with scarce and ample connections. */
function wrong(program: Program): readonly string[] {
  const calls = [program.inPlace, program.outOfPlace].flatMap((is, i) => (is ? [i === 0] : []));
  return calls.flatMap((inPlace) =>
    [1, 8].flatMap((capacity) => misbehaviour(program, { inPlace, capacity, random: random(capacity) }) ?? []),
  );
}

/** Returns the limits of a runtime that a program does not meet. */
function excesses(program: Program, runtime: MscclRuntime): readonly string[] {
  const found: string[] = [];
  for (let b = 0; b < blockCount(program); b++) {
    const steps = program.instructionOffset[b + 1] - program.instructionOffset[b];
    if (steps > runtime.stepsPerBlock) found.push(`${steps} steps`);
  }
  for (let r = 0; r < program.rankCount; r++) {
    const blocks = program.blockOffset[r + 1] - program.blockOffset[r];
    if (blocks > runtime.blocksPerGpu) found.push(`${blocks} blocks`);
  }
  if (program.channelCount > runtime.channels) found.push(`${program.channelCount} channels`);
  program.chunks.forEach((chunks, i) => {
    if (chunks > runtime.chunksPerStep) found.push(`${chunks} chunks`);
    if (!runtime.ops.has(OPS[program.op[i]])) found.push(OPS[program.op[i]]);
  });
  return found;
}

/** Returns what a program does as text; azure takes most programs as msccl does. */
const columnsOf = ({ name, ...columns }: Program): string => JSON.stringify(columns);

function checkAll(schedule: Schedule | TreeFlow, instances: readonly number[]): void {
  const seen = new Set<string>();
  for (const name of RUNTIMES) {
    const runtime = MSCCL_RUNTIMES[name];
    if (runtime.collectives[schedule.collective.kind] === undefined) {
      expect(() => lowerToMsccl(schedule, { runtime: name, placement: "in" })).toThrow(runtime.title);
      continue;
    }
    for (const placement of PLACEMENTS) {
      for (const many of instances) {
        const program = lowerToMsccl(schedule, { runtime: name, placement, instances: many });
        expect(excesses(program, runtime)).toEqual([]);
        const columns = columnsOf(program);
        if (seen.has(columns)) continue;
        seen.add(columns);
        expect({ name, placement, many, wrong: wrong(program) }).toEqual({ name, placement, many, wrong: [] });
      }
    }
  }
}

describe("lowerToMsccl", () => {
  it.each(STEP_CASES.map((what) => [titleOf(what), what] as const))("%s", async (_, what) => {
    checkAll(await scheduleOf(engine, what), [1, 2]);
  });

  it.each(TREE_CASES.map((what) => [titleOf(what), what] as const))(
    "%s",
    async (_, what) => {
      checkAll(await scheduleOf(engine, what), what.network.startsWith("dgx") ? [1] : [1, 2]);
    },
    120_000,
  );
});
