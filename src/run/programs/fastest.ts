import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { becomesCustom } from "../../lower/any-moves.ts";
import { goesThroughSwitch, takesPackets } from "../../lower/mscclpp/plan.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { type GivenSchedule, isJoint } from "../../model/joint/joint-schedule.ts";
import { formatSize, toUs } from "../../model/numbers/units.ts";
import { instructionCount, type Program } from "../../model/program/program.ts";
import { groupOrder, isTreeFlow, listedTrees, type TreeFlow } from "../../model/trees/tree-flow.ts";
import type { ProgramOptions, WantedProgram } from "../../request/from-texts.ts";
import type { Beside } from "./beside.ts";
import {
  INSTANCES_TRIED,
  MOST_INSTANCES_TRIED,
  runsAtOnce,
  saturatingInstances,
  VAIN_INSTANCES,
  withBlockRate,
} from "./instances.ts";
import { KnownPrograms } from "./known-programs.ts";
import { MANY_INSTRUCTIONS } from "./program-file.ts";
import {
  callOf,
  judged,
  judgedAndSimulated,
  lowered,
  loweredOf,
  type MadeProgram,
  type Making,
  timedCall,
  unheard,
} from "./programs.ts";

/** Parts of each tree's data, and of runs of tables, that are tried: few for small sizes, more to fill pipelines. */
const PARTS_TRIED = [6, 1, 16, 3];
/** Of plans: parts that follow each other, dealt to few or many thread blocks; of packets, which wait for less, fewer. */
const PLAN_CUTS_TRIED: readonly Choice[] = [1, 8].flatMap((slices) => [4, 8].map((parts) => ({ parts, slices })));
const PACKET_CUTS_TRIED: readonly Choice[] = [{ parts: 2 }];
const PLAN_INSTANCES_TRIED = [1, ...INSTANCES_TRIED];

type Choice = Partial<
  Pick<
    ProgramOptions,
    | "lanes"
    | "whole"
    | "joining"
    | "passing"
    | "order"
    | "parts"
    | "protocol"
    | "instances"
    | "reads"
    | "throughSwitch"
    | "slices"
  >
>;

/** Returns how trees and runs are cut, and how steps are ordered and put together; what is usual first. */
function shapesOf(given: GivenSchedule, { parts, joining, passing }: ProgramOptions): Choice[] {
  const schedule = loweredOf(given);
  const joinings = joining === undefined ? (["apart", "under way", "ready"] as const) : [joining];
  const passings = passing === undefined ? [false, true] : [passing];
  const cuts = (parts === undefined ? PARTS_TRIED : [parts]).map((many) => ({ parts: many }));
  const steps: Choice[] = joinings.flatMap((joined) =>
    passings.map((passes) => ({ joining: joined, passing: passes })),
  );
  if (becomesCustom(schedule))
    return cuts.flatMap((cut) => steps.map((step) => ({ ...step, ...cut, order: "simulated" })));
  if (isJoint(schedule) || !isTreeFlow(schedule))
    return (["simulated", "planned"] as const).flatMap((order) => steps.map((step) => ({ ...step, order })));
  if (parts !== undefined) return cuts;
  const [usual, ...others] = cuts;
  const lanes = [
    ...(usual === undefined ? [] : [usual]),
    ...steps.map((step) => ({ ...step, lanes: false })),
    ...others,
  ];
  if (!isLargeAndSymmetric(schedule)) return lanes;
  const whole = wholeShapes(schedule.collective, joinings, passings);
  return transfersOfPiece(schedule) > VERY_MANY_TRANSFERS && whole.length > 0 ? whole : [...whole, ...lanes];
}

/** Transfers of trees in one piece from which on programs are made of them. */
const MANY_TRANSFERS = 1e4;
/** Of more nothing else is tried: it takes minutes. */
const VERY_MANY_TRANSFERS = 5e5;

const transfersOfPiece = ({ forests, symmetry, collective }: TreeFlow): number =>
  listedTrees({ forests }) * groupOrder(symmetry) * (collective.groupSize - 1);

const isLargeAndSymmetric = (flow: TreeFlow): boolean =>
  flow.symmetry !== null && flow.inNetwork !== true && transfersOfPiece(flow) >= MANY_TRANSFERS;

/** Returns the ways to make steps of whole trees, of which one rank stands for all: what goes up is better not passed on in the same breath. */
const wholeShapes = ({ reduces }: Collective, joinings: readonly string[], passings: readonly boolean[]): Choice[] =>
  !joinings.includes("apart")
    ? []
    : (["planned", "simulated"] as const).flatMap((order) =>
        (reduces ? passings : [...passings].reverse()).map(
          (passing) => ({ whole: true, joining: "apart", passing, order }) as const,
        ),
      );

