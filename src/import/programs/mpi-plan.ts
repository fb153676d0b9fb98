import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { blocksOfCollective, bufferChunks, isOneBlock, plansTakeInPlace } from "../../model/program/mpi-places.ts";
import {
  MOST_LANES,
  MOST_PLAN_CHUNKS,
  MOST_PLAN_RANKS,
  MPI_COLLECTIVES,
  MPI_OPS,
  type MpiOp,
  type MpiPlan,
  PLAN_MAGIC,
  PLAN_VERSION,
  ROOTED,
  SUMMING,
} from "../../model/program/mpi-plan.ts";
import { planChecksum } from "../../model/program/plan-checksum.ts";
import { BUFFER_LETTERS, INPUT, type Op, OUTPUT, type Program, WAIT_INSTRUCTION } from "../../model/program/program.ts";
import { type Operand, type ProgramBuilder, programBuilder, type Wait } from "../../model/program/program-builder.ts";

const INT32 = 2 ** 31 - 1;
const MOST_BYTES = Number.MAX_SAFE_INTEGER;

/** Returns true where a text begins as a plan for MPI does. */
export const looksLikeMpiPlan = (text: string): boolean => text.startsWith(`${PLAN_MAGIC} `);

/**
 * Returns the program of a plan for MPI. What is wrong only when it runs is left to the judges. Throws InputError with file and line;
 * for a checksum that is not that of the text, for another version, and for a plan that leaves its calls to the library. O(text).
 */
export function readMpiPlan(text: string, fileName: string): Program {
  const lines = linesOf(text, fileName);
  const header = headerOf(lines);
  const { shape, mpi } = header;
  const builder = programBuilder();
  const chunk: number[] = [];
  const scratch: number[] = [];
  for (let rank = 0; rank < shape.rankCount; rank++) addRank(builder, lines, header, rank, chunk, scratch);
  if (lines.peek() !== null) throw lines.wrong("the end of the plan after its last rank", lines.next().join(" "));
  const chunksOf = (buffer: number): Int32Array =>
    Int32Array.from({ length: shape.rankCount }, (_, rank) => bufferChunks(shape, rank, buffer));
  return builder.build({
    ...shape,
    name: header.name,
    machine: "msccl",
    protocol: "Simple",
    inPlace: plansTakeInPlace(shape.collective),
    outOfPlace: true,
    minBytes: header.minBytes === 0 ? null : header.minBytes,
    maxBytes: header.maxBytes,
    finer: 1,
    inputChunks: chunksOf(INPUT),
    outputChunks: chunksOf(OUTPUT),
    scratchChunks: Int32Array.from(scratch),
    channelCount: header.lanes,
    mpi: { ...mpi, chunk: Int32Array.from(chunk) },
  });
}

/** The lines of a plan, as words. */
interface Lines {
  /** Returns the first word of the next line; null behind the last. */
  peek(): string | null;
  /** Returns the words of the next line. Throws InputError behind the last. */
  next(): readonly string[];
  /** Returns the words of the next line behind its first one, which must be `word`. */
  after(word: string): readonly string[];
  /** Number of the line that was last read. */
  line(): number;
  /** Returns the place of that line, or of another: "a.plan line 3". */
  place(line?: number): string;
  /** Returns the error that says what was expected there. */
  wrong(expected: string, found: unknown): InputError;
}

/** Returns the lines up to the checksum. Throws InputError for another version, and where the checksum is not that of the text. */
function linesOf(text: string, fileName: string): Lines {
  const first = text.slice(0, text.indexOf("\n") < 0 ? text.length : text.indexOf("\n"));
  if (first !== `${PLAN_MAGIC} ${PLAN_VERSION}`)
    throw new InputError(`${fileName} line 1`, `"${PLAN_MAGIC} ${PLAN_VERSION}", the format that is read here,`, first);
  const at = text.lastIndexOf("\nend ");
  const found = at < 0 ? null : /^end ([0-9a-f]{16})\n$/.exec(text.slice(at + 1));
  const damaged = (why: string): InputError =>
    new InputError(fileName, "a whole plan", why)
      .as("damaged")
      .saying(
        `${fileName} is damaged: ${why}; write or copy it once more (\`banyan export ... ${optionName("to")} mpi\`)`,
      );
  if (found === null) throw damaged("its last line is not `end` and a checksum");
  const body = text.slice(0, at + 1);
  const checksum = planChecksum();
  checksum.add(body);
  // characters beyond bytes would be other bytes in the file
  if (/[^\n\x20-\x7e]/.test(body)) throw damaged("it has other characters than printable ASCII");
  if (checksum.digits() !== found[1])
    throw damaged(`its checksum is ${found[1]}, that of its text ${checksum.digits()}`);
  const lines = body.split("\n");
  lines.pop();
  let read = 1;
  return {
    peek: () => (read < lines.length ? ((lines[read] as string).split(" ", 1)[0] ?? "") : null),
    next() {
      if (read >= lines.length)
        throw new InputError(`${fileName} line ${read}`, "more lines after it", lines[read - 1]);
      return (lines[read++] as string).split(" ");
    },
    after(word) {
      const [own, ...words] = this.next();
      if (own !== word) throw this.wrong(`the line "${word} ..."`, own);
      return words;
    },
    line: () => read,
    place: (line = read) => `${fileName} line ${line}`,
    wrong: (expected, value) => new InputError(`${fileName} line ${read}`, expected, value),
  };
}

