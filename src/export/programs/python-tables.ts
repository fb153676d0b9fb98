import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { escapeOf, replaceHidden } from "../../base/visible.ts";
import { type Collective, type CollectiveKind, membersOf, type Placement } from "../../model/collective/collective.ts";
import { type PieceMessage, type Pieces, piecesOf } from "../../model/messages/pieces.ts";
import { roundsOf } from "../../model/messages/rounds.ts";
import { gcd } from "../../model/numbers/integers.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";

/** What programs in Python have in common. */
export interface PythonSubject {
  readonly schedule: StepSchedule;
  readonly pieces: Pieces;
  readonly kind: Collective["kind"];
  readonly ranks: number;
  /** Chunks to a block, the unit of a buffer: the whole of it, or what one rank contributes or gets. */
  readonly chunksPerBlock: number;
  /** Every piece is a multiple of this many chunks, which the schedule sends one after the other. */
  readonly parts: number;
  /** "allgather among 8 ranks (ring:8) in 7 rounds" */
  readonly title: string;
}

/**
 * Returns what is written of a schedule of one group. Throws InputError for several groups, for transfers that begin or end
 * outside of the group, for more transfers than `mostTransfers`, and where roundsOf does.
 */
export function pythonSubject(schedule: StepSchedule, mostTransfers: number): PythonSubject {
  const { collective, topology, route, routes } = schedule;
  const { kind, groupCount, groupSize, groupMembers } = collective;
  const place = "a schedule to be written in Python";
  if (groupCount !== 1) {
    const names = Array.from(groupMembers.subarray(0, groupSize), (npu) => topology.nodeNames[npu]).join(",");
    throw new InputError(place, "one process group", inWords(`${groupCount} groups`)).saying(
      `${place} must have one process group, and this one has ${groupCount}; write each by itself, such as ${optionName("group")} ${names}`,
    );
  }
  if (route.length > mostTransfers)
    throw new InputError(place, `at most ${mostTransfers} transfers`, route.length).as("out-of-range");
  const inside = new Uint8Array(topology.npuCount);
  for (const npu of groupMembers) inside[npu] = 1;
  for (const r of route) {
    const outsider = [routes.source[r], routes.target[r]].find((npu) => inside[npu] === 0);
    if (outsider === undefined) continue;
    const expected = "transfers between members of its process group (synthesize with --outsiders none)";
    throw new InputError(place, expected, inWords(`one at ${topology.nodeNames[outsider]}`));
  }
  const whole = kind === "allreduce" || kind === "broadcast" || kind === "reduce";
  const chunksPerBlock = kind === "custom" ? 1 : whole ? collective.chunkCount : collective.chunksPerNpu;
  const pieces = piecesOf(schedule, roundsOf(schedule), chunksPerBlock);
  return {
    schedule,
    pieces,
    kind,
    ranks: groupSize,
    chunksPerBlock,
    parts: pieces.chunks.reduce(gcd, chunksPerBlock),
    title: `${kind} among ${groupSize} ranks (${oneLine(topology.name)}) in ${pieces.rounds.length} rounds`,
  };
}

/** Words that no name of Python may be. */
export const KEYWORDS: ReadonlySet<string> = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if import
  in is lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
);

/** Returns a name as an identifier of Python that hides nothing of the file: other characters become _. */
export function identifier(text: string): string {
  const plain = text.replace(/[^A-Za-z0-9_]/g, "_").slice(0, 80);
  if (/^[a-z]/.test(plain) && !KEYWORDS.has(plain) && !RESERVED.has(plain)) return plain;
  return `run_${plain}`;
}

/** Names of the file's own, and functions of Python that it calls. */
const RESERVED = new Set(
  `axis check count definition dist functools held jax jnp lax message mp np numbers os process rank ranks shard_map steps_of sys
  tables tempfile torch x bool dict enumerate int len list max next print range sum tuple zip`.split(/\s+/),
);

/** Returns a text as a string of Python, whose escapes are JSON's but for characters beyond 16 bits. */
export const pythonString = (text: string): string =>
  replaceHidden(JSON.stringify(text), (character) => {
    const code = character.codePointAt(0) as number;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : escapeOf(character);
  });

/** Returns a text for comments and strings of any kind: other characters than those of our own names become ?. */
export const oneLine = (text: string): string => text.replace(/[^A-Za-z0-9_ .,:;@*+=<>()/-]/g, "?").slice(0, 200);

