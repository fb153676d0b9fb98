import { INPUT, OUTPUT, type Program } from "../../model/program/program.ts";
import type { MscclRuntime } from "../../model/program/runtimes.ts";
import type { LimitReport } from "./program-limits-report.ts";

/** microsoft/msccl copies so many characters of a name. */
const NAME_CHARACTERS = 63;
/** What microsoft/msccl takes for maxBytes where a file has none. */
const DEFAULT_MAX_BYTES = 134_217_728;
/** Multiprocessors of an A100, each of which runs one thread block; an H100 has 132. */
const A100_BLOCKS = 108;
const ROOTED = new Set(["broadcast", "reduce", "gather", "scatter"]);

/**
 * Reports what a runtime does not take of what a file says of itself and its gpus: the collective and its name, sizes and calls
 * for which it is never selected, channels, chunks per loop, nodes and children of the parser, copies outside of thread blocks.
 * `algo`: the attributes of <algo> as written, null where there is no file. `steps`: of each block. O(blocks).
 */
export function reportFile(
  program: Program,
  runtime: MscclRuntime,
  algo: ReadonlyMap<string, string> | null,
  steps: Int32Array,
  report: LimitReport,
): void {
  const { title } = runtime;
  reportCollective(program, runtime, algo, report);
  reportSelection(program, runtime, algo, report);
  if (program.name.length > NAME_CHARACTERS && runtime.name === "msccl") {
    report.warning(
      "name",
      `the name has ${program.name.length} characters, of which ${title} keeps ${NAME_CHARACTERS}`,
    );
  }
  if (algo === null && new TextEncoder().encode(program.name).length > runtime.charactersPerValue) {
    report.error(
      "value-length",
      `the name is longer than the ${runtime.charactersPerValue} bytes of a value that ${title} has room for`,
    );
  }
  const threads = algo?.get("nthreads");
  if (threads !== undefined && runtime.name === "msccl" && Number(threads) % 32 !== 0) {
    report.error("threads", `nthreads is ${threads}, but ${title} demands a multiple of 32`);
  }
  if (program.channelCount > runtime.channels) {
    report.error(
      "channels",
      `the program has ${program.channelCount} channels, but ${title} has at most ${runtime.channels}`,
    );
  }
  if (program.rankCount > runtime.childrenPerNode) {
    report.error(
      "children",
      `<algo> has ${program.rankCount} gpus, but the parser of ${title} has room for ${runtime.childrenPerNode}`,
    );
  }
  for (let rank = 0; rank < program.rankCount; rank++) {
    reportNodes(program, runtime, rank, steps, report);
    if (runtime.name === "msccl") reportLoop(program, runtime, rank, report);
    reportCopies(program, runtime, rank, report);
  }
}

function reportCollective(
  program: Program,
  runtime: MscclRuntime,
  algo: ReadonlyMap<string, string> | null,
  report: LimitReport,
): void {
  const known = runtime.collectives[program.collective];
  const written = algo?.get("coll");
  if (known === undefined) {
    const names = Object.values(runtime.collectives).join(", ");
    report.error("collective", `the collective is ${program.collective}, but ${runtime.title} has only ${names}`);
  } else if (written !== undefined && written !== known) {
    report.error("collective", `the collective is written ${written}, but ${runtime.title} calls it ${known}`);
  }
  if (ROOTED.has(program.collective)) {
    report.warning(
      "root",
      `${runtime.title} selects a ${program.collective} whatever its root: this program is for root ${program.rootRank} only`,
    );
  }
}

function reportSelection(
  program: Program,
  runtime: MscclRuntime,
  algo: ReadonlyMap<string, string> | null,
  report: LimitReport,
): void {
  const { title } = runtime;
  if (!program.inPlace && !program.outOfPlace) {
    report.error(
      "never-selected",
      `the program is neither for calls in place nor out of place, so ${title} never selects it`,
    );
  } else if (program.inPlace && program.outOfPlace && !runtime.needsRange) {
    report.warning(
      "never-selected",
      `${title} looks at inplace only: it selects the program for calls in place, not for others`,
    );
  }
  if (algo !== null && !algo.has("maxBytes") && !runtime.needsRange) {
    report.warning("range", `without maxBytes ${title} selects the program only below ${DEFAULT_MAX_BYTES} bytes`);
  }
  const least = program.minBytes ?? 0;
  const most = program.maxBytes;
  if (most === null || (most === 0 && runtime.maxBytesIncluded)) return;
  if (runtime.maxBytesIncluded ? least <= most : least < most) return;
  const range = `from ${least} ${runtime.maxBytesIncluded ? "up to" : "to below"} ${most} bytes`;
  report.error("never-selected", `${title} never selects the program: no size is ${range}`);
}

