import { InputError } from "../../base/errors.ts";
import { type Program, rankOfBlocks } from "../../model/program/program.ts";
import { MSCCL_RUNTIMES, type MscclRuntime, partsPerSize } from "../../model/program/runtimes.ts";
import { xmlAttribute } from "../xml-attribute.ts";
import { copyLines, stepLines, stepNumbers } from "./msccl-xml-steps.ts";

export interface MscclXmlOptions {
  /** Whose names of collectives, and whose reading of maxBytes. */
  readonly dialect: MscclRuntime["name"];
  /** Least and greatest nccl-tests size that the file is for, both included. Otherwise the program's bounds as they stand, or all sizes. */
  readonly minBytes?: number;
  readonly maxBytes?: number;
}

/** Not 0, which only some runtimes take for no bound. */
const ALL_SIZES = 2 ** 40;
/** Characters per part. */
const PART = 65_536;

/**
 * Yields the parts of an MSCCL XML file that the hand-written parsers of the runtimes read: no declaration, double quotes, one space
 * between attributes, one element a line, no TABs. Waits beyond the first of an instruction become nops before it. A root other
 * than 0 is written as the attribute `root`, which runtimes ignore. Limits of the runtime are not looked at. Throws InputError for
 * what MSCCL XML cannot say. O(instructions).
 */
export function* mscclXmlParts(program: Program, options: MscclXmlOptions): Generator<string> {
  let held = "";
  for (const line of lines(program, options)) {
    held += line;
    if (held.length < PART) continue;
    yield held;
    held = "";
  }
  yield held;
}

function* lines(program: Program, options: MscclXmlOptions): Generator<string> {
  if (program.machine !== "msccl") throw new InputError("a program for MSCCL XML", "an msccl program", program.machine);
  const numbers = stepNumbers(program);
  const rank = rankOfBlocks(program);
  yield `<algo ${algoAttributes(program, options)}>\n`;
  for (let r = 0; r < program.rankCount; r++) {
    const { inputChunks, outputChunks, scratchChunks } = program;
    const chunks = `i_chunks="${inputChunks[r]}" o_chunks="${outputChunks[r]}" s_chunks="${scratchChunks[r]}"`;
    yield `  <gpu id="${r}" ${chunks}>\n`;
    let id = 0;
    for (let b = program.blockOffset[r]; b < program.blockOffset[r + 1]; b++) {
      if (program.blockId[b] < 0) {
        for (const line of copyLines(program, b, numbers)) yield `    ${line}\n`;
        continue;
      }
      yield `    <tb ${blockAttributes(program, b, id, rank[b])}>\n`;
      for (const line of stepLines(program, b, numbers)) yield `      ${line}\n`;
      yield "    </tb>\n";
      id++;
    }
    yield "  </gpu>\n";
  }
  yield "</algo>\n";
}

function blockAttributes(program: Program, block: number, id: number, rank: number): string {
  const found = program.blockId[block];
  if (found !== id) throw new InputError(`the thread blocks of gpu ${rank}`, `ids 0, 1, 2 ... (${id} is next)`, found);
  return `id="${id}" send="${program.sendPeer[block]}" recv="${program.recvPeer[block]}" chan="${program.channel[block]}"`;
}

function algoAttributes(program: Program, options: MscclXmlOptions): string {
  const runtime = MSCCL_RUNTIMES[options.dialect];
  const coll = runtime.collectives[program.collective];
  if (coll === undefined) {
    const known = Object.keys(runtime.collectives).join(", ");
    throw new InputError(`the collective of a program for ${runtime.title}`, `one of ${known}`, program.collective);
  }
  const { minBytes, maxBytes } = range(program, options, runtime);
  const attributes: readonly (readonly [string, string | number])[] = [
    ["name", xmlAttribute(program.name)],
    ["proto", program.protocol],
    ["nchannels", program.channelCount],
    ["nchunksperloop", loopChunksOf(program)],
    ["ngpus", program.rankCount],
    ["coll", coll],
    ["inplace", program.inPlace ? 1 : 0],
    ["outofplace", program.outOfPlace ? 1 : 0],
    ["minBytes", minBytes],
    ["maxBytes", maxBytes],
    ...(program.rootRank === 0 ? [] : [["root", program.rootRank] as const]),
  ];
  return attributes.map(([key, value]) => `${key}="${value}"`).join(" ");
}

/** Returns the bounds as the runtime reads them. */
function range(
  program: Program,
  { minBytes, maxBytes }: MscclXmlOptions,
  runtime: MscclRuntime,
): { readonly minBytes: number; readonly maxBytes: number } {
  for (const [name, value] of Object.entries({ minBytes, maxBytes })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0)) {
      throw new InputError(`options.${name}`, "a whole number of bytes", value);
    }
  }
  if (maxBytes === 0) throw new InputError("options.maxBytes", "a size (0 would be no bound)", maxBytes);
  if (minBytes !== undefined && maxBytes !== undefined && minBytes > maxBytes) {
    throw new InputError("options.maxBytes", `a size of at least minBytes (${minBytes})`, maxBytes);
  }
  const past = runtime.maxBytesIncluded ? 0 : 1;
  const parts = partsPerSize(program.collective, program.rankCount);
  const most = maxBytes === undefined ? program.maxBytes : Math.min(maxBytes + past, Number.MAX_SAFE_INTEGER);
  return {
    minBytes: Math.ceil((minBytes ?? program.minBytes ?? 0) / parts),
    // 0 would be no bound.
    maxBytes: most === null ? ALL_SIZES : most === 0 ? 0 : Math.max(1, Math.floor(most / parts)),
  };
}

/** Returns nchunksperloop: of a rank's part, where the runtimes count that only. Throws InputError where ranks do not share chunks equally. */
function loopChunksOf({ collective, rankCount, loopChunks }: Program): number {
  const chunks = loopChunks / partsPerSize(collective, rankCount);
  if (Number.isInteger(chunks)) return chunks;
  throw new InputError(
    `the chunks of a ${collective} for MSCCL XML`,
    `a multiple of its ${rankCount} ranks`,
    loopChunks,
  );
}