/**
 * Yields the constants of a program: NPUS, RANKS, ROOT, REDUCES, UNITS_PER_BLOCK, PIECES, INPUT and OUTPUT (for each rank its
 * blocks, ascending), and ROUNDS: for each round its messages (source, target, pieces stored, pieces added), or, where
 * `permutations` divide the messages of the rounds, a list of them for each permutation of the round.
 */
export function* pythonTables(
  { schedule, pieces, ranks, chunksPerBlock, parts }: PythonSubject,
  permutations?: readonly (readonly (readonly PieceMessage[])[])[],
): Generator<string> {
  const { collective, topology } = schedule;
  const names = Array.from(collective.groupMembers, (npu) => pythonString(topology.nodeNames[npu]));
  const placed = (placement: Placement): string => placementText(collective, placement, chunksPerBlock);
  yield `# Rank r is the r-th of these NPUs.\nNPUS = [${names.join(", ")}]\n`;
  yield `RANKS = ${ranks}\nROOT = ${collective.rootRank}\nREDUCES = ${collective.reduces ? "True" : "False"}\n`;
  yield "# Buffers are blocks, of equal size, one after the other; a block is cut into this many units.\n";
  yield `UNITS_PER_BLOCK = ${chunksPerBlock / parts}\n`;
  yield "# For each block the units of its pieces; pieces are numbered through all blocks.\n";
  yield `PIECES = ${piecesText(pieces, pieces.chunks, parts)}\n`;
  yield "# For each rank the blocks that it has at the start, and those that it wants.\n";
  yield `INPUT = ${placed(collective.pre)}\nOUTPUT = ${placed(collective.post)}\n`;
  yield '# A line for each round: "2>3:5,8-9+7" sends pieces 5, 8 and 9 from rank 2 to rank 3, which stores them, and 7, which it adds\n';
  yield `# to what it has. Messages carry what their ranks have when the round begins.${permutations ? PERMUTED_NOTE : ""}\n`;
  yield 'TABLE = """\n';
  const rank = new Int32Array(topology.npuCount);
  collective.groupMembers.forEach((npu, r) => {
    rank[npu] = r;
  });
  const text = ({ source, target, stored, added }: PieceMessage): string =>
    `${rank[source]}>${rank[target]}:${rangesText(stored)}${added.length > 0 ? "+" : ""}${rangesText(added)}`;
  for (const groups of permutations ?? pieces.rounds.map((messages) => [messages]))
    yield `${groups.map((group) => group.map(text).join(" ")).join(" | ")}\n`;
  yield '"""\n';
  yield READER;
  const messages = (line: string): string => `[message(text) for text in ${line}.split()]`;
  const one = permutations ? `[${messages("group")} for group in line.split("|")]` : messages("line");
  yield `ROUNDS = [${one} for line in TABLE.strip().splitlines()]\n`;
}

const PERMUTED_NOTE = " Between bars a rank sends and receives once.";

const READER = `

def numbers_in(text):
    """Returns the numbers of "5,8-9"."""
    numbers = []
    for part in text.split(",") if text else []:
        first, _, last = part.partition("-")
        numbers.extend(range(int(first), int(last or first) + 1))
    return numbers


def message(text):
    """Returns source, target, the pieces that are stored, and those that are added."""
    ends, _, pieces = text.partition(":")
    source, target = ends.split(">")
    stored, _, added = pieces.partition("+")
    return int(source), int(target), numbers_in(stored), numbers_in(added)


`;

/** Returns ascending numbers as "5,8-9". */
function rangesText(numbers: readonly number[]): string {
  const texts: string[] = [];
  for (let from = 0, to = 1; from < numbers.length; from = to++) {
    while (to < numbers.length && numbers[to] === numbers[to - 1] + 1) to++;
    texts.push(to - from === 1 ? `${numbers[from]}` : `${numbers[from]}-${numbers[to - 1]}`);
  }
  return texts.join(",");
}

/** Returns, for each block, how many times `parts` chunks its pieces stand for. */
export function piecesText({ first }: Pieces, chunks: Int32Array, parts: number): string {
  const lists = Array.from(
    first.subarray(1),
    (end, block) => `[${Array.from(chunks.subarray(first[block], end), (count) => count / parts).join(", ")}]`,
  );
  return lists.every((list) => list === lists[0]) && lists.length > 0
    ? `[${lists[0]}] * ${lists.length}`
    : `[${lists.join(", ")}]`;
}