/** Returns a word as a number, written as usual. Throws InputError outside the range. */
function numberOf(lines: Lines, word: string | undefined, what: string, most = INT32, least = 0): number {
  const value = word !== undefined && /^(0|[1-9]\d*)$/.test(word) ? Number(word) : Number.NaN;
  if (value >= least && value <= most) return value;
  const range = most >= INT32 ? `a whole number of ${least} or more` : `a whole number from ${least} to ${most}`;
  throw lines.wrong(`${what}, ${range},`, word);
}

/** Returns the only word of a line. */
function only(lines: Lines, words: readonly string[], what: string): string {
  if (words.length === 1) return words[0] as string;
  throw lines.wrong(`${what} and nothing else`, words.join(" "));
}

/**
 * Returns whether a plan leaves its calls to the MPI library. Throws InputError with file and line where it does, and something is wrong
 * with it. O(text).
 */
export function leavesToLibrary(text: string, fileName: string): boolean {
  if (!looksLikeMpiPlan(text) || !/\nlibrary\n/.test(text)) return false;
  const lines = linesOf(text, fileName);
  callsOf(lines);
  if (lines.next().join(" ") !== "library") throw lines.wrong('the line "library", or "lanes ..."', "another");
  if (lines.peek() !== null) throw lines.wrong("the end of the plan after `library`", lines.next().join(" "));
  return true;
}

interface Header extends Calls {
  readonly lanes: number;
  readonly mpi: Omit<MpiPlan, "chunk">;
}

function headerOf(lines: Lines): Header {
  const { mpi, ...calls } = callsOf(lines);
  if (lines.peek() === "library") {
    lines.next();
    throw lines
      .wrong("a plan with ranks, to be judged and run,", "library")
      .saying(`${lines.place()} leaves these calls to the MPI library: there is nothing to judge or to run`);
  }
  const lanes = numberOf(lines, only(lines, lines.after("lanes"), "the lanes"), "the lanes", MOST_LANES, 1);
  const segmentBytes = numberOf(lines, only(lines, lines.after("segment"), "the segment"), "the segment", MOST_BYTES);
  if (segmentBytes > 0 && segmentBytes < 64) throw lines.wrong("0, or 64 bytes or more", segmentBytes);
  return { ...calls, lanes, mpi: { ...mpi, segmentBytes } };
}

/** Which calls a plan is for. */
interface Calls {
  readonly name: string;
  readonly shape: Pick<Program, "collective" | "rankCount" | "rootRank" | "loopChunks">;
  readonly perBlock: number;
  readonly minBytes: number;
  readonly maxBytes: number | null;
  readonly mpi: Omit<MpiPlan, "chunk" | "segmentBytes">;
}

