import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../src/base/errors.ts";
import { type Random, random } from "../../src/base/random.ts";
import { periodsToJson } from "../../src/export/schedules/periods-json.ts";
import { phasesToJson } from "../../src/export/schedules/phases-json.ts";
import { jointScheduleJsonParts, scheduleToJson } from "../../src/export/schedules/schedule-json.ts";
import { treeFlowToJson } from "../../src/export/schedules/tree-flow-json.ts";
import { readPeriods } from "../../src/import/schedules/periods-json.ts";
import { readAnySchedule } from "../../src/import/schedules/schedule-json.ts";
import { type JointSchedule, tenantSchedule } from "../../src/model/joint/joint-schedule.ts";
import type { PhaseSchedule } from "../../src/model/phases/phase-schedule.ts";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { simulatePeriods } from "../../src/simulate/periods/periods.ts";
import { simulatePhases } from "../../src/simulate/phases/phases.ts";
import { simulateJoint, simulateSchedule } from "../../src/simulate/steps/replay.ts";
import { simulateTreeFlow } from "../../src/simulate/trees/tree-flow.ts";
import { verifyJoint } from "../../src/verify/joint.ts";
import { verifyPeriods } from "../../src/verify/periods/periods.ts";
import { verifyPhases } from "../../src/verify/phases/phases.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { verifyTreeFlow } from "../../src/verify/trees/tree-flow.ts";
import { type Json, opinionOf } from "../support/claimed-files.ts";
import { pick } from "../support/draws.ts";
import { fileCases } from "../support/formats-cases.ts";
import { mutant } from "../support/mutants.ts";
import { periodCases, periodMutant } from "../support/period-cases.ts";
import { PHASE_NETWORKS } from "../support/phase-cases.ts";
import { builtPhases, plannedPhases } from "../support/phase-schedules.ts";
import { builtTrees } from "../support/plain-trees.ts";
import { runs } from "../support/runs.ts";
import { drawnFlows } from "../support/tree-flow-cases.ts";
import { treeMutant } from "../support/tree-flow-mutants.ts";

const SEED = fc.readConfigureGlobal().seed as number;
const FILES = 200;
const MUTANTS = 20;

const NO_TIME = { ps: 0, model: "" };

/** Returns whether the rules hold for the independent judge, and what it says of times that are claimed. */
function judged(text: string, time: object): { readonly right: boolean; readonly time: string | undefined } {
  const claims = `"claims": ${JSON.stringify({ time })},\n  "topology":`;
  const opinion = opinionOf(text.replace('"topology":', claims));
  if (typeof opinion === "string") return { right: false, time: undefined };
  return { right: opinion["rules"] === "checked", time: opinion["time"] };
}

/** Returns the text of phases with a number or two changed, of a phase, a dimension or a group. */
function changedPhases(text: string, draws: Random): string {
  const file: Json = JSON.parse(text);
  for (let left = 1 + draws.below(2); left > 0; left--) {
    const columns = ["chunk", "dimension", "op", "startPs", "endPs"];
    const rows = file.phases;
    const at = draws.below(rows.chunk.length);
    const key = pick(columns, draws);
    const dimension = pick(file.dimensions as Json[], draws);
    const members = pick(file.collective.groups as number[][], draws);
    const change = draws.below(7);
    if (change === 0) rows[key][at] = rows[key][draws.below(rows[key].length)];
    else if (change === 1) rows[key][at] += pick([1, -1], draws);
    else if (change === 2) for (const one of columns) rows[one].splice(at, 1);
    else if (change === 5) [members[0], members[at % members.length]] = [members[at % members.length], members[0]];
    else if (change === 6) members[at % members.length] = draws.below(file.topology.nodes.length);
    else if (change === 3) dimension[pick(["bytesPerSecond", "stepPs"], draws)] += pick([1, -1, 0], draws);
    else dimension.algorithm = pick(["ring", "direct", "halving-doubling", "line", "offload"], draws);
    rows.count = rows.chunk.length;
  }
  return JSON.stringify(file);
}

