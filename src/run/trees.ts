import { CancelledError, InfeasibleError, InputError, InternalError } from "../base/errors.ts";
import { openHighs } from "../engine/milp/highs.ts";
import type { Engine } from "../engine/types.ts";
import { type Bound, greaterBound, referencePs } from "../model/bounds/bounds.ts";
import { roundedBytes } from "../model/bounds/limit.ts";
import { demandBalance, trimToEulerian } from "../model/graph/eulerian.ts";
import { divide, multiply, rational, toNumber } from "../model/numbers/rational.ts";
import { BYTES_PER_GB, PS_PER_SECOND } from "../model/numbers/units.ts";
import type { Topology } from "../model/topology/topology.ts";
import type { TreeFlow } from "../model/trees/tree-flow.ts";
import { trafficSaved } from "../model/trees/tree-multicast.ts";
import { bestPieces } from "../model/trees/tree-pieces.ts";
import { stepsOfTrees, treeTransfers } from "../model/trees/tree-steps.ts";
import type { Report } from "../report/result.ts";
import { boundOfCertificate, treesReport } from "../report/trees-result.ts";
import { checkOptions, type SynthesizeOptions } from "../request/options.ts";
import { type Problem, problemOf } from "../request/problem.ts";
import { simulateSchedule } from "../simulate/steps/replay.ts";
import { simulateTreeFlow, treeFlowClock } from "../simulate/trees/tree-flow.ts";
import { unreached } from "../synthesize/forestcoll/unreached.ts";
import type { TreeMaker, TreeSynthesis } from "../synthesize/tree-maker.ts";
import { verifySchedule } from "../verify/steps/schedule.ts";
import { judgeCertificate } from "../verify/trees/certificate.ts";
import { verifyTreeFlow } from "../verify/trees/tree-flow.ts";
import type { Violation } from "../verify/violation.ts";
import { limitWithBottleneck } from "./bottleneck.ts";
import { treeRunnerFor } from "./threads/tree-runner.ts";

/** Up to so many transfers the steps of a flow are judged as well. */
const MOST_STEPS = 1e6;

export interface TreesResult {
  readonly schedule: TreeFlow;
  readonly report: Report;
}

/** Returns what trees may use of each link; throws InputError for a network without balance, unless that is asked for. */
function usableOf(
  { topology, collective }: Problem,
  eulerian: SynthesizeOptions["eulerian"],
): { readonly usable: Float64Array; readonly notes: readonly string[] } {
  if (eulerian === "trim") {
    const { usable, statement } = trimToEulerian(topology);
    return { usable, notes: [statement] };
  }
  const members = eulerian === "switches" ? collective.groupMembers : [];
  demandBalance(topology, members, "or --eulerian trim, which leaves some bandwidth unused");
  return { usable: topology.linkBytesPerSecond, notes: [] };
}

/** Throws InputError for options that only schedules of steps have. */
function refuseStepOptions({ name }: TreeMaker, { trials, switchDegree, switching }: SynthesizeOptions): void {
  const given = trials !== undefined ? "trials" : switchDegree !== undefined ? "switch-degree" : null;
  if (given !== null) throw new InputError(`--${given}`, "an algorithm that makes steps (tacos) beside it", name);
  if (switching === "store-and-forward")
    throw new InputError("--switching", "cut-through, or nothing, for trees", switching);
}

/** Throws InputError where switches that duplicate and sum are left out and the algorithm is nothing without them. */
function refuseWithoutSwitches({ name, inNetwork }: TreeMaker, { nvls }: SynthesizeOptions): void {
  if (inNetwork !== true || nvls !== false) return;
  throw new InputError("--no-nvls", "an algorithm beside it whose switches need not duplicate and sum", name);
}

/**
 * Returns trees for a collective with their report: made, judged by exact arithmetic together with their certificate, cut into
 * the number of pieces that is fastest (or `chunks`), and timed; up to 1e6 transfers also written out as steps, which the
 * judges of steps verify and replay, but for what switches duplicate or sum, which steps cannot say. Throws as `synthesize` does.
 */