/** The parser keeps <algo>, all <gpu>, and of its own gpu the thread blocks and steps; it stops when its room is full. */
function reportNodes(
  program: Program,
  runtime: MscclRuntime,
  rank: number,
  steps: Int32Array,
  report: LimitReport,
): void {
  let nodes = 1 + program.rankCount;
  let blocks = 0;
  for (let b = program.blockOffset[rank]; b < program.blockOffset[rank + 1]; b++) {
    if (program.blockId[b] < 0) continue;
    blocks++;
    nodes += 1 + steps[b];
  }
  if (nodes >= runtime.nodesPerRank) {
    const most = runtime.nodesPerRank - 1;
    report.error(
      "nodes",
      `gpu ${rank} needs ${nodes} nodes of the parser of ${runtime.title}, which has room for ${most}`,
      {
        rank,
      },
    );
  }
  if (blocks > runtime.blocksPerGpu) {
    report.error(
      "blocks",
      `gpu ${rank} has ${blocks} thread blocks, but ${runtime.title} takes at most ${runtime.blocksPerGpu}`,
      {
        rank,
      },
    );
  } else if (blocks > A100_BLOCKS) {
    const text = `gpu ${rank} has ${blocks} thread blocks, which must all run at once: an A100 runs ${A100_BLOCKS}`;
    report.warning("blocks", text, { rank });
  }
}

/** microsoft/msccl compares the chunks of buffers in use with nchunksperloop. */
function reportLoop(program: Program, runtime: MscclRuntime, rank: number, report: LimitReport): void {
  const { collective, rankCount, loopChunks, inputChunks, outputChunks } = program;
  const input = inputChunks[rank] * (collective === "allgather" ? rankCount : 1);
  const output = outputChunks[rank] * (collective === "reducescatter" ? rankCount : 1);
  for (const [name, chunks, total] of [
    ["i_chunks", inputChunks[rank], input],
    ["o_chunks", outputChunks[rank], output],
  ] as const) {
    if (chunks === 0 || total === loopChunks) continue;
    const times = total === chunks ? "" : `, times ${rankCount} gpus,`;
    report.error(
      "chunks-per-loop",
      `gpu ${rank} has ${name} ${chunks}, which${times} is not nchunksperloop (${loopChunks}), as ${runtime.title} demands`,
      { rank },
    );
  }
}

/** <copy> does nothing at run time. That is no harm where, in place, both sides are the same memory. */
function reportCopies(program: Program, runtime: MscclRuntime, rank: number, report: LimitReport): void {
  for (let b = program.blockOffset[rank]; b < program.blockOffset[rank + 1]; b++) {
    if (program.blockId[b] >= 0) continue;
    const needed = program.outOfPlace || !copiesNothing(program, b, rank);
    const line = program.blockLine[b];
    const where = line > 0 ? { rank, block: b, line } : { rank, block: b };
    const place = `gpu ${rank} lists copies outside of thread blocks${line > 0 ? ` (line ${line})` : ""}, which ${runtime.title} skips`;
    if (needed) report.error("copies", place, where);
    else report.warning("copies", `${place}; in place they copy nothing`, where);
  }
}

/** Returns true where, in place, each copy of a block goes from a chunk to itself. */
function copiesNothing(program: Program, block: number, rank: number): boolean {
  const { instructionOffset, operandOffset, operandIndex, operandBuffer, collective, inputChunks } = program;
  for (let i = instructionOffset[block]; i < instructionOffset[block + 1]; i++) {
    const from = operandOffset[i];
    if (operandBuffer[from] !== INPUT || operandBuffer[from + 1] !== OUTPUT) return false;
    const first = collective === "allgather" ? rank * inputChunks[rank] : 0;
    if (operandIndex[from + 1] !== first + operandIndex[from]) return false;
  }
  return true;
}