describe("the independent judge and the project's", () => {
  let [correct, wrong] = [0, 0];
  const agree = (origin: string, text: string, isRight: boolean, time: object): void => {
    const own = judged(text, time);
    expect({ origin, ...own }, text).toEqual({ origin, right: isRight, time: isRight ? "checked" : undefined });
    if (isRight) correct++;
    else wrong++;
  };

  it(`agree on ${FILES} schedules of transfers, ${MUTANTS} mutants of each, and their times`, async () => {
    [correct, wrong] = [0, 0];
    const draws = random(SEED, 0x0d6e);
    for (const { origin, text: given } of await fileCases(runs(FILES), SEED)) {
      const schedule = readAnySchedule(given, "s.json") as StepSchedule | JointSchedule;
      for (let m = 0; m <= MUTANTS; m++) {
        const isStored = draws.below(2) === 0;
        const switching = isStored ? "store-and-forward" : "cut-through";
        if ("tenants" in schedule) {
          const at = draws.below(schedule.tenants.length);
          const { topology, routes, ...other } =
            m === 0 ? tenantSchedule(schedule, at) : mutant(tenantSchedule(schedule, at), draws);
          const changed = { ...schedule, tenants: schedule.tenants.with(at, other) };
          const isRight = verifyJoint(changed).violationCount === 0;
          const text = [...jointScheduleJsonParts(changed)].join("");
          const inOrder = isRight ? (readAnySchedule(text, "s.json") as JointSchedule) : null;
          const time = inOrder === null ? NO_TIME : simulateJoint(inOrder, { switching });
          agree(origin, text, isRight, { ps: time.ps, model: time.model });
        } else {
          const changed = m === 0 ? schedule : mutant(schedule, draws);
          const isRight = verifySchedule(changed).violationCount === 0;
          const text = scheduleToJson(changed);
          const inOrder = isRight ? (readAnySchedule(text, "s.json") as StepSchedule) : null;
          const time = inOrder === null ? NO_TIME : simulateSchedule(inOrder, { switching });
          agree(origin, text, isRight, { ps: time.ps, model: time.model });
        }
      }
    }
    expect(correct).toBeGreaterThan(runs(FILES));
    expect(wrong).toBeGreaterThan(2 * runs(FILES));
  }, 600_000);

  it("agree on trees, their mutants and their times", () => {
    [correct, wrong] = [0, 0];
    const draws = random(SEED, 0x7ee5);
    for (const plain of drawnFlows(runs(150))) {
      for (let m = 0; m <= MUTANTS; m++) {
        const { name, flow } = m === 0 ? { name: "as grown", flow: plain } : treeMutant(plain, draws);
        const built = builtTrees(flow);
        const isRight = verifyTreeFlow(built).violationCount === 0;
        const pieces = 1 + draws.below(5);
        const time = isRight
          ? { ps: simulateTreeFlow(built, pieces).ps, model: "network/cut-through", pieces }
          : NO_TIME;
        agree(name, treeFlowToJson(built), isRight, time);
      }
    }
    expect(correct).toBeGreaterThan(20);
    expect(wrong).toBeGreaterThan(100);
  }, 600_000);

  it("agree on periods, their mutants and their times", async () => {
    [correct, wrong] = [0, 0];
    const draws = random(SEED, 0x9e81);
    for (const plain of await periodCases(runs(60))) {
      for (let m = 0; m <= MUTANTS; m++) {
        const { name, schedule } = m === 0 ? { name: "as made", schedule: plain } : periodMutant(plain, draws);
        let text = "";
        try {
          text = periodsToJson(schedule);
          readPeriods(text, "p.json");
        } catch {
          continue; // what no file can say
        }
        const isRight = verifyPeriods(schedule).violationCount === 0;
        const time = isRight ? simulatePeriods(schedule) : NO_TIME;
        agree(name, text, isRight, { ps: time.ps, model: time.model });
      }
    }
    expect(correct).toBeGreaterThan(20);
    expect(wrong).toBeGreaterThan(40);
  }, 600_000);

  it("agree on groups that share NPUs, and on groups in a network that is no product", () => {
    [correct, wrong] = [0, 0];
    const builder = topologyBuilder("a clique and a line");
    for (let npu = 0; npu < 16; npu++) builder.addNpu(`${npu}`);
    for (let a = 0; a < 4; a++) for (let b = 0; b < a; b++) builder.addDuplex(a, b, 50e9, 500_000);
    for (let npu = 4; npu < 16; npu++) builder.addDuplex(npu - 1, npu, 50e9, 500_000);
    const topology = builder.build();
    const dimension = { kind: "fc", size: 4, bytesPerSecond: 150e9, stepPs: 500_000, inNetwork: false } as const;
    const plan = {
      topology,
      dimensions: [dimension],
      algorithms: ["direct"] as const,
      kind: "allreduce",
      sizeBytes: 4096,
      orders: [[0]],
    } as const;
    for (const [groups, isRight] of [
      [[[0, 1, 2, 3]], true],
      [[[3, 1, 0, 2]], true],
      [[[1, 2, 3, 4]], false],
      [
        [
          [0, 1, 2, 3],
          [3, 2, 1, 0],
        ],
        false,
      ],
    ] as const) {
      const schedule = builtPhases(
        plannedPhases({ ...plan, groups: groups.map((members) => Int32Array.from(members)) }),
      );
      expect(verifyPhases(schedule).violationCount === 0).toBe(isRight);
      const { ps, model } = isRight ? simulatePhases(schedule) : NO_TIME;
      agree("clique", phasesToJson(schedule), isRight, { ps, model });
    }
    expect([correct, wrong]).toEqual([2, 2]);
    const shared = [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
    ].map((members) => Int32Array.from(members));
    const rules = opinionOf(phasesToJson(builtPhases(plannedPhases({ ...plan, groups: shared }))));
    expect(rules).toMatchObject({ rules: "wrong: an NPU is in two groups, whose phases run at once" });
  });

  it("agree on phases, their mutants and their times", () => {
    [correct, wrong] = [0, 0];
    const draws = random(SEED, 0x9a5e);
    for (const [name, network] of Object.entries(PHASE_NETWORKS)) {
      const order = network.dimensions.map((_, d) => d);
      for (const kind of ["allreduce", "allgather", "reducescatter"] as const) {
        const orders = [order, order.toReversed(), order];
        const text = phasesToJson(builtPhases(plannedPhases({ ...network, kind, sizeBytes: 2 ** 20, orders })));
        for (let m = 0; m <= runs(3 * MUTANTS); m++) {
          const changed = m === 0 ? text : changedPhases(text, draws);
          let schedule: PhaseSchedule | null = null;
          try {
            schedule = readAnySchedule(changed, "p.json") as PhaseSchedule;
          } catch (error) {
            if (!(error instanceof InputError)) throw error;
          }
          const isRight = schedule !== null && verifyPhases(schedule).violationCount === 0;
          const time = isRight ? simulatePhases(schedule as PhaseSchedule) : NO_TIME;
          agree(name, changed, isRight, { ps: time.ps, model: time.model });
        }
      }
    }
    expect(correct).toBeGreaterThan(30);
    expect(wrong).toBeGreaterThan(runs(300));
  }, 600_000);
});
