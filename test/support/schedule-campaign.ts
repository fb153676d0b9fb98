import { InputError } from "../../src/base/errors.ts";
import { type Random, random } from "../../src/base/random.ts";
import { rational } from "../../src/model/numbers/rational.ts";
import type { StepsProblem } from "../../src/model/replay/steps-problem.ts";
import { expandSlots } from "../../src/model/slots/slot-schedule.ts";
import { inRowOrder, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import type { Certificate, DualCertificate } from "../../src/model/trees/tree-flow.ts";
import { verifySlots } from "../../src/verify/slots/slot-schedule.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { isShown } from "../../src/verify/steps/shown.ts";
import { judgeCertificate } from "../../src/verify/trees/certificate.ts";
import { verifyTreeFlow } from "../../src/verify/trees/tree-flow.ts";
import { availableKernels } from "./backends.ts";
import { joined, put, read, readAll, resealed } from "./bys-files.ts";
import { pick } from "./draws.ts";
import { mergedSchedule } from "./merged-schedules.ts";
import { mutant } from "./mutants.ts";
import { builtTrees, type PlainFlow } from "./plain-trees.ts";
import { judge } from "./schedule-oracle.ts";
import { simpleSchedule } from "./simple-schedules.ts";
import { built, slotCases } from "./slot-cases.ts";
import { slotMutant } from "./slot-mutants.ts";
import { expansionOf } from "./slot-oracle.ts";
import { drawnFlows } from "./tree-flow-cases.ts";
import { treeMutant } from "./tree-flow-mutants.ts";
import { judgeTrees } from "./tree-flow-oracle.ts";

/** Mutants of schedules of every kind, judged by the verifier and by brute force. */

/** What became of a mutant: judged right or wrong by both, or what they do not agree on. */
export type Verdict = "right" | "wrong" | { readonly fault: string };

type Trial = (draws: Random) => Verdict;

const agreed = (name: string, verified: boolean, oracle: boolean, why: string | undefined): Verdict =>
  verified === oracle
    ? oracle
      ? "right"
      : "wrong"
    : { fault: `${name}: verified ${verified}, oracle ${oracle}: ${why}` };

/** Oracles that write everything out are for so many transfers. */
const MOST_ROWS = 400;

const kernels = await availableKernels();

/**
 * The kernels that look first must not show a wrong schedule, and must show a right one whose rows are in order, unless its sums
 * cannot be told by the numbers of contributions.
 */
function ofKernels(name: string, schedule: StepSchedule, valid: boolean): string | null {
  const ordered = inRowOrder(schedule);
  for (const kernel of kernels.filter(({ backend }) => backend !== "js")) {
    const judgeOn = (threads: number) => (problem: StepsProblem) => kernel.judge({ ...problem, threads });
    for (const shown of [isShown(schedule, judgeOn(1)), isShown(ordered, judgeOn(2))]) {
      if (shown && !valid) return `${name}: shown by ${kernel.backend}, and wrong`;
    }
    if (valid && !schedule.collective.reduces && !isShown(ordered, judgeOn(2)))
      return `${name}: right, and not shown by ${kernel.backend}`;
  }
  return null;
}

function ofSteps(name: string, schedule: StepSchedule): Verdict {
  const { violationCount, violations } = verifySchedule(schedule, { limit: 1 });
  const { valid } = judge(schedule);
  const fault = ofKernels(name, schedule, valid);
  return fault === null ? agreed(name, violationCount === 0, valid, violations[0]?.message) : { fault };
}

const stepSchedule = (draws: Random): StepSchedule =>
  draws.below(2) === 0 ? simpleSchedule(draws.below(1e6)) : mergedSchedule(draws.below(1e6));

const steps: Trial = (draws) => ofSteps("steps", mutant(stepSchedule(draws), draws));

function logs(): Trial {
  const cases = slotCases(300);
  return (draws) => {
    const { name, schedule } = slotMutant(pick(cases, draws), draws);
    const { faults, steps: expanded } = expansionOf(schedule);
    const right = faults.length === 0 && expanded !== null && verifySchedule(expanded).violationCount === 0;
    const { violationCount, violations } = verifySlots(schedule, { limit: 1 });
    return agreed(name, violationCount === 0, right, violations[0]?.message);
  };
}

function trees(flows: readonly PlainFlow[]): Trial {
  return (draws) => {
    const { name, flow } = treeMutant(pick(flows, draws), draws);
    const { violationCount, violations } = verifyTreeFlow(builtTrees(flow), { limit: 1 });
    return agreed(name, violationCount === 0, judgeTrees(flow).valid, violations[0]?.message);
  };
}

function drawnSet({ topology, collective }: PlainFlow, draws: Random): Int32Array {
  const lacking = pick([...collective.groupMembers], draws);
  const few = 2 + draws.below(3);
  return Int32Array.from([...topology.nodeNames.keys()].filter((v) => v !== lacking && draws.below(few) > 0));
}

const direction = (draws: Random): "out" | "in" => (draws.below(2) === 0 ? "out" : "in");

/** Returns a cut or weighted sets, some of which cover every member the same, as proofs do. */
function drawnCertificate(flow: PlainFlow, draws: Random): Certificate {
  if (draws.below(2) === 0) return { kind: "cut", nodes: drawnSet(flow, draws), direction: direction(draws) };
  const members = [...flow.collective.groupMembers];
  const weight = rational(1, 2 * Math.max(1, members.length - 1));
  const even: DualCertificate["cuts"] = members.flatMap((lacking) =>
    (["out", "in"] as const).map((way) => ({
      nodes: Int32Array.from([...flow.topology.nodeNames.keys()].filter((v) => v !== lacking)),
      direction: way,
      weight,
    })),
  );
  const more = Array.from({ length: draws.below(3) }, () => ({
    nodes: drawnSet(flow, draws),
    direction: direction(draws),
    weight: rational(draws.below(5), 1 + draws.below(8)),
  }));
  const cuts = [...even.filter(() => draws.below(12) > 0), ...more];
  if (draws.below(2) === 0) return { kind: "dual", cuts };
  const potential = () => rational(draws.below(9) - 4, 1 + draws.below(8));
  const outside = [...flow.topology.nodeNames.keys()].filter((node) => !members.includes(node) && draws.below(3) > 0);
  return { kind: "dual", cuts, potentials: outside.map((node) => ({ node, out: potential(), in: potential() })) };
}

/** A certificate that proves less than a flow reaches proves what is false. */
function certificates(flows: readonly PlainFlow[]): Trial {
  return (draws) => {
    const flow = { ...pick(flows, draws) };
    flow.certificate = drawnCertificate(flow, draws);
    const { proof, violations } = judgeCertificate(builtTrees(flow));
    const [violation] = violations;
    if (violation?.message.includes("faster than that"))
      return { fault: `${flow.certificate.kind}: ${violation.message}` };
    return proof === null ? "wrong" : "right";
  };
}

const refused = <T>(made: () => T): T | null => {
  try {
    return made();
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
};

/** A changed file is refused, or (its checksums made right) read and judged as brute force judges it. */
function files(): Trial {
  const cases = slotCases(60);
  return (draws) => {
    const bytes = joined(draws.below(2) === 0 ? stepSchedule(draws) : built(pick(cases, draws)));
    const at = draws.below(bytes.length);
    const changed = put(bytes, at, bytes[at] ^ (1 + draws.below(255)));
    if (refused(() => readAll(changed)) !== null) return { fault: `byte ${at} changed, and read` };
    const schedule = refused(() => read(resealed(changed)));
    if (schedule === null) return "wrong";
    if (!("slotPs" in schedule)) return schedule.chunk.length > MOST_ROWS ? "right" : ofSteps(`byte ${at}`, schedule);
    const verified = refused(() => verifySlots(schedule, { limit: 1 }).violationCount === 0);
    if (verified === true && verifySchedule(expandSlots(schedule)).violationCount > 0)
      return { fault: `byte ${at}: logs that are verified, but not their transfers` };
    return verified === true ? "right" : "wrong";
  };
}

/** Returns the campaigns by name. */
export function scheduleTrials(): Readonly<Record<string, Trial>> {
  const flows = drawnFlows(400);
  return { steps, logs: logs(), trees: trees(flows), certificates: certificates(flows), ".bys files": files() };
}

export interface ScheduleTally {
  readonly right: number;
  readonly wrong: number;
  readonly faults: readonly string[];
}

/** Returns what became of mutants from .. from + count; mutant k is the same for any count. A judge that throws is a fault. */
export function judgeMutants(name: string, trial: Trial, seed: number, from: number, count: number): ScheduleTally {
  const tally = { right: 0, wrong: 0, faults: [] as string[] };
  for (let k = from; k < from + count; k++) {
    try {
      const verdict = trial(random(seed, k));
      if (typeof verdict === "string") tally[verdict]++;
      else tally.faults.push(`${name} ${k}: ${verdict.fault}`);
    } catch (error) {
      tally.faults.push(`${name} ${k}: ${(error as Error).stack}`);
    }
  }
  return tally;
}
