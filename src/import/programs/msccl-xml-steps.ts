import { InputError } from "../../base/errors.ts";
import { INPUT, OUTPUT, WAIT_INSTRUCTION } from "../../model/program/program.ts";
import type { Operand, ProgramBuilder } from "../../model/program/program-builder.ts";
import { type XmlElement, xmlPlace } from "../text/xml.ts";
import { bufferOf, byId, COUNT, childrenNamed, flagOf, INT32, numberOf, oneOf } from "./msccl-xml-fields.ts";

type StepType = "nop" | "s" | "r" | "rcs" | "rrs" | "rrc" | "rrcs" | "cpy" | "re";

/** What a type of step does with its two operands and the connections of its block. */
interface StepShape {
  readonly op: StepType;
  readonly receives?: true;
  readonly sends?: true;
  /** It reads its source; a reduction of its own rank also reads its destination. */
  readonly reads?: "source" | "both";
  readonly writes?: true;
}

const SHAPES: ReadonlyMap<string, StepShape> = new Map(
  (
    [
      { op: "nop" },
      { op: "s", reads: "source", sends: true },
      { op: "r", receives: true, writes: true },
      { op: "rcs", receives: true, writes: true, sends: true },
      { op: "rrs", receives: true, reads: "source", sends: true },
      { op: "rrc", receives: true, reads: "source", writes: true },
      { op: "rrcs", receives: true, reads: "source", writes: true, sends: true },
      { op: "cpy", reads: "source", writes: true },
      { op: "re", reads: "both", writes: true },
    ] as const satisfies readonly StepShape[]
  ).map((shape) => [shape.op, shape]),
);

/** A thread block of a file with the place of its steps in the program. */
interface BlockSteps {
  readonly element: XmlElement;
  readonly steps: readonly XmlElement[];
  /** Step number to the index of its instruction. */
  readonly instruction: ReadonlyMap<number, number>;
}

/**
 * Adds the next rank with what its <gpu> element holds: copies outside of thread blocks first, as a block -1, then the thread
 * blocks by id. Throws InputError with file and line. O(steps).
 */
export function addGpu(
  builder: ProgramBuilder,
  gpu: XmlElement,
  rank: number,
  rankCount: number,
  fileName: string,
): void {
  builder.addRank();
  addCopies(builder, gpu, rank, fileName);
  const blocks: BlockSteps[] = [];
  let next = builder.instructions();
  for (const element of byId(childrenNamed(gpu, "tb"), fileName)) {
    const steps = childrenNamed(element, "step");
    blocks.push({ element, steps, instruction: instructionsOf(steps, next, fileName) });
    next += steps.length;
  }
  for (const [id, block] of blocks.entries()) {
    builder.addBlock({
      id,
      sendPeer: peerOf(block.element, "send", rank, rankCount, fileName),
      recvPeer: peerOf(block.element, "recv", rank, rankCount, fileName),
      channel: numberOf(block.element, "chan", fileName),
      line: block.element.line,
    });
    for (const step of block.steps) addStep(builder, step, rank, blocks, fileName);
  }
}

/** Adds <copy i_off o_off/>, which files of SCCL and TACCL list beside the thread blocks. */
function addCopies(builder: ProgramBuilder, gpu: XmlElement, rank: number, fileName: string): void {
  const copies = childrenNamed(gpu, "copy");
  const [first] = copies;
  if (first === undefined) return;
  builder.addBlock({ id: -1, line: first.line });
  for (const copy of copies) {
    builder.add({
      op: "cpy",
      line: copy.line,
      chunks: 1,
      sources: [{ rank, buffer: INPUT, index: numberOf(copy, "i_off", fileName, INT32) }],
      destinations: [{ rank, buffer: OUTPUT, index: numberOf(copy, "o_off", fileName, INT32) }],
    });
  }
}

function instructionsOf(steps: readonly XmlElement[], first: number, fileName: string): ReadonlyMap<number, number> {
  const instruction = new Map<number, number>();
  for (const [i, step] of steps.entries()) {
    const number = numberOf(step, "s", fileName);
    const other = instruction.get(number);
    if (other !== undefined) {
      throw new InputError(
        `attribute s of <step> at ${xmlPlace(fileName, step)}`,
        `a number that no other step of the thread block has (line ${steps[other - first]?.line})`,
        number,
      );
    }
    instruction.set(number, first + i);
  }
  return instruction;
}

/** Returns a peer, -1 for none. */
function peerOf(tb: XmlElement, name: string, rank: number, rankCount: number, fileName: string): number {
  const peer = numberOf(tb, name, fileName, [-1, rankCount - 1]);
  if (peer !== rank) return peer;
  throw new InputError(`attribute ${name} of <tb> at ${xmlPlace(fileName, tb)}`, `a gpu other than ${rank}`, peer);
}

function addStep(
  builder: ProgramBuilder,
  step: XmlElement,
  rank: number,
  blocks: readonly BlockSteps[],
  fileName: string,
): void {
  const shape = oneOf(step, "type", SHAPES, fileName);
  const source = operandOf(step, "src", rank, fileName);
  const destination = operandOf(step, "dst", rank, fileName);
  const chunks = numberOf(step, "cnt", fileName, COUNT);
  const on = awaitedBy(step, blocks, builder.instructions(), fileName);
  builder.add({
    op: shape.op,
    step: numberOf(step, "s", fileName),
    line: step.line,
    chunks: shape.op === "nop" ? 0 : chunks,
    receives: shape.receives === true,
    sends: shape.sends === true,
    publishes: flagOf(step, "hasdep", fileName),
    sources: shape.reads === undefined ? [] : shape.reads === "both" ? [destination, source] : [source],
    destinations: shape.writes === true ? [destination] : [],
    waits: on < 0 ? [] : [{ kind: WAIT_INSTRUCTION, on }],
  });
}

const operandOf = (step: XmlElement, side: "src" | "dst", rank: number, fileName: string): Operand => ({
  rank,
  buffer: bufferOf(step, `${side}buf`, fileName),
  index: numberOf(step, `${side}off`, fileName, INT32),
});

/** Returns the instruction that a step waits for, -1 for none. */
function awaitedBy(step: XmlElement, blocks: readonly BlockSteps[], self: number, fileName: string): number {
  const depid = numberOf(step, "depid", fileName, INT32);
  const deps = numberOf(step, "deps", fileName, INT32);
  if (depid < 0) return -1;
  const block = blocks[depid];
  if (block === undefined) {
    throw new InputError(
      `attribute depid of <step> at ${xmlPlace(fileName, step)}`,
      `-1 or a thread block of this gpu (0 to ${blocks.length - 1})`,
      depid,
    );
  }
  const on = block.instruction.get(deps);
  const place = `attribute deps of <step> at ${xmlPlace(fileName, step)}`;
  if (on === undefined) throw new InputError(place, `a step of thread block ${depid}`, deps);
  if (on === self) throw new InputError(place, "another step than itself", deps);
  return on;
}