/** Parts of each tree's data that are tried in plans for MPI, which cut long messages by themselves. */
const MPI_PARTS_TRIED = [1, 4, 16];
/** Chunks of one course in instructions of their own. */
const EACH_CHUNK = 1024;

/** Returns how a schedule becomes a plan for MPI; what is usual first. */
function mpiShapesOf(given: GivenSchedule, { parts }: ProgramOptions): Choice[] {
  const isOfTrees = !isJoint(given) && isTreeFlow(given);
  const cuts = parts !== undefined ? [parts] : isOfTrees ? MPI_PARTS_TRIED : [1, EACH_CHUNK];
  return cuts.flatMap((many) => (["simulated", "planned"] as const).map((order) => ({ parts: many, order })));
}

/** Returns how a schedule becomes an MSCCL++ plan: through switches or not, with reads or writes; what is usual first. */
function planShapesOf(given: GivenSchedule, target: ProgramOptions): Choice[] {
  const schedule = loweredOf(given);
  const isTable = isJoint(schedule) || becomesCustom(schedule);
  const bySwitch = !isTable && target.throughSwitch !== false && isTreeFlow(schedule) && goesThroughSwitch(schedule);
  const sums = isTable || schedule.collective.reduces;
  const reading = sums && target.reads === undefined ? [true, false] : [target.reads];
  const plain = reading.map((reads) => (reads === undefined ? {} : { reads }));
  if (!bySwitch) return plain;
  return [{}, ...(target.throughSwitch === undefined ? plain.map((how) => ({ ...how, throughSwitch: false })) : [])];
}

/** Returns the protocols in which a plan of a shape is tried. */
function planProtocolsOf(
  given: GivenSchedule,
  { protocol, throughSwitch, reads }: ProgramOptions,
): Program["protocol"][] {
  if (protocol !== undefined) return [protocol];
  const schedule = loweredOf(given);
  const isTable = isJoint(schedule) || becomesCustom(schedule);
  const bySwitch = !isTable && throughSwitch !== false && isTreeFlow(schedule) && goesThroughSwitch(schedule);
  const inPackets = !isTable && !bySwitch && takesPackets(schedule.collective.kind);
  // nobody reads packets elsewhere
  return inPackets && reads !== false ? ["Simple", "LL"] : ["Simple"];
}

/** Returns the ways in which a plan of trees is cut into parts that follow each other, where their data is worth it. */
function planCutsOf(given: GivenSchedule, { program, options }: Candidate): Choice[] {
  const schedule = loweredOf(given);
  if (isJoint(schedule) || becomesCustom(schedule) || !isTreeFlow(schedule)) return [];
  const bySwitch = options.throughSwitch !== false && goesThroughSwitch(schedule);
  if (bySwitch || options.parts !== undefined || callOf(program, schedule).sizeBytes < LATENCY_BOUND_BYTES) return [];
  if (options.protocol === "LL") return [...PACKET_CUTS_TRIED];
  return options.reads === undefined
    ? [...PLAN_CUTS_TRIED]
    : [options.reads, !options.reads].flatMap((reads) => PLAN_CUTS_TRIED.map((cut) => ({ ...cut, reads })));
}

/** How many times slower the plans of a protocol may be than those of another to be looked at any closer. */
const HOPELESS = 1.5;
const isHopeless = (one: Candidate, best: Candidate | undefined): boolean => one.us > HOPELESS * (best?.us ?? LONG);

/** Other orders, cuts and instances make no program of a shape this many times as fast; the most seen is 1.9. */
const MOST_GAINED = 2.5;

/** Times that differ by no more than this share are alike. */
const WORTH_IT = 0.99;
const LONG = Number.POSITIVE_INFINITY;
/** Transfers that are lowered, and messages and instructions that are simulated, at most, but for the first program. */
const MOST_WORK = 8e6;
/** Of these for shapes: the rest is for what is best of them. */
const WORK_FOR_SHAPES = 4e6;
/** A program as simulated. */
interface Candidate {
  readonly program: Program;
  readonly options: ProgramOptions;
  readonly us: number;
  /** Judged already, as one that is too large to be one of many. */
  readonly made?: MadeProgram;
}

/** The fastest of a schedule's programs. */
export interface FastestProgram extends Omit<Candidate, "made"> {
  readonly made: MadeProgram;
}

/** What the fastest of a schedule's programs takes where that is longer than would be worth it. */
export interface SlowerProgram {
  readonly slowerUs: number;
}

/**
 * Returns the fastest of a schedule's programs as simulated at the schedule's size, and how it was lowered: first the shapes, in
 * every protocol, then other orders and instances of the best. Of programs of many instructions the first that can be made and is right
 * is taken; it is judged, simulated and written side by side. Rejects with InputError where none fits the runtime.
 */