export async function synthesizeTrees(
  engine: Engine,
  topology: Topology,
  options: SynthesizeOptions,
  maker: TreeMaker,
): Promise<TreesResult> {
  checkOptions(options);
  refuseStepOptions(maker, options);
  refuseWithoutSwitches(maker, options);
  const { signal, onProgress, chunks = "auto" } = options;
  const begin = (phase: string): void => {
    if (signal?.aborted) throw new CancelledError();
    onProgress?.({ phase, done: 0, total: 1 });
  };
  const problem = problemOf(topology, { ...options, chunks: 1 });
  const { usable, notes } = usableOf(problem, options.eulerian);
  begin("synthesize");
  const started = performance.now();
  const { kernels, dispose } = treeRunnerFor(engine, signal);
  let best: Timed;
  try {
    const context = { kernels, lp: openHighs };
    const make = async (copiesPerRoot: number | null): Promise<Timed> => {
      const request = {
        ...problem,
        usable,
        copiesPerRoot,
        seed: options.seed ?? 1,
        policy: options.policy ?? null,
        repair: options.repair ?? null,
      };
      return timed(await maker.make(request, context), chunks);
    };
    best = options.k === "auto" ? await fastest(make) : await make(options.k ?? null);
  } catch (error) {
    throw (error instanceof InfeasibleError ? unreached(problem.topology, problem.collective, usable) : null) ?? error;
  } finally {
    dispose();
  }
  const ms = performance.now() - started;
  begin("limit");
  const limit = limitWithBottleneck(engine.kernels, problem.topology, problem.collective);
  begin("verify");
  const { found, pieces } = best;
  const { flow } = found;
  refuse(maker, verifyTreeFlow(flow).violations);
  const { achieved, proof, violations } = judgeCertificate(flow);
  refuse(maker, violations);
  begin("simulate");
  const simulated = simulateTreeFlow(flow, pieces);
  if (flow.inNetwork !== true && treeTransfers(flow, pieces) <= MOST_STEPS)
    judgeSteps(engine, maker, flow, pieces, simulated.ps);
  begin("bound");
  const certified =
    flow.certificate === null || proof === null ? null : boundOfCertificate(flow, flow.certificate, proof.bound);
  const ofBandwidth = bandwidthLimit(engine, problem, limit);
  const report = treesReport({
    flow,
    algorithm: maker.name,
    pieces,
    achieved,
    bound: certified === null ? ofBandwidth : greaterBound(certified, ofBandwidth),
    limit,
    reference: referencePs(problem.topology, problem.collective),
    simulated,
    traffic: options.nvls === false || flow.inNetwork === true ? null : trafficSaved(flow),
    repaired: found.repaired,
    notes: [...notes, ...found.notes],
    synthesis: {
      ms: Math.round(ms * 1000) / 1000,
      backend: engine.backend,
      threads: 1,
      seed: options.seed ?? 1,
      trials: found.trials,
      policy: found.policy,
    },
  });
  return { schedule: flow, report };
}

/** Trees that were made, and what they take in so many pieces. */
interface Timed {
  readonly found: TreeSynthesis;
  readonly pieces: number;
  readonly ps: number;
}

function timed(found: TreeSynthesis, chunks: number | "auto"): Timed {
  const { flow } = found;
  const clock = treeFlowClock(flow);
  const pieces = chunks === "auto" ? bestPieces(flow, flow.collective.sizeBytes, clock) : chunks;
  return { found, pieces, ps: clock(pieces) };
}

/** Copies per root that `--k auto` tries beside those of the optimum: fewer make shorter pipelines. */
const COPIES_TRIED = [1, 2, 3, 4];

/**
 * Returns the trees that take the least time at the size asked for, the optimal ones among equals. Numbers of copies that the
 * algorithm does not make are left out.
 */
async function fastest(make: (copiesPerRoot: number | null) => Promise<Timed>): Promise<Timed> {
  let best = await make(null);
  for (const copies of COPIES_TRIED) {
    const other = await make(copies).catch(whereRefused);
    if (other !== null && other.ps < best.ps) best = other;
  }
  return best;
}

function whereRefused(error: unknown): null {
  if (error instanceof InputError) return null;
  throw error;
}

/** So many times larger, no latency bounds a collective. */
const VAST = 2 ** 40;

/** Returns the limit of a collective where only bandwidth counts: that of a vast size, scaled down. */
function bandwidthLimit(engine: Engine, { topology, collective }: Problem, limit: Bound): Bound {
  if (limit.witness.kind !== "latency") return limit;
  const chunkBytes = multiply(collective.chunkBytes, rational(VAST));
  const vast = limitWithBottleneck(engine.kernels, topology, { ...collective, chunkBytes });
  const ps = divide(vast.ps, rational(VAST));
  const { witness } = vast;
  if (witness.kind !== "cut") return { ps, witness };
  const bytes = Math.round((toNumber(ps) / PS_PER_SECOND) * witness.entryGBps * BYTES_PER_GB);
  return { ps, witness: { ...witness, demand: roundedBytes(bytes) } };
}

function refuse({ name }: TreeMaker, violations: readonly Violation[]): void {
  if (violations.length === 0) return;
  throw new InternalError(`${name} made trees that break rules: ${violations[0]?.message}`);
}

/** Holds the steps of a flow against the judges of steps, and their replay against the time in closed form. */
function judgeSteps({ kernels }: Engine, maker: TreeMaker, flow: TreeFlow, pieces: number, ps: number): void {
  const steps = stepsOfTrees(flow, pieces);
  refuse(maker, verifySchedule(steps, { limit: 1 }).violations);
  const replayed = simulateSchedule(steps, { replay: kernels.replay }).ps;
  if (replayed > ps) throw new InternalError(`the steps of ${maker.name} take ${replayed} ps, not ${ps}`);
}
