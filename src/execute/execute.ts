import { random } from "../base/random.ts";
import type { Program } from "../model/program/program.ts";
import { type Fault, faultsBeforehand, faultText } from "./fault.ts";
import { interleaver } from "./interleave.ts";
import { type Judgement, judge } from "./judge.ts";
import { bufferBytes, type CallPlacement, ELEMENT_BYTES, type Layout, layoutOf } from "./layout.ts";
import {
  beginMachine,
  type Machine,
  machineOf,
  type Order,
  RANDOM_ORDER,
  type Room,
  roomChunks,
  roomOf,
  waitText,
} from "./machine.ts";
import { beginPass, contentsOf, type ElementType, fillRank, memoryOf, sideBytes } from "./memory.ts";
import { type Wiring, wiringOf } from "./wiring.ts";

const SHOWN = 20;
const KEPT = 1000;

export interface ExecutionRequest {
  readonly type: ElementType;
  /** As nccl-tests count it. */
  readonly sizeBytes: number;
  readonly placement: CallPlacement;
  /** Of the data and of the order. */
  readonly seed: number;
  /** What connections hold; default: as those of the runtimes at this size. */
  readonly room?: Room;
  readonly order?: Order;
}

/**
 * What came out. `correct`: every element of every output is what the collective makes. `wrong`: some are not. `stuck`: it does
 * not end. `faulty`: it does what no right program does (`faults`), whatever came out. `ran`: a custom program without a table ended.
 */
export interface Execution extends Judgement {
  readonly outcome: "correct" | "wrong" | "stuck" | "faulty" | "ran";
  /** The first in words, and how many (1000 at most). */
  readonly faults: readonly string[];
  readonly faultCount: number;
  /** Who waits for what; none but where it is stuck. */
  readonly waits: readonly string[];
  readonly waitCount: number;
  /** Instructions executed, over all passes. */
  readonly instructions: number;
  /** Bytes that crossed from one rank to another. */
  readonly bytes: number;
}

/** A call, laid out; nothing is allocated yet. */
export interface Plan {
  readonly program: Program;
  readonly wiring: Wiring;
  readonly layout: Layout;
  readonly room: Room;
  /** What it takes in memory: buffers, slots, registers; and besides on every thread, for the state of instructions. */
  readonly bytes: number;
  readonly bytesPerThread: number;
  readonly faults: readonly Fault[];
}

const greater = (a: number, b: number): number => Math.max(a, b);

/** Returns the plan of a call. Throws InputError for a size that the program's chunks do not divide. O(instructions). */
export function planOf(
  program: Program,
  placement: CallPlacement,
  sizeBytes: number,
  given = roomOf(program, sizeBytes),
): Plan {
  // A message has no more chunks than the instruction that sends it.
  const room = { ...given, chunks: Math.min(given.chunks, program.chunks.reduce(greater, 1)) };
  const wiring = wiringOf(program);
  const registers = wiring.widthOfBlock.reduce((sum, width) => sum + width, 0);
  const slots = roomChunks(room);
  const layout = layoutOf(program, placement, sizeBytes, wiring.connectionCount * slots + registers);
  const faults = faultsBeforehand(program, wiring, layout);
  const bytes =
    bufferBytes(layout) + sideBytes(program, layout, wiring, slots) + registers * layout.sliceElements * ELEMENT_BYTES;
  const bytesPerThread = program.op.length * 24 + layout.rankStart[program.rankCount] * 4;
  return { program, wiring, layout, room, bytes, bytesPerThread, faults };
}

/**
 * Runs a program on real buffers, on this thread, in an order that the seed decides; returns what came out, compared with what
 * the collective makes of the inputs. Chunks that are too large for a slot are cut, and the program is run once for every part,
 * as runtimes do. Throws InputError for a size that the program's chunks do not divide. O(instructions + ranks x size).
 */
export function executeProgram(program: Program, request: ExecutionRequest): Execution {
  const { type, sizeBytes, placement, seed, order = RANDOM_ORDER } = request;
  const plan = planOf(program, placement, sizeBytes, request.room);
  if (plan.faults.length > 0) return ended(plan, { faults: plan.faults });
  const { layout, wiring, room } = plan;
  const memory = memoryOf(program, layout, wiring, roomChunks(room), type, false);
  const ranks = Array.from({ length: program.rankCount }, (_, r) => r);
  const machine = machineOf(program, wiring, layout, memory, room, ranks);
  const contents = contentsOf(program, type, seed);
  for (const r of ranks) fillRank(program, layout, memory, contents, r);
  const faults = faultsOf(machine);
  const run = interleaver(machine, ranks, order, random(seed, 0x04de));
  for (let from = 0; from < layout.chunkElements; from += layout.sliceElements) {
    beginPass(program, layout, wiring, memory);
    beginMachine(machine, from, Math.min(layout.sliceElements, layout.chunkElements - from));
    const waiting = run();
    if (waiting.length === 0) faults.push(...leftIn(machine));
    if (waiting.length > 0 || faults.length > 0) {
      const waits = waiting.map(({ instruction, resource }) =>
        waitText(program, wiring, layout, machine.resources, instruction, resource),
      );
      return ended(plan, { faults, waits, machine });
    }
  }
  return ended(plan, { machine, judgement: judge(program, layout, memory, contents) });
}

/** Returns the list into which a machine puts its faults, KEPT at most. */
export function faultsOf(machine: Machine): Fault[] {
  const faults: Fault[] = [];
  machine.fault = (fault) => {
    if (faults.length < KEPT) faults.push(fault);
  };
  return faults;
}

/** Returns a fault for every connection that is not empty and every event whose count has changed. O(connections + events). */
export function leftIn({ program, wiring, counters, memory }: Machine): Fault[] {
  const faults: Fault[] = [];
  for (let c = 0; c < wiring.connectionCount; c++) {
    const chunks = memory.counters[counters.sent + c] - memory.counters[counters.received + c];
    if (chunks !== 0) faults.push({ kind: "left", rank: wiring.sourceRank[c], peer: wiring.targetRank[c], chunks });
  }
  program.eventInitial.forEach((initial, event) => {
    const count = memory.counters[counters.event + event];
    if (count !== initial) faults.push({ kind: "posted", event, count });
  });
  return faults;
}

/** What is known at the end. */
export interface Ending {
  readonly faults?: readonly Fault[];
  readonly waits?: readonly string[];
  readonly machine?: Pick<Machine, "instructions" | "bytes">;
  readonly judgement?: Judgement;
}

/** Returns the execution that ended so. */
export function ended({ program }: Plan, { faults = [], waits = [], machine, judgement }: Ending): Execution {
  const clean = judgement === undefined || judgement.differenceCount === 0;
  const good = program.collective === "custom" && program.table === undefined ? "ran" : "correct";
  const outcome = faults.length > 0 ? "faulty" : waits.length > 0 ? "stuck" : clean ? good : "wrong";
  return {
    outcome,
    faults: faults.slice(0, SHOWN).map((fault) => faultText(program, fault)),
    faultCount: faults.length,
    waits: waits.slice(0, SHOWN),
    waitCount: waits.length,
    instructions: machine?.instructions ?? 0,
    bytes: machine?.bytes ?? 0,
    differences: judgement?.differences ?? [],
    differenceCount: judgement?.differenceCount ?? 0,
    inputsOverwritten: judgement?.inputsOverwritten ?? [],
  };
}
