/** The public API that both platforms share; index.ts and index.browser.ts add the engine. */

export {
  CancelledError,
  DamagedFileError,
  InfeasibleError,
  InputError,
  InternalError,
  WrongScheduleError,
} from "./base/errors.ts";
export type { Backend, Kernels } from "./engine/contract/kernels.ts";
export type { Engine, EngineOptions } from "./engine/types.ts";
export { type Execution, executeProgram } from "./execute/execute.ts";
export { explainLog, selectionOf } from "./explain/log.ts";
export { explainPeriods } from "./explain/periods.ts";
export { explainPhases } from "./explain/phases.ts";
export { explainProgram } from "./explain/program.ts";
export { explainSteps } from "./explain/steps.ts";
export { explainTrees } from "./explain/trees.ts";
export { sketchToJson } from "./export/networks/taccl-sketch.ts";
export { topologyToJson } from "./export/networks/topology-json.ts";
export { scheduleBysParts } from "./export/schedules/bys.ts";
export { perfettoTrace } from "./export/schedules/perfetto.ts";
export { periodsJsonParts, periodsToJson } from "./export/schedules/periods-json.ts";
export { phasesJsonParts, phasesToJson } from "./export/schedules/phases-json.ts";
export { jointScheduleJsonParts, scheduleJsonParts, scheduleToJson } from "./export/schedules/schedule-json.ts";
export { treeFlowJsonParts, treeFlowToJson } from "./export/schedules/tree-flow-json.ts";
export { readCollective, readCollectives } from "./import/collectives/collective.ts";
export { readNcclLog } from "./import/logs/nccl-log.ts";
export { readMeasurements } from "./import/logs/nccl-tests.ts";
export { readTopology } from "./import/networks/network-formats.ts";
export { readProgram } from "./import/programs/program.ts";
export { type ByteSource, bytesSource, readBys } from "./import/schedules/bys.ts";
export { readPeriods } from "./import/schedules/periods-json.ts";
export { readPhases } from "./import/schedules/phases-json.ts";
export { readAnySchedule, readSchedule } from "./import/schedules/schedule-json.ts";
export { readTreeFlow } from "./import/schedules/tree-flow-json.ts";
export { readSketch } from "./import/sketches/taccl-sketch.ts";
export { boundOf, limitOf, referencePs } from "./model/bounds/bounds.ts";
export { jointBoundOf, jointLimitOf } from "./model/bounds/joint.ts";
export type { Bound, Witness } from "./model/bounds/witness.ts";
export type { Collective, CollectiveKind, NamedCollective } from "./model/collective/collective.ts";
export { COLLECTIVE_KINDS } from "./model/collective/collective.ts";
export type { Construction } from "./model/direct/construction.ts";
export { constructionText, graphOf, sizeOf } from "./model/direct/construction.ts";
export type { Digraph } from "./model/direct/digraph.ts";
export { diameter } from "./model/direct/digraph.ts";
export type { DirectFacts } from "./model/direct/facts.ts";
export {
  bidirectionalMooreSteps,
  greatestAllToAllRate,
  leastBandwidthTime,
  mooreSteps,
} from "./model/direct/facts.ts";
export { FAMILIES } from "./model/direct/families.ts";
export { parseConstruction } from "./model/direct/parse.ts";
export type { JointSchedule } from "./model/joint/joint-schedule.ts";
export { type NcclEstimate, ncclEstimates } from "./model/nccl/model.ts";
export type { PeriodSchedule } from "./model/periods/period-schedule.ts";
export { isPeriodSchedule, periodEndPs, periodTransfers } from "./model/periods/period-schedule.ts";
export { stepsOfPeriods } from "./model/periods/period-steps.ts";
export type { PhaseSchedule } from "./model/phases/phase-schedule.ts";
export { isPhaseSchedule } from "./model/phases/phase-schedule.ts";
export { phaseTransfers, stepsOfPhases } from "./model/phases/phase-steps.ts";
export { PRESETS } from "./model/presets/preset.ts";
export type { Program } from "./model/program/program.ts";
export type { RuntimeName } from "./model/program/runtime-names.ts";
export type { RouteSet } from "./model/routes/routes.ts";
export { sketchNetwork } from "./model/sketch/network.ts";
export { proposedSketches } from "./model/sketch/proposals.ts";
export type { Sketch, SketchNetwork } from "./model/sketch/sketch.ts";
export type { ArrivalLog, Schedule, SlotSchedule } from "./model/slots/slot-schedule.ts";
export { isSlotSchedule } from "./model/slots/slot-schedule.ts";
export type { AnySchedule } from "./model/steps/schedule.ts";
export { makespanOf, stepsOf, transfersOf } from "./model/steps/schedule.ts";
export { makespanPs, OP_COPY, OP_REDUCE, type StepSchedule } from "./model/steps/step-schedule.ts";
export { degrade, without } from "./model/topology/modify.ts";
export type { Topology } from "./model/topology/topology.ts";
export { linkNames, topologyHash } from "./model/topology/topology.ts";
export { expandTrees } from "./model/trees/tree-expansion.ts";
export type { Certificate, Forest, NetworkSymmetry, TreeFlow } from "./model/trees/tree-flow.ts";
export { isTreeFlow } from "./model/trees/tree-flow.ts";
export { stepsOfTrees } from "./model/trees/tree-steps.ts";
export { bestPieces, heightsOf } from "./model/trees/tree-times.ts";
export { type Accelerator, acceleratorNamed, customAccelerator } from "./model/workload/accelerators.ts";
export { MODEL_NAMES, type Model, modelNamed } from "./model/workload/models.ts";
export { ALONE, type Parallelism } from "./model/workload/parallelism.ts";
export type { CollectiveFacts } from "./report/collective-facts.ts";
export type { Comparison, ComparisonRow, ReferenceRow } from "./report/comparison.ts";
export type { JointReport } from "./report/joint-result.ts";
export type { AutoReport, Report } from "./report/result.ts";
export type { ProgramOptions, WantedProgram } from "./request/from-texts.ts";
export type { SynthesizeOptions } from "./request/options.ts";
export {
  type CalibrateOptions,
  type CalibrateSchedulesOptions,
  type Calibration,
  calibrate,
  calibrateSchedules,
} from "./run/calibrate.ts";
export type { JointResult } from "./run/joint.ts";
export { judge } from "./run/judge.ts";
export { type OwnSends, readSends, type SendsAsked } from "./run/own/own-sends.ts";
export { limitViolations, type MadeProgram, programOf } from "./run/programs/programs.ts";
export { programsBySize, type SizeRange } from "./run/programs/programs-by-size.ts";
export {
  compareRecords,
  readVerificationRecord,
  recordOf,
  type VerificationRecord,
} from "./run/record.ts";
export type { SynthesizeResult } from "./run/synthesize.ts";
export { type AllToAllRequest, type CompareRequest, type SynthesizeRequest, topology } from "./run/verbs.ts";
export { simulatePeriods } from "./simulate/periods/periods.ts";
export { type PhaseSimulation, simulatePhases } from "./simulate/phases/phases.ts";
export { simulate } from "./simulate/simulate.ts";
export { simulateReference } from "./simulate/steps/reference.ts";
export { simulateJoint } from "./simulate/steps/replay.ts";
export { simulateTreeFlow, treeFlowClock } from "./simulate/trees/tree-flow.ts";
export type { AllToAllFlow } from "./synthesize/alltoall/flow.ts";
export { applicableTo, refusalOf } from "./synthesize/applicable.ts";
export { ALGORITHMS, PHASE_MAKERS, SYNTHESIZERS, TREE_MAKERS } from "./synthesize/catalog.ts";
export { verifyJoint } from "./verify/joint.ts";
export { verifyPeriods } from "./verify/periods/periods.ts";
export { verifyPhases } from "./verify/phases/phases.ts";
export { type ProgramVerification, verifyProgram } from "./verify/program/program.ts";
export type { ProgramViolation } from "./verify/program/words.ts";
export { judgeCertificate } from "./verify/trees/certificate.ts";
export { verifyTreeFlow } from "./verify/trees/tree-flow.ts";
export { verify } from "./verify/verify.ts";
