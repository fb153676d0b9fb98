import { InputError, inWords } from "../../base/errors.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import {
  BUFFER_LETTERS,
  type FarEnds,
  INPUT,
  OUTPUT,
  type Program,
  type SkippedPart,
  skippedText,
  WAIT_INSTRUCTION,
} from "../../model/program/program.ts";
import { type Operand, type ProgramBuilder, programBuilder } from "../../model/program/program-builder.ts";
import { partsPerSize } from "../../model/program/runtimes.ts";
import { closest } from "../../model/topology/closest.ts";
import { parseJson } from "../text/json.ts";
import { attributeOf, readXml, type XmlElement, xmlPlace } from "../text/xml.ts";
import { looksLikeMpiPlan, readMpiPlan } from "./mpi-plan.ts";
import { looksLikeMscclppJson, readMscclppJson } from "./mscclpp-json.ts";

const READABLE =
  "a program: MSCCL XML (its first element is <algo>), an MSCCL++ plan in JSON or a plan for MPI (banyan-mpi-plan)";

/** Returns true where a text seems to be a program rather than a schedule or a network. */
export function looksLikeProgram(text: string): boolean {
  if (looksLikeMscclXml(text) || looksLikeMpiPlan(text)) return true;
  return /^\ufeff?\s*\{/.test(text) && text.includes('"gpus"') && text.includes('"threadblocks"');
}

/** Returns the program in a text whose format is recognized by its content. Throws InputError. */
export function readProgram(text: string, fileName: string): Program {
  if (looksLikeMscclXml(text)) return readMscclXml(text, fileName);
  if (looksLikeMpiPlan(text)) return readMpiPlan(text, fileName);
  if (/^\ufeff?\s*[{[]/.test(text)) {
    const value = parseJson(text, fileName);
    if (looksLikeMscclppJson(value)) return readMscclppJson(text, fileName);
    throw new InputError(fileName, READABLE, Array.isArray(value) ? inWords("a list") : value);
  }
  if (text.trim() === "") throw new InputError(fileName, READABLE);
  throw new InputError(fileName, READABLE, text.trimStart().slice(0, 40));
}

/** All spellings in use; runtimes differ in which of them they know. */
const COLLECTIVES: ReadonlyMap<string, NamedCollective | "custom"> = new Map([
  ["allreduce", "allreduce"],
  ["allgather", "allgather"],
  ["reduce_scatter", "reducescatter"],
  ["reducescatter", "reducescatter"],
  ["alltoall", "alltoall"],
  ["broadcast", "broadcast"],
  ["reduce", "reduce"],
  ["gather", "gather"],
  ["scatter", "scatter"],
  ["custom", "custom"],
]);

const PROTOCOLS: ReadonlyMap<string, Program["protocol"]> = new Map([
  ["Simple", "Simple"],
  ["LL", "LL"],
  ["LL128", "LL128"],
]);

/** Returns true where the first element of a text, after a declaration and comments, is <algo>. O(text). */
export function looksLikeMscclXml(text: string): boolean {
  let at = text.startsWith("\ufeff") ? 1 : 0;
  for (;;) {
    while (/\s/.test(text.charAt(at))) at++;
    const end = text.startsWith("<!--", at) ? "-->" : text.startsWith("<?", at) ? "?>" : undefined;
    if (end === undefined) return /^<algo[\s/>]/.test(text.slice(at, at + 6));
    const found = text.indexOf(end, at);
    if (found < 0) return false;
    at = found + end.length;
  }
}

/**
 * Returns the program of an MSCCL XML file, of any dialect (microsoft/msccl, Azure, RCCL, SCCL, TACCL, msccl-tools). Without
 * outofplace it is the opposite of inplace, without minBytes or maxBytes the bound is null; <copy> elements become a block -1;
 * `farEnds` has what steps say of their peers' side, which runtimes
 * pass over; sizes and nchunksperloop of gather and scatter, which runtimes count for one rank, become those of all;
 * `root`, which runtimes ignore, is the root of broadcast, reduce, gather and scatter, 0 without it; other elements and attributes are
 * skipped, as runtimes do, and `skipped` has those that may be a mistake. What breaks only a runtime's limits, or is wrong only when it runs, is left to the judges. Throws InputError with
 * file and line. O(text).
 */
export function readMscclXml(text: string, fileName: string): Program {
  const algo = readXml(text, fileName);
  if (algo.name !== "algo") {
    throw new InputError(`the root element at ${xmlPlace(fileName, algo)}`, "<algo>", `<${algo.name}>`);
  }
  const skipped = skippedOf(algo);
  try {
    return programOf(algo, skipped, fileName);
  } catch (error) {
    // what was skipped may be what is missing
    const [first] = skipped;
    if (error instanceof InputError && first !== undefined) error.message += ` (${skippedText(first)})`;
    throw error;
  }
}

function programOf(algo: XmlElement, skipped: readonly SkippedPart[], fileName: string): Program {
  const gpus = gpusOf(algo, fileName);
  const builder = programBuilder();
  const ends: EndList = { instruction: [], buffer: [], index: [] };
  for (const [rank, gpu] of gpus.entries()) addGpu(builder, gpu, rank, gpus.length, ends, fileName);
  const inPlace = flagOf(algo, "inplace", fileName);
  const collective = oneOf(algo, "coll", COLLECTIVES, fileName);
  const parts = partsPerSize(collective, gpus.length);
  const chunks = (name: string): Int32Array => Int32Array.from(gpus, (gpu) => numberOf(gpu, name, fileName));
  return builder.build({
    name: algo.attributes.get("name") ?? "",
    machine: "msccl",
    collective,
    rootRank: algo.attributes.has("root") ? numberOf(algo, "root", fileName, [0, gpus.length - 1]) : 0,
    rankCount: gpus.length,
    protocol: oneOf(algo, "proto", PROTOCOLS, fileName),
    inPlace,
    outOfPlace: algo.attributes.has("outofplace") ? flagOf(algo, "outofplace", fileName) : !inPlace,
    minBytes: bytesOf(algo, "minBytes", parts, fileName),
    maxBytes: bytesOf(algo, "maxBytes", parts, fileName),
    loopChunks: parts * numberOf(algo, "nchunksperloop", fileName, [1, 2 ** 31 - 1]),
    finer: 1,
    inputChunks: chunks("i_chunks"),
    outputChunks: chunks("o_chunks"),
    scratchChunks: chunks("s_chunks"),
    channelCount: numberOf(algo, "nchannels", fileName, [1, 2 ** 31 - 1]),
    ...(skipped.length === 0 ? {} : { skipped }),
    ...(ends.instruction.length === 0 ? {} : { farEnds: farEndsOf(ends) }),
  });
}

/** Returns the <gpu> elements by id: as many as ngpus says. */
function gpusOf(algo: XmlElement, fileName: string): readonly XmlElement[] {
  const gpus = childrenNamed(algo, "gpu");
  const count = numberOf(algo, "ngpus", fileName, [1, 2 ** 31 - 1]);
  if (count !== gpus.length) {
    throw new InputError(
      `attribute ngpus of <algo> at ${xmlPlace(fileName, algo)}`,
      `the number of <gpu> elements, ${gpus.length},`,
      count,
    );
  }
  return byId(gpus, fileName);
}

/** What runtimes look for in an element; they pass over others without a word. */
const CHILDREN: ReadonlyMap<string, readonly string[]> = new Map([
  ["algo", ["gpu"]],
  ["gpu", ["tb", "copy"]],
  ["tb", ["step"]],
]);
/** Attributes of <algo> that may be left out, so that a misspelt one is not missed. */
const OPTIONAL = ["name", "outofplace", "minBytes", "maxBytes", "root", "nthreads", "redop"];
const REQUIRED = ["proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace"];

/**
 * Returns what a file has in the place of what runtimes know, in the order of the file: elements of other names, and attributes of
 * <algo> that are like an optional one which is missing. Attributes of other tools are no matter. O(elements).
 */
function skippedOf(algo: XmlElement): SkippedPart[] {
  const skipped: SkippedPart[] = [];
  const missing = OPTIONAL.filter((name) => !algo.attributes.has(name));
  for (const name of algo.attributes.keys()) {
    const meant = [...OPTIONAL, ...REQUIRED].includes(name) ? null : closest(name, missing);
    if (meant !== null) skipped.push({ kind: "attribute", name, parent: algo.name, line: algo.line, meant });
  }
  const walk = (parent: XmlElement): void => {
    const known = CHILDREN.get(parent.name) ?? [];
    for (const child of parent.children) {
      const { name, line } = child;
      if (known.includes(name)) walk(child);
      else skipped.push({ kind: "element", name, parent: parent.name, line, meant: closest(name, known) });
    }
  };
  walk(algo);
  return skipped;
}

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

/** The other ends of messages as a file says them. */
type EndList = Record<keyof FarEnds, number[]>;

const farEndsOf = ({ instruction, buffer, index }: EndList): FarEnds => ({
  instruction: Int32Array.from(instruction),
  buffer: Uint8Array.from(buffer),
  index: Int32Array.from(index),
});

/** Adds what a step says of the peer's side, unless this is none (an index below 0) or repeats its own, as some files do. */
function addFarEnd(ends: EndList, shape: StepShape, source: Operand, destination: Operand, instruction: number): void {
  const [own, far] = shape.reads === undefined ? [destination, source] : [source, destination];
  const isThere = shape.reads === undefined ? shape.receives : shape.sends === true && shape.writes === undefined;
  if (isThere !== true || far.index < 0 || (far.buffer === own.buffer && far.index === own.index)) return;
  ends.instruction.push(instruction);
  ends.buffer.push(far.buffer);
  ends.index.push(far.index);
}

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
function addGpu(
  builder: ProgramBuilder,
  gpu: XmlElement,
  rank: number,
  rankCount: number,
  ends: EndList,
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
    for (const step of block.steps) addStep(builder, step, rank, blocks, ends, fileName);
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
  ends: EndList,
  fileName: string,
): void {
  const shape = oneOf(step, "type", SHAPES, fileName);
  const source = operandOf(step, "src", rank, fileName);
  const destination = operandOf(step, "dst", rank, fileName);
  const chunks = numberOf(step, "cnt", fileName, COUNT);
  const on = awaitedBy(step, blocks, builder.instructions(), fileName);
  addFarEnd(ends, shape, source, destination, builder.instructions());
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

const INT32: readonly [number, number] = [-(2 ** 31), 2 ** 31 - 1];
const COUNT: readonly [number, number] = [0, 2 ** 31 - 1];

/** Returns how a message names an attribute. */
const attributePlace = (element: XmlElement, name: string, fileName: string): string =>
  `attribute ${name} of <${element.name}> at ${xmlPlace(fileName, element)}`;

/** Returns the number that C's strtoll makes of a text with base 0 (0x10 is 16, 010 is 8); NaN where it is not all number. */
function parsed(text: string): number {
  const [, sign, digits] = /^\s*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)\s*$/.exec(text) ?? [];
  if (digits === undefined) return Number.NaN;
  const size = /^0[0-7]/.test(digits) ? Number.parseInt(digits, 8) : Number(digits);
  return sign === "-" && size > 0 ? -size : size;
}

/** Returns an attribute as the whole number that runtimes read. Throws InputError outside the range. */
function numberOf(
  element: XmlElement,
  name: string,
  fileName: string,
  [least, most]: readonly [number, number] = COUNT,
): number {
  const text = attributeOf(element, name, fileName);
  const value = parsed(text);
  if (value >= least && value <= most) return value;
  const range = most >= 2 ** 31 - 1 ? `a whole number of ${least} or more` : `a whole number from ${least} to ${most}`;
  throw new InputError(attributePlace(element, name, fileName), range, text);
}

/** Returns this many times a bound in bytes, null where there is none. Beyond exact integers it is as good as no bound: 2^53 - 1. */
function bytesOf(element: XmlElement, name: string, times: number, fileName: string): number | null {
  if (!element.attributes.has(name)) return null;
  return Math.min(times * numberOf(element, name, fileName, [0, 2 ** 63]), Number.MAX_SAFE_INTEGER);
}

/** Returns what a table says of an attribute's text. Throws InputError, which lists the table, for any other. */
function oneOf<T>(element: XmlElement, name: string, table: ReadonlyMap<string, T>, fileName: string): T {
  const text = attributeOf(element, name, fileName);
  const value = table.get(text);
  if (value !== undefined) return value;
  throw new InputError(attributePlace(element, name, fileName), `one of ${[...table.keys()].join(", ")}`, text).as(
    "unknown-name",
  );
}

const BUFFERS: ReadonlyMap<string, number> = new Map(BUFFER_LETTERS.map((letter, i) => [letter, i]));

/** Returns the number of a buffer: i, o or s. */
const bufferOf = (element: XmlElement, name: string, fileName: string): number =>
  oneOf(element, name, BUFFERS, fileName);

/** Returns true for 1, false for 0. */
const flagOf = (element: XmlElement, name: string, fileName: string): boolean =>
  numberOf(element, name, fileName, [0, 1]) === 1;

/** Returns the elements by their ids, which must be 0, 1, 2 ... in any order. Throws InputError with the line of the first that is not. */
function byId(elements: readonly XmlElement[], fileName: string): readonly XmlElement[] {
  const placed: XmlElement[] = new Array(elements.length);
  for (const element of elements) {
    const id = numberOf(element, "id", fileName, [0, elements.length - 1]);
    const other = placed[id];
    if (other !== undefined) {
      throw new InputError(
        attributePlace(element, "id", fileName),
        `an id that no other <${element.name}> has (line ${other.line})`,
        id,
      );
    }
    placed[id] = element;
  }
  return placed;
}

/** Returns the children of a name. */
const childrenNamed = (element: XmlElement, name: string): readonly XmlElement[] =>
  element.children.filter((child) => child.name === name);