function callsOf(lines: Lines): Calls {
  const name = lines.after("name").join(" ");
  const collective = only(lines, lines.after("collective"), "a collective") as Program["collective"];
  if (!(MPI_COLLECTIVES as readonly string[]).includes(collective))
    throw lines.wrong(`one of ${MPI_COLLECTIVES.join(", ")}`, collective).as("unknown-name");
  const rankCount = numberOf(lines, only(lines, lines.after("ranks"), "the ranks"), "the ranks", MOST_PLAN_RANKS, 1);
  const rootRank = ROOTED.has(collective)
    ? numberOf(lines, only(lines, lines.after("root"), "the root"), "the root", rankCount - 1)
    : 0;
  const [from, to, ...rest] = lines.after("bytes");
  if (rest.length > 0) throw lines.wrong("two sizes", rest.join(" "));
  const minBytes = numberOf(lines, from, "the least size", MOST_BYTES);
  const maxBytes = to === "-" ? null : numberOf(lines, to, "the greatest size", MOST_BYTES, minBytes);
  const perBlock = numberOf(lines, only(lines, lines.after("chunks"), "the chunks"), "the chunks", MOST_PLAN_CHUNKS, 1);
  const all = perBlock * blocksOfCollective({ collective, rankCount });
  if (all > INT32) throw lines.wrong(`at most ${INT32} chunks in all`, all);
  const group = lines.peek() === "group" ? groupOf(lines, rankCount) : null;
  const hosts = lines.peek() === "host" ? hostsOf(lines, rankCount, group) : null;
  const ops = SUMMING.has(collective) && lines.peek() === "ops" ? opsOf(lines) : null;
  const unequal = collective === "alltoall" && lines.peek() === "unequal" && lines.after("unequal").length === 0;
  const loopChunks = isOneBlock(collective) ? perBlock : perBlock * rankCount;
  return {
    name,
    shape: { collective, rankCount, rootRank, loopChunks },
    perBlock,
    minBytes,
    maxBytes,
    mpi: { group, hosts, ops, unequal },
  };
}

function groupOf(lines: Lines, rankCount: number): Int32Array {
  const words = lines.after("group");
  const group = words.map((word) => numberOf(lines, word, "an NPU", INT32 - 1));
  if (group.length !== rankCount || new Set(group).size !== rankCount)
    throw lines.wrong(`${rankCount} NPUs, each once,`, words.join(" "));
  return Int32Array.from(group);
}

function hostsOf(lines: Lines, rankCount: number, group: Int32Array | null): MpiPlan["hosts"] {
  const rankOf = new Map(Array.from({ length: rankCount }, (_, r) => [group === null ? r : (group[r] as number), r]));
  const hosts: { readonly name: string; readonly index: number }[] = new Array(rankCount);
  const seen = new Set<string>();
  while (lines.peek() === "host") {
    const [npu, name, index, ...rest] = lines.after("host");
    const rank = rankOf.get(numberOf(lines, npu, "an NPU", INT32 - 1));
    if (rank === undefined || hosts[rank] !== undefined) throw lines.wrong("an NPU of the group, each once,", npu);
    if (name === undefined || name === "" || rest.length > 0) throw lines.wrong("an NPU, a host and a number", name);
    hosts[rank] = { name, index: numberOf(lines, index, "which of the job's processes on that host", INT32 - 1) };
    if (seen.has(`${name} ${index}`)) throw lines.wrong("a process of its own for each NPU", `${name} ${index}`);
    seen.add(`${name} ${index}`);
  }
  if (seen.size !== rankCount) throw lines.wrong(`a host for each of ${rankCount} NPUs, or for none`, seen.size);
  return hosts;
}

function opsOf(lines: Lines): readonly MpiOp[] {
  const words = lines.after("ops");
  const known = words.filter((word) => (MPI_OPS as readonly string[]).includes(word));
  if (words.length === 0 || known.length !== words.length || new Set(words).size !== words.length)
    throw lines.wrong(`some of ${MPI_OPS.join(", ")}, each once,`, words.join(" "));
  return known as MpiOp[];
}

const KINDS = ["to", "from", "local"] as const;
type Kind = (typeof KINDS)[number];
const isKind = (word: string | null): word is Kind => (KINDS as readonly (string | null)[]).includes(word);

/** The instructions of each kind of block. */
const OPS_OF: Readonly<Record<Kind, readonly Op[]>> = { to: ["s"], from: ["r", "rrc"], local: ["cpy", "re"] };

interface ReadStep {
  readonly op: Op;
  readonly line: number;
  readonly first: number;
  readonly chunks: number;
  readonly places: readonly { readonly buffer: number; readonly index: number }[];
  readonly waits: readonly { readonly block: number; readonly step: number }[];
}

interface ReadBlock {
  readonly kind: Kind;
  readonly peer: number;
  readonly lane: number;
  readonly line: number;
  readonly steps: ReadStep[];
}

