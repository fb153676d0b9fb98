import { InputError, inWords, WrongScheduleError } from "../../base/errors.ts";
import type { Kernels } from "../../engine/contract/kernels.ts";
import { looksLikeProgram, readProgram } from "../../import/programs/program.ts";
import { bytesSource, looksLikeBys, readBys } from "../../import/schedules/bys.ts";
import { readScheduleText } from "../../import/schedules/schedule-text.ts";
import { isSendsText, readSendTable } from "../../import/schedules/sends.ts";
import { utf8Text } from "../../import/text/utf8.ts";
import { expanded } from "../../kinds/expand.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { busFactor, type Collective, collectiveName } from "../../model/collective/collective.ts";
import { isJoint } from "../../model/joint/joint-schedule.ts";
import { divide, multiply, rational } from "../../model/numbers/rational.ts";
import { formatSize, PS_PER_US } from "../../model/numbers/units.ts";
import { isPhaseSchedule } from "../../model/phases/phase-schedule.ts";
import type { RuntimeName } from "../../model/program/runtime-names.ts";
import { runtimesOf } from "../../model/program/runtimes.ts";
import { routeTimes } from "../../model/routes/routes.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import type { ComparisonRow } from "../../report/comparison.ts";
import { bandwidth } from "../../report/result.ts";
import type { CollectiveOptions } from "../../request/problem.ts";
import { simulateProgram } from "../../simulate/program/program.ts";
import { verifyProgram } from "../../verify/program/program.ts";
import { inRows, sendsFor } from "./own-sends.ts";

/** What people bring to a comparison: schedules, lists of sends, programs; their time at any size, in the same simulation. */

/** One line of a comparison that is not of an algorithm of ours. */
export interface OwnLine {
  /** Its file. */
  readonly name: string;
  readonly kind: "schedule" | "program";
  /** Of a program: what reads it. */
  readonly runtimes?: readonly RuntimeName[];
  /**
   * Returns its time at a size, verified and simulated. Throws InputError where it is of another network or collective, and
   * WrongScheduleError where it is wrong.
   */
  at(sizeBytes: number): Pick<ComparisonRow, "us" | "algbwGBps" | "busbwGBps" | "chunks">;
}

/** What they are compared on. */
export interface OwnAsked {
  readonly topology: Topology;
  /** What is compared, its size left open. */
  readonly request: CollectiveOptions;
  /** The collective of the comparison at some size. */
  readonly collective: Collective;
  readonly kernels: Kernels;
}

/**
 * Returns the line of a file: a program (MSCCL XML, an MSCCL++ plan), a schedule (JSON or .bys) or a list of sends, told by its
 * content. Throws the reader's InputError, and for what is of another network or collective.
 */
export async function ownLine(bytes: Uint8Array, name: string, asked: OwnAsked): Promise<OwnLine> {
  const { topology, request } = asked;
  if (looksLikeBys(bytes)) return scheduleLine(await readBys(bytesSource(bytes), name, { topology }), name, asked);
  const text = utf8Text(bytes, name);
  if (looksLikeProgram(text)) return programLine(text, name, asked);
  if (!isSendsText(text)) {
    const schedule = readScheduleText(text, name, { topology });
    if (isJoint(schedule))
      throw new InputError(name, "a schedule of one collective", inWords(`one of ${schedule.tenants.length} at once`));
    return scheduleLine(schedule, name, asked);
  }
  const table = readSendTable(text, name);
  const { chunks: _, ...open } = request;
  return {
    name,
    kind: "schedule",
    at(sizeBytes) {
      const sends = sendsFor(table, { topology, collective: () => ({ ...open, sizeBytes }) });
      refuseOther(sends.schedule.collective, asked.collective, name);
      return timeOf(inRows(kindOf(sends.schedule), sends), name, asked.kernels);
    },
  };
}

/** Throws InputError for a collective that is not the one that is compared, whatever the sizes and chunks. */
function refuseOther(own: Collective, wanted: Collective, name: string): void {
  const isSame =
    own.kind === wanted.kind &&
    own.groupCount === wanted.groupCount &&
    own.rootRank === wanted.rootRank &&
    own.groupMembers.join() === wanted.groupMembers.join();
  if (isSame) return;
  const [what, other] = [own, wanted].map(({ kind, groupSize }) => `${collectiveName(kind)} among ${groupSize}`);
  const says = what === other ? `${what} other NPUs, or with another root,` : `${what} NPUs`;
  throw new InputError(name, `${other} NPUs`, what).saying(
    `${name} makes ${says} and what is compared is ${other} NPUs`,
  );
}

