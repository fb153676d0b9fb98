import { InputError, unlessRefused } from "../../../src/base/errors.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { executeProgram } from "../../../src/execute/execute.ts";
import { RANDOM_ORDER } from "../../../src/execute/machine.ts";
import { sketchToJson } from "../../../src/export/networks/taccl-sketch.ts";
import { topologyToJson } from "../../../src/export/networks/topology-json.ts";
import { mpiPlanParts } from "../../../src/export/programs/mpi-plan.ts";
import { mscclXmlParts } from "../../../src/export/programs/msccl-xml.ts";
import { mscclppJsonParts } from "../../../src/export/programs/mscclpp-json.ts";
import { scheduleBysParts } from "../../../src/export/schedules/bys.ts";
import { periodsToJson } from "../../../src/export/schedules/periods-json.ts";
import { phasesToJson } from "../../../src/export/schedules/phases-json.ts";
import { jointScheduleJsonParts, scheduleToJson } from "../../../src/export/schedules/schedule-json.ts";
import { treeFlowToJson } from "../../../src/export/schedules/tree-flow-json.ts";
import { readTopology } from "../../../src/import/networks/network-formats.ts";
import { readTopologyJson } from "../../../src/import/networks/topology-json.ts";
import type { TopologyOptions } from "../../../src/import/networks/topology-options.ts";
import { readProgram } from "../../../src/import/programs/program.ts";
import { bytesSource, readBys } from "../../../src/import/schedules/bys.ts";
import { readScheduleText } from "../../../src/import/schedules/schedule-text.ts";
import { readSketch, readSketchNodes } from "../../../src/import/sketches/taccl-sketch.ts";
import type { JointSchedule } from "../../../src/model/joint/joint-schedule.ts";
import { isPeriodSchedule, type PeriodSchedule } from "../../../src/model/periods/period-schedule.ts";
import { isPhaseSchedule } from "../../../src/model/phases/phase-schedule.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { planChecksum } from "../../../src/model/program/plan-checksum.ts";
import { blockCount, instructionCount, type Program } from "../../../src/model/program/program.ts";
import { runtimesOf } from "../../../src/model/program/runtimes.ts";
import { sketchNetwork } from "../../../src/model/sketch/network.ts";
import type { Schedule } from "../../../src/model/slots/slot-schedule.ts";
import type { AnySchedule } from "../../../src/model/steps/schedule.ts";
import { linkCount, nodeCount, type Topology, topologyHash } from "../../../src/model/topology/topology.ts";
import { isTreeFlow } from "../../../src/model/trees/tree-flow.ts";
import { limitViolations } from "../../../src/run/programs/programs.ts";
import { reportOfFile } from "../../../src/run/report-file.ts";
import { verifyJoint } from "../../../src/verify/joint.ts";
import { verifyPeriods } from "../../../src/verify/periods/periods.ts";
import { verifyPhases } from "../../../src/verify/phases/phases.ts";
import { verifyProgram } from "../../../src/verify/program/program.ts";
import { chunkTotal } from "../../../src/verify/program/wiring.ts";
import { verifyTreeFlow } from "../../../src/verify/trees/tree-flow.ts";
import { verify } from "../../../src/verify/verify.ts";
import { placementsOf } from "../program-campaign.ts";
import { sharedNics } from "../sketches.ts";
import { LawBroken, same } from "./target.ts";

/** What holds for whatever is read: it is written and read again as it was, and judged without an error. */

/** Networks up to this size are written and read again. */
const MOST_LINKS = 20_000;
/** Programs up to this size are judged, those up to the second one executed. */
const MOST_CHUNKS = 20_000;
const MOST_INSTRUCTIONS = 4_000;
const MOST_EXECUTED = 500;
const VIOLATIONS = { limit: 10 };

/** Throws LawBroken where a network is not read as it is written. */
export function judgeTopology(topology: Topology): void {
  if (linkCount(topology) + nodeCount(topology) > MOST_LINKS) return;
  const written = topologyToJson(topology);
  const again = readTopologyJson(written, "again.json");
  same(written, topologyToJson(again), "a network");
  same(topologyHash(topology), topologyHash(again), "a network's hash");
}

export const judgeNetworkText = (text: string, options: TopologyOptions): void =>
  judgeTopology(readTopology(text, "file", options));

function written(schedule: AnySchedule | JointSchedule): string {
  if ("tenants" in schedule) return [...jointScheduleJsonParts(schedule)].join("");
  if (isPhaseSchedule(schedule)) return phasesToJson(schedule);
  if (isTreeFlow(schedule)) return treeFlowToJson(schedule);
  if (isPeriodSchedule(schedule)) return periodsToJson(schedule);
  if ("slotPs" in schedule) throw new Error("slot schedules are not written as JSON");
  return scheduleToJson(schedule);
}