/** Returns, for each rank, the blocks of a placement: ranges where they are evenly spaced. O(blocks). */
function placementText(collective: Collective, placement: Placement, chunksPerBlock: number): string {
  const { chunkCount, groupMembers } = collective;
  const blocks = chunkCount / chunksPerBlock;
  if (placement.kind === "group") return `[range(${blocks})] * ${groupMembers.length}`;
  const rankOf = new Map(Array.from(groupMembers, (npu, rank) => [npu, rank]));
  const owned: number[][] = Array.from(groupMembers, () => []);
  for (let block = 0; block < blocks; block++)
    for (const npu of membersOf(collective, placement, block * chunksPerBlock))
      owned[rankOf.get(npu) ?? -1]?.push(block);
  return `[${owned.map(listText).join(", ")}]`;
}

/** Returns numbers as a list of Python, or a range where they are evenly spaced. */
export function listText(numbers: readonly number[]): string {
  if (numbers.length < 2) return `[${numbers.join("")}]`;
  const step = numbers[1] - numbers[0];
  if (!numbers.every((number, i) => i === 0 || number - numbers[i - 1] === step)) return `[${numbers.join(", ")}]`;
  const end = numbers[numbers.length - 1] + step;
  return step === 1 ? `range(${numbers[0]}, ${end})` : `range(${numbers[0]}, ${end}, ${step})`;
}

/** How the buffers of a collective are said to the user; `count` is the elements of a block. */
interface Buffers {
  readonly input: string;
  readonly output: string;
}

/** Returns what a rank passes in and gets back, in elements. */
export function buffersOf(kind: CollectiveKind): Buffers {
  const each = (what: string): string => `RANKS x count elements: ${what}`;
  const buffers: Record<CollectiveKind, Buffers> = {
    allgather: { input: "count elements", output: each("those of each rank") },
    reducescatter: { input: each("a block for each rank"), output: "the sum of the ranks' blocks for this rank" },
    allreduce: { input: "count elements", output: "the sum of all ranks' elements" },
    broadcast: { input: "count elements at the root", output: "those of the root" },
    reduce: { input: "count elements", output: "their sum over ranks at the root" },
    gather: { input: "count elements", output: each("those of each rank, at the root") },
    scatter: { input: each("a block for each rank, at the root"), output: "this rank's block" },
    alltoall: { input: each("a block for each rank"), output: each("what each rank has for this one") },
    custom: { input: "count elements for each block of INPUT[rank]", output: "as many for each of OUTPUT[rank]" },
  };
  return buffers[kind];
}

/**
 * Returns the lines of a Python function's body that returns what every rank must have at the end, by the collective's
 * definition, from the list `inputs` of flat arrays of all ranks; `library` is numpy or torch, `join` its concatenation.
 */
export function definitionLines(kind: CollectiveKind, library: "np" | "torch"): readonly string[] {
  const join = library === "np" ? "np.concatenate" : "torch.cat";
  const only = (value: string): string =>
    `return [${value} if rank == ROOT else inputs[rank][:0] for rank in range(RANKS)]`;
  const definitions: Record<CollectiveKind, readonly string[]> = {
    allgather: [`return [${join}(inputs)] * RANKS`],
    reducescatter: ["return list(sum(inputs).reshape(RANKS, -1))"],
    allreduce: ["return [sum(inputs)] * RANKS"],
    broadcast: ["return [inputs[ROOT]] * RANKS"],
    reduce: [only("sum(inputs)")],
    gather: [only(`${join}(inputs)`)],
    scatter: ["return list(inputs[ROOT].reshape(RANKS, -1))"],
    alltoall: [
      "parts = [x.reshape(RANKS, -1) for x in inputs]",
      `return [${join}([part[rank] for part in parts]) for rank in range(RANKS)]`,
    ],
    custom: [
      "whole = {}",
      "for x, blocks in zip(inputs, INPUT):",
      "    for k, block in enumerate(blocks):",
      "        part = x.reshape(len(blocks), -1)[k]",
      "        whole[block] = whole[block] + part if REDUCES and block in whole else part",
      `return [${join}([inputs[0][:0]] + [whole[block] for block in blocks]) for blocks in OUTPUT]`,
    ],
  };
  return definitions[kind];
}