/** Adds the next rank with its blocks. O(its lines). */
function addRank(
  builder: ProgramBuilder,
  lines: Lines,
  header: Header,
  rank: number,
  chunk: number[],
  scratch: number[],
): void {
  const number = only(lines, lines.after("rank"), "a rank");
  if (number !== `${rank}`) throw lines.wrong(`rank ${rank}`, number);
  scratch.push(numberOf(lines, only(lines, lines.after("scratch"), "chunks"), "chunks of scratch", MOST_PLAN_CHUNKS));
  const blocks = blocksOf(lines, header, rank);
  const offset = [builder.instructions()];
  for (const { steps } of blocks) offset.push((offset.at(-1) as number) + steps.length);
  const awaited = new Set<number>();
  const waitsOf = blocks.map(({ steps }) =>
    steps.map(({ waits, line }) =>
      waits.map(({ block, step }): Wait => {
        if (step >= (blocks[block]?.steps.length ?? 0))
          throw new InputError(lines.place(line), `a wait for an instruction of rank ${rank}`, `@${block}:${step}`);
        const on = (offset[block] as number) + step;
        awaited.add(on);
        return { kind: WAIT_INSTRUCTION, on };
      }),
    ),
  );
  builder.addRank();
  blocks.forEach(({ kind, peer, lane, line, steps }, id) => {
    builder.addBlock({
      id,
      channel: lane,
      line,
      ...(kind === "to" ? { sendPeer: peer } : kind === "from" ? { recvPeer: peer } : {}),
    });
    steps.forEach((step, s) => {
      const operands = step.places.map((place): Operand => ({ rank, ...place }));
      const [source, destination] = operands as [Operand, Operand];
      chunk.push(step.first);
      builder.add({
        op: step.op,
        line: step.line,
        chunks: step.chunks,
        receives: kind === "from",
        sends: kind === "to",
        publishes: awaited.has((offset[id] as number) + s),
        sources: step.op === "r" ? [] : step.op === "re" ? [destination, source] : [source],
        destinations: step.op === "s" ? [] : step.op === "r" ? [source] : [destination],
        waits: waitsOf[id]?.[s] ?? [],
      });
    });
  });
}

function blocksOf(lines: Lines, header: Header, rank: number): ReadBlock[] {
  const blocks: ReadBlock[] = [];
  for (let word = lines.peek(); word !== null && word !== "rank"; word = lines.peek()) {
    if (isKind(word)) {
      blocks.push(blockOf(lines, header, rank, word));
      continue;
    }
    const block = blocks.at(-1);
    if (block === undefined) {
      lines.next();
      throw lines.wrong("a block (to, from or local) or the next rank", word);
    }
    block.steps.push(stepOf(lines, header, block.kind));
  }
  return blocks;
}

function blockOf(lines: Lines, { shape, lanes }: Header, rank: number, kind: Kind): ReadBlock {
  const words = lines.after(kind);
  const [peer, lane, ...rest] = words;
  if (rest.length > 0 || (kind === "local" && words.length > 0)) throw lines.wrong("nothing else", words.join(" "));
  if (kind === "local") return { kind, peer: -1, lane: 0, line: lines.line(), steps: [] };
  const to = numberOf(lines, peer, "the peer", shape.rankCount - 1);
  if (to === rank) throw lines.wrong("another rank as its peer", peer);
  return { kind, peer: to, lane: numberOf(lines, lane, "the lane", lanes - 1), line: lines.line(), steps: [] };
}

function stepOf(lines: Lines, { perBlock, shape }: Header, kind: Kind): ReadStep {
  const [op, first, count, ...rest] = lines.next();
  if (!(OPS_OF[kind] as readonly string[]).includes(op ?? ""))
    throw lines.wrong(`${OPS_OF[kind].join(" or ")}, as a block "${kind}" has,`, op);
  if (kind !== "to" && (op === "rrc" || op === "re") && !SUMMING.has(shape.collective))
    throw lines.wrong("no sums", op);
  const all = perBlock * blocksOfCollective(shape);
  const start = numberOf(lines, first, "the first chunk", all - 1);
  const chunks = numberOf(lines, count, "the number of chunks", all - start, 1);
  if (Math.floor(start / perBlock) !== Math.floor((start + chunks - 1) / perBlock))
    throw lines.wrong("chunks of one block", `${first} ${count}`);
  const operands = op === "s" || op === "r" ? 1 : 2;
  const places = Array.from({ length: operands }, (_, k) => {
    const [letter, index] = [rest[2 * k], rest[2 * k + 1]];
    const buffer = (BUFFER_LETTERS as readonly (string | undefined)[]).indexOf(letter);
    if (buffer < 0) throw lines.wrong("a buffer, i, o or s,", letter);
    return { buffer, index: numberOf(lines, index, "the place in its buffer") };
  });
  const waits = rest.slice(2 * operands).map((word) => {
    const found = /^@(\d{1,9}):(\d{1,9})$/.exec(word);
    if (found === null) throw lines.wrong("a wait, @block:instruction,", word);
    return { block: Number(found[1]), step: Number(found[2]) };
  });
  return { op: op as Op, line: lines.line(), first: start, chunks, places, waits };
}