export const fastestProgram = (
  schedule: GivenSchedule,
  target: WantedProgram,
  beside: Beside,
  onProgress: Making = unheard,
): Promise<FastestProgram> =>
  fastestWithin(LONG, schedule, target, new KnownPrograms(), beside, onProgress) as Promise<FastestProgram>;

/**
 * As `fastestProgram`, with what is `known` of other programs on the network; a program that takes longer than `worthUs` is not
 * judged, and not looked for to the end where others are hopeless.
 */
export async function fastestWithin(
  worthUs: number,
  schedule: GivenSchedule,
  wanted: WantedProgram,
  known: KnownPrograms,
  beside: Beside,
  onProgress: Making,
): Promise<FastestProgram | SlowerProgram> {
  const target = withBlockRate(wanted, schedule.topology);
  const transfers = kindOf(schedule).parts.many;
  const found: Candidate[] = [];
  let refused: unknown = null;
  let work = 0;
  let tries = 0;
  const tryOne = async (options: ProgramOptions, made: () => Program): Promise<Program | null> => {
    if (work >= MOST_WORK) return null;
    onProgress({ phase: `lower ${++tries}`, done: 0, total: 1 });
    work += transfers;
    try {
      const program = made();
      // instances that were not asked for are of use only where they can run
      const areFound = target.blockBytesPerSecond !== undefined && (options.instances ?? 1) > 1;
      if (areFound && !runsAtOnce(program, schedule.topology)) return null;
      if (instructionCount(program) > MANY_INSTRUCTIONS) {
        const whole = await judgedAndSimulated(program, schedule, options, beside, onProgress);
        work = MOST_WORK;
        found.push({ ...whole, program, options });
        return null;
      }
      const call = timedCall(program, schedule, target);
      const most = program.maxBytes ?? LONG;
      if (call.sizeBytes > most) {
        const expected = `at most ${formatSize(most)}, as far as 32-bit offsets reach`;
        throw new InputError(optionName("sizeBytes"), expected, formatSize(call.sizeBytes)).as("out-of-range");
      }
      const { ps, messages, instructions } = known.simulated(program, schedule.topology, call);
      work += messages + instructions;
      found.push({ program, options, us: toUs(ps) });
      return program;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      refused ??= error;
      return null;
    }
  };
  const bestOf = (which: (one: Candidate) => boolean = () => true): Candidate | undefined =>
    bestOfThese(found.filter(which), schedule);
  const tryPlan = (options: ProgramOptions): Promise<Program | null> =>
    tryOne(options, () => lowered(schedule, options, known.plans));
  /** Returns up to how many instances the best program has links that a thread block of it alone does not fill. */
  const mostInstances = (best: Candidate | undefined): number => {
    const { blockBytesPerSecond } = target;
    if (best === undefined || blockBytesPerSecond === undefined) return 1;
    const { program } = best;
    return saturatingInstances(program, schedule.topology, callOf(program, schedule).rankToNpu, blockBytesPerSecond);
  };
  /** Tries, where thread blocks have a limit, all instances of a shape that may fill links better, and more for as long as they pay. */
  const tryOtherInstances = async (
    best: Candidate,
    tryThese: (options: ProgramOptions) => Promise<unknown>,
  ): Promise<void> => {
    if (target.blockBytesPerSecond === undefined) return;
    const shape = shapeOf(best);
    const made = new Set(found.filter((one) => shapeOf(one) === shape).map(({ options }) => options.instances ?? 1));
    const filling = Math.max(mostInstances(best), ...INSTANCES_TRIED);
    let vain = 0;
    for (let instances = 2; instances <= MOST_INSTANCES_TRIED && vain < VAIN_INSTANCES; instances++) {
      const before = bestOf()?.us ?? LONG;
      if (!made.has(instances)) await tryThese({ ...best.options, instances });
      if (instances > filling) vain = (bestOf()?.us ?? LONG) > WORTH_IT * before ? vain + 1 : 0;
    }
  };
  const isWorthMore = (): boolean => {
    const best = bestOf();
    return (best?.us ?? 0) <= MOST_GAINED * mostInstances(best) * worthUs;
  };
  const { runtime } = target;
  if (runtime === "mpi") {
    for (const shape of mpiShapesOf(schedule, target)) await tryPlan({ ...target, ...shape });
  } else if (runtime === "mscclpp") {
    for (const shape of planShapesOf(schedule, target)) {
      const how = { ...target, ...shape };
      for (const protocol of planProtocolsOf(schedule, how)) await tryPlan({ ...how, protocol });
    }
    for (const protocol of ["Simple", "LL"] as const) {
      const bestSo = () => bestOf((one) => one.options.protocol === protocol);
      const best = bestSo();
      if (best === undefined || !isWorthMore() || isHopeless(best, bestOf())) continue;
      for (const cut of planCutsOf(schedule, best)) await tryPlan({ ...best.options, ...cut });
      const cut = bestSo() ?? best;
      if (target.instances === undefined)
        for (const instances of PLAN_INSTANCES_TRIED) await tryPlan({ ...cut.options, instances });
      await tryOtherInstances(bestSo() ?? cut, tryPlan);
    }
  } else {
    // LL128 takes as little time as LL where messages are small, and is not far behind Simple where they are not
    const protocols = ["Simple", runtime === "rccl" ? "LL" : "LL128"] as const;
    const [usual, ...others] = target.protocol === undefined ? protocols : [target.protocol];
    const tryProtocols = async (how: ProgramOptions): Promise<void> => {
      const options = { ...how, protocol: usual };
      const program = await tryOne(options, () => lowered(schedule, options));
      if (program === null) return;
      for (const protocol of others) await tryOne({ ...options, protocol }, () => ({ ...program, protocol }));
    };
    const shapes = shapesOf(schedule, target);
    for (const shape of shapes) if (work < WORK_FOR_SHAPES) await tryProtocols({ ...target, ...shape });
    const orders = new Set(shapes.map(({ order }) => order));
    const more: Choice[] = orders.has("simulated") && !orders.has("planned") ? [{ order: "planned" }] : [];
    for (const answer of isWorthMore() ? more : []) await tryProtocols({ ...(bestOf()?.options ?? target), ...answer });
    // what fits in no way fits in more instances even less
    if (target.instances === undefined && isWorthMore()) {
      for (const { options } of bestShapes(found))
        for (const instances of INSTANCES_TRIED) await tryProtocols({ ...options, instances });
      const done = new Set<string>();
      for (let best = bestOf(); best !== undefined && !done.has(shapeOf(best)); best = bestOf()) {
        done.add(shapeOf(best));
        await tryOtherInstances(best, tryProtocols);
      }
    }
  }
  for (;;) {
    const best = bestOf();
    if (best === undefined) throw refused;
    if (best.us > worthUs) return { slowerUs: best.us };
    found.splice(found.indexOf(best), 1);
    try {
      const { program, options, us } = best;
      return { program, options, us, made: best.made ?? judged(program, schedule, options, onProgress) };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      refused = error;
    }
  }
}