function violations(schedule: AnySchedule | JointSchedule): number {
  if ("tenants" in schedule) return verifyJoint(schedule, VIOLATIONS).violationCount;
  if (isPhaseSchedule(schedule)) return verifyPhases(schedule, VIOLATIONS).violationCount;
  if (isTreeFlow(schedule)) return verifyTreeFlow(schedule, VIOLATIONS).violationCount;
  if (isPeriodSchedule(schedule)) return verifyPeriods(schedule, VIOLATIONS).violationCount;
  return verify(schedule, VIOLATIONS).violationCount;
}

/** Judges a schedule and makes its report, which only a wrong schedule may be refused. */
function judgeSchedule(schedule: AnySchedule | JointSchedule): void {
  const wrong = judgedWithoutError(() => violations(schedule));
  if ("tenants" in schedule) return;
  try {
    reportOfFile(schedule, jsKernels);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    if (wrong === 0) throw new LawBroken(`a verified schedule without a report: ${error.message}`);
  }
}

/** Returns what a judge says; one that refuses to judge breaks the law as well. */
function judgedWithoutError<T>(judge: () => T): T {
  try {
    return judge();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new LawBroken(`a judge that throws: ${error.message}`);
  }
}

export function judgeScheduleText(text: string): void {
  const schedule = readScheduleText(text, "file");
  judgeSchedule(schedule);
  const file = written(schedule);
  same(file, written(readScheduleText(file, "again.json")), "a schedule");
}

function joined(schedule: Schedule | PeriodSchedule): Uint8Array {
  return new Uint8Array(Buffer.concat([...scheduleBysParts(schedule)]));
}

export function judgeBys(bytes: Uint8Array): void {
  const schedule = readBys(bytesSource(bytes), "file.bys");
  judgeSchedule(schedule);
  const file = joined(schedule);
  const again = joined(readBys(bytesSource(file), "again.bys"));
  same(Buffer.from(file).toString("latin1"), Buffer.from(again).toString("latin1"), "a .bys file");
}

const programText = (program: Program): string => [...programParts(program)].join("");

function programParts(program: Program): Iterable<string> {
  if (program.mpi !== undefined) return mpiPlanParts(program);
  return program.machine === "msccl" ? mscclXmlParts(program, { dialect: "azure" }) : mscclppJsonParts(program);
}

/** Returns the text of a plan for MPI with the checksum of what stands before it. */
export function withPlanChecksum(text: string): string {
  const at = text.lastIndexOf("\nend ");
  const body = at < 0 ? text : text.slice(0, at + 1);
  const checksum = planChecksum();
  checksum.add(body);
  return `${body}end ${checksum.digits()}\n`;
}

/** Throws LawBroken where a program that the verifier accepts goes wrong on real buffers. */
function executeAccepted(program: Program, room: { readonly messages: number; readonly chunks: number }): void {
  for (const placement of placementsOf(program)) {
    const sizeBytes = program.loopChunks * 8;
    const ran = executeProgram(program, { type: "i32", sizeBytes, placement, seed: 1, room, order: RANDOM_ORDER });
    if (ran.outcome !== "correct" && ran.outcome !== "ran")
      throw new LawBroken(`a verified program is ${ran.outcome} ${placement}: ${ran.faults[0] ?? ran.waits[0]}`);
  }
}

export function judgeProgramText(text: string): void {
  const program = readProgram(text, "file");
  for (const runtime of runtimesOf(program)) judgedWithoutError(() => limitViolations(program, runtime, text));
  const size = instructionCount(program) + blockCount(program);
  if (chunkTotal(program) > MOST_CHUNKS || size > MOST_INSTRUCTIONS) return;
  const { violationCount, facts } = judgedWithoutError(() => verifyProgram(program, VIOLATIONS));
  if (violationCount === 0 && chunkTotal(program) + size <= MOST_EXECUTED)
    executeAccepted(program, { messages: facts.capacity, chunks: facts.messageChunks });
  const file = unlessRefused(() => programText(program));
  if (file === null) return;
  same(file, programText(readProgram(file, "again")), "a program");
}

/** Sketches of up to so many nodes are read for a network of as many. */
const MOST_NODES = 4;

/** Returns a network for a sketch: 16 GPUs a node on a switch, 8 without, or 4. */
function sketchedNetwork(text: string): Topology {
  const nodes = Math.min(readSketchNodes(text, "file") ?? 2, MOST_NODES);
  if (text.includes("15")) return presetTopology(`dgx2:${nodes}`);
  return text.includes("uc-m") ? sharedNics(nodes) : presetTopology(`ndv2:${nodes}`);
}

export function judgeSketchText(text: string): void {
  const topology = sketchedNetwork(text);
  const sketch = readSketch(text, "file", topology);
  sketchNetwork(topology, sketch);
  const file = sketchToJson(sketch);
  same(file, sketchToJson(readSketch(file, "again", topology)), "a sketch");
}