function timeOf(kind: ReturnType<typeof kindOf>, name: string, { replay }: Kernels): ReturnType<OwnLine["at"]> {
  const { violations, violationCount } = kind.judge({ limit: 1 });
  if (violationCount > 0) throw wrong(name, violationCount, violations[0]?.message);
  const found = kind.simulate({ replay });
  const [first] = kind.collectives;
  const { us, algbwGBps, busbwGBps } = kind.timing(found?.ps ?? kind.endPs());
  return { us, algbwGBps, busbwGBps, chunks: found?.pieces ?? first?.chunksPerNpu ?? 1 };
}

const wrong = (name: string, many: number, first = ""): WrongScheduleError =>
  new WrongScheduleError(
    `${name} is wrong, so it is not compared (${many === 1 ? "1 violation" : `${many} violations, the first`}: ${first}); \`banyan verify\` says all`,
  );

function scheduleLine(schedule: AnySchedule, name: string, asked: OwnAsked): OwnLine {
  refuseOther(schedule.collective, asked.collective, name);
  return {
    name,
    kind: "schedule",
    at: (sizeBytes) => timeOf(kindOf(resized(schedule, sizeBytes, name)), name, asked.kernels),
  };
}

/**
 * Returns a schedule of the same transfers with another size of data. Planned times are multiplied by the least whole number
 * that leaves every transfer long enough; a simulation keeps to their order only. Throws InputError for phases of another size.
 */
export function resized(schedule: AnySchedule, sizeBytes: number, name: string): AnySchedule {
  const { collective } = schedule;
  if (sizeBytes === collective.sizeBytes) return schedule;
  const chunkBytes = divide(
    multiply(collective.chunkBytes, rational(BigInt(sizeBytes))),
    rational(BigInt(collective.sizeBytes)),
  );
  const other: Collective = { ...collective, sizeBytes, chunkBytes };
  if (isTreeFlow(schedule)) return { ...schedule, collective: other };
  if (isPhaseSchedule(schedule))
    throw new InputError(
      name,
      `phases of ${formatSize(sizeBytes)}: their times are for one size,`,
      formatSize(collective.sizeBytes),
    );
  const steps = expanded(schedule, name);
  const { topology, routes } = steps;
  const [before, after] = [chunkBytes, collective.chunkBytes].map((bytes) => routeTimes(topology, routes, bytes));
  let stretch = 1;
  for (let route = 0; route < routes.source.length; route++) {
    for (const times of ["slotPs", "serialPs"] as const) {
      const [wanted, had] = [before?.[times][route] ?? 0, after?.[times][route] ?? 0];
      if (had > 0) stretch = Math.max(stretch, Math.ceil(wanted / had));
    }
  }
  const stretched = (times: Float64Array): Float64Array => times.map((ps) => ps * stretch);
  const resizedSteps: StepSchedule = {
    ...steps,
    collective: other,
    startPs: stretched(steps.startPs),
    endPs: stretched(steps.endPs),
  };
  return resizedSteps;
}

function programLine(text: string, name: string, { topology, collective: wanted }: OwnAsked): OwnLine {
  const program = readProgram(text, name);
  const { collective: kind, rankCount, loopChunks } = program;
  if (kind !== wanted.kind || rankCount !== wanted.groupSize || wanted.groupCount !== 1) {
    const other = `${collectiveName(wanted.kind)} among ${wanted.groupCount === 1 ? "" : `${wanted.groupCount} groups of `}${wanted.groupSize}`;
    const what = `${collectiveName(kind)} among ${rankCount}`;
    throw new InputError(name, other, what).saying(
      `${name} is a program for ${what} GPUs and what is compared is ${other} NPUs`,
    );
  }
  let isJudged = false;
  return {
    name,
    kind: "program",
    runtimes: runtimesOf(program),
    at(sizeBytes) {
      if (!isJudged) {
        const { violations, violationCount } = verifyProgram(program, { limit: 1 });
        if (violationCount > 0) throw wrong(name, violationCount, violations[0]?.message);
        isJudged = true;
      }
      const { ps } = simulateProgram(program, topology, { sizeBytes, rankToNpu: wanted.groupMembers });
      const us = ps / PS_PER_US;
      const algbwGBps = bandwidth(sizeBytes, us);
      const busbwGBps = algbwGBps === null ? null : algbwGBps * busFactor(wanted.kind, rankCount);
      return { us, algbwGBps, busbwGBps, chunks: Math.max(1, Math.floor(loopChunks / rankCount)) };
    },
  };
}