/** Calls of fewer bytes wait for messages more than for bytes: thread blocks and instructions that win less than this are too many. */
const LATENCY_BOUND_BYTES = 2 ** 20;
const WORTH_BLOCKS = 0.95;

/** Plans for MPI of more messages must win more than this. */
const WORTH_MESSAGES = 0.97;

/** Returns the candidate of fewest instructions, of equals the first. */
const fewest = (found: readonly Candidate[]): Candidate | undefined =>
  found.reduce<Candidate | undefined>(
    (best, one) => (best === undefined || instructionCount(one.program) < instructionCount(best.program) ? one : best),
    undefined,
  );

/** Shapes that are tried in more instances: what is as fast in one need not be in several. */
const SHAPES_INSTANCED = 3;

/** Returns how a candidate is lowered, but for its protocol and instances. */
const shapeOf = ({ options }: Candidate): string =>
  JSON.stringify({ ...options, protocol: undefined, instances: undefined });

/** Returns the fastest candidates, each in its faster protocol; of equals the first ones. */
function bestShapes(found: readonly Candidate[]): Candidate[] {
  const best = new Map<string, Candidate>();
  for (const one of found) {
    const shape = shapeOf(one);
    if (one.us < (best.get(shape)?.us ?? LONG)) best.set(shape, one);
  }
  return [...best.values()].sort((a, b) => a.us - b.us).slice(0, SHAPES_INSTANCED);
}

/**
 * Returns the fastest candidate. Of those that are as good as the fastest the first; of calls that wait for messages the one of
 * fewest instructions, with flags beside its data: what the simulation does not count is least there.
 */
function bestOfThese(found: readonly Candidate[], schedule: GivenSchedule): Candidate | undefined {
  const least = found.reduce((us, one) => Math.min(us, one.us), LONG);
  const within = (share: number) => found.filter(({ us }) => us * share <= least);
  const [first] = within(WORTH_IT);
  // each message costs processes some microseconds that the simulation does not count
  if (first?.program.mpi !== undefined) return fewest(within(WORTH_MESSAGES));
  if (first === undefined || callOf(first.program, schedule).sizeBytes >= LATENCY_BOUND_BYTES) return first;
  const cost = ({ program }: Candidate): number =>
    2 * instructionCount(program) + (program.protocol === "Simple" ? 1 : 0);
  return within(WORTH_BLOCKS).reduce((best, one) => (cost(one) < cost(best) ? one : best));
}
