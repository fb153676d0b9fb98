/** The public API that both platforms share; index.ts and index.browser.ts add the engine. */

export type { AutoReport } from "./auto.ts";
export { type CalibrateOptions, type Calibration, calibrate } from "./calibrate.ts";
export type { Comparison, ComparisonRow, ReferenceRow } from "./compare.ts";
export type { Backend, Kernels } from "./engine/kernels/kernels.ts";
export type { Engine, EngineOptions } from "./engine/types.ts";
export {
  CancelledError,
  DamagedFileError,
  InfeasibleError,
  InputError,
  InternalError,
  WrongScheduleError,
} from "./errors.ts";
export { type Execution, executeProgram } from "./execute/execute.ts";
export { explainLog } from "./explain/log.ts";
export { explainPhases } from "./explain/phases.ts";
export { explainProgram } from "./explain/program.ts";
export { selectionOf } from "./explain/selection.ts";
export { explainSteps } from "./explain/steps.ts";
export { explainTrees } from "./explain/trees.ts";
export { scheduleBysParts } from "./export/bys.ts";
export { jointScheduleJsonParts } from "./export/joint-schedule-json.ts";
export { perfettoTrace } from "./export/perfetto.ts";
export { phasesJsonParts, phasesToJson } from "./export/phases-json.ts";
export { scheduleJsonParts, scheduleToJson } from "./export/schedule-json.ts";
export { sketchToJson } from "./export/taccl-sketch.ts";
export { topologyToJson } from "./export/topology-json.ts";
export { treeFlowJsonParts, treeFlowToJson } from "./export/tree-flow-json.ts";
export { type ByteSource, bytesSource, readBys } from "./import/bys.ts";
export { readCollective } from "./import/collective.ts";
export { readCollectives } from "./import/collectives-json.ts";
export { readAnySchedule } from "./import/joint-schedule-json.ts";
export { readNcclLog } from "./import/nccl-log.ts";
export { readMeasurements } from "./import/nccl-tests.ts";
export { readPhases } from "./import/phases-json.ts";
export { readProgram } from "./import/program.ts";
export { readTopology } from "./import/recognise.ts";
export { readSchedule } from "./import/schedule-json.ts";
export { readSketch } from "./import/taccl-sketch.ts";
export { readTreeFlow } from "./import/tree-flow-json.ts";
export type { JointResult } from "./joint.ts";
export type { JointReport } from "./joint-result.ts";
export { jointBoundOf, jointLimitOf } from "./model/bounds/joint.ts";
export type { Bound, Witness } from "./model/bounds.ts";
export { boundOf, limitOf, referencePs } from "./model/bounds.ts";
export type { Collective, CollectiveKind, NamedCollective } from "./model/collective.ts";
export { COLLECTIVE_KINDS } from "./model/collective.ts";
export type { Construction } from "./model/direct/construction.ts";
export { constructionText } from "./model/direct/construction-text.ts";
export type { Digraph } from "./model/direct/digraph.ts";
export { diameter } from "./model/direct/distances.ts";
export type { DirectFacts } from "./model/direct/facts.ts";
export { FAMILIES } from "./model/direct/families.ts";
export { graphOf, sizeOf } from "./model/direct/graph-of.ts";
export {
  bidirectionalMooreSteps,
  greatestAllToAllRate,
  leastBandwidthTime,
  mooreSteps,
} from "./model/direct/optimality.ts";
export { parseConstruction } from "./model/direct/parse.ts";
export type { JointSchedule } from "./model/joint-schedule.ts";
export { degrade, without } from "./model/modify.ts";
export { type NcclEstimate, ncclEstimates } from "./model/nccl-model.ts";
export type { PhaseSchedule } from "./model/phase-schedule.ts";
export { isPhaseSchedule } from "./model/phase-schedule.ts";
export { phaseTransfers, stepsOfPhases } from "./model/phase-steps.ts";
export { PRESETS } from "./model/presets/preset.ts";
export type { Program } from "./model/program.ts";
export type { RouteSet } from "./model/routes.ts";
export type { RuntimeName } from "./model/runtimes.ts";
export type { AnySchedule } from "./model/schedule.ts";
export { makespanOf, stepsOf, transfersOf } from "./model/schedule.ts";
export type { Sketch } from "./model/sketch.ts";
export { type SketchNetwork, sketchNetwork } from "./model/sketch-network.ts";
export { proposedSketches } from "./model/sketch-proposals.ts";
export type { ArrivalLog, Schedule, SlotSchedule } from "./model/slot-schedule.ts";
export { isSlotSchedule } from "./model/slot-schedule.ts";
export { makespanPs, OP_COPY, OP_REDUCE, type StepSchedule } from "./model/step-schedule.ts";
export type { Topology } from "./model/topology.ts";
export { linkNames, topologyHash } from "./model/topology.ts";
export { expandTrees } from "./model/tree-expansion.ts";
export type { Certificate, Forest, NetworkSymmetry, TreeFlow } from "./model/tree-flow.ts";
export { isTreeFlow } from "./model/tree-flow.ts";
export { bestPieces } from "./model/tree-pieces.ts";
export { stepsOfTrees } from "./model/tree-steps.ts";
export { heightsOf } from "./model/tree-times.ts";
export type { SynthesizeOptions } from "./options.ts";
export type { SynthesizeResult } from "./pipeline.ts";
export { limitViolations, type MadeProgram, type ProgramOptions, programOf } from "./programs.ts";
export { programsBySize, type SizeRange } from "./programs-by-size.ts";
export type { Report } from "./result.ts";
export { judge } from "./run/judge.ts";
export {
  type CollectiveFacts,
  compareRecords,
  readVerificationRecord,
  recordOf,
  type VerificationRecord,
} from "./run/record.ts";
export { type PhaseSimulation, simulatePhases } from "./simulate/phases.ts";
export { simulateReference } from "./simulate/reference.ts";
export { simulateJoint } from "./simulate/replay.ts";
export { simulate } from "./simulate/simulate.ts";
export { simulateTreeFlow, treeFlowClock } from "./simulate/tree-flow.ts";
export type { AllToAllFlow } from "./synthesize/alltoall/flow.ts";
export { applicableTo, refusalOf } from "./synthesize/applicable.ts";
export { ALGORITHMS, PHASE_MAKERS, SYNTHESIZERS, TREE_MAKERS } from "./synthesize/catalog.ts";
export { type AllToAllRequest, type CompareRequest, type SynthesizeRequest, topology } from "./verbs.ts";
export { judgeCertificate } from "./verify/certificate.ts";
export { verifyJoint } from "./verify/joint.ts";
export { verifyPhases } from "./verify/phases.ts";
export { type ProgramVerification, verifyProgram } from "./verify/program.ts";
export type { ProgramViolation } from "./verify/program-violation.ts";
export { verifyTreeFlow } from "./verify/tree-flow.ts";
export { verify } from "./verify/verify.ts";
