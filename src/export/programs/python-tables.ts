import { InputError } from "../../base/errors.ts";
import { escapeOf, replaceHidden } from "../../base/visible.ts";
import { type Collective, type CollectiveKind, membersOf, type Placement } from "../../model/collective/collective.ts";
import { type Rounds, roundCount, roundsOf } from "../../model/messages/rounds.ts";
import { OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";

/** What programs in Python have in common. */
export interface PythonSubject {
  readonly schedule: StepSchedule;
  readonly rounds: Rounds;
  /** The function that the file defines. */
  readonly name: string;
  readonly kind: Collective["kind"];
  readonly ranks: number;
  /** Chunks to a block, the unit of a buffer: the whole of it, or what one rank contributes or gets. */
  readonly chunksPerBlock: number;
  /** "allgather among 8 ranks (ring:8) in 7 rounds" */
  readonly title: string;
}

/**
 * Returns what is written of a schedule of one group. Throws InputError for several groups, for transfers that begin or end
 * outside of the group, for more transfers than `mostTransfers`, and where roundsOf does.
 */
export function pythonSubject(schedule: StepSchedule, name: string, mostTransfers: number): PythonSubject {
  const { collective, topology, route, routes } = schedule;
  const { kind, groupCount, groupSize, groupMembers } = collective;
  const place = "a schedule to be written in Python";
  if (groupCount !== 1) throw new InputError(place, "one process group", `${groupCount} groups`);
  if (route.length > mostTransfers)
    throw new InputError(place, `at most ${mostTransfers} transfers`, route.length).as("out-of-range");
  const inside = new Uint8Array(topology.npuCount);
  for (const npu of groupMembers) inside[npu] = 1;
  for (const r of route) {
    const outsider = [routes.source[r], routes.target[r]].find((npu) => inside[npu] === 0);
    if (outsider === undefined) continue;
    const expected = "transfers between members of its process group (synthesize with --outsiders none)";
    throw new InputError(place, expected, `one at ${topology.nodeNames[outsider]}`);
  }
  const rounds = roundsOf(schedule);
  const whole = kind === "allreduce" || kind === "broadcast" || kind === "reduce";
  return {
    schedule,
    rounds,
    name: identifier(name),
    kind,
    ranks: groupSize,
    chunksPerBlock: kind === "custom" ? 1 : whole ? collective.chunkCount : collective.chunksPerNpu,
    title: `${kind} among ${groupSize} ranks (${oneLine(topology.name)}) in ${roundCount(rounds)} rounds`,
  };
}

const KEYWORDS = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if import
  in is lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
);

/** Returns a name as an identifier of Python that hides nothing of the file: other characters become _. */
function identifier(text: string): string {
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
 * Yields the constants of a program: NPUS, RANKS, ROOT, CHUNKS_PER_BLOCK, REDUCES, INPUT and OUTPUT (for each rank its chunks,
 * ascending) and ROUNDS (for each round its messages: source, target, chunk, whether it is added).
 */
export function* pythonTables({ schedule, rounds, ranks, chunksPerBlock }: PythonSubject): Generator<string> {
  const { collective, topology } = schedule;
  const names = Array.from(collective.groupMembers, (npu) => pythonString(topology.nodeNames[npu]));
  yield `# Rank r is the r-th of these NPUs.\nNPUS = [${names.join(", ")}]\n`;
  yield `RANKS = ${ranks}\nROOT = ${collective.rootRank}\nREDUCES = ${collective.reduces ? "True" : "False"}\n`;
  yield "# Buffers are blocks, of equal size, one after the other; a block is cut into so many chunks.\n";
  yield `CHUNKS_PER_BLOCK = ${chunksPerBlock}\n`;
  yield "# For each rank the chunks that it has at the start, and those that it wants.\n";
  yield `INPUT = ${placementText(collective, collective.pre)}\nOUTPUT = ${placementText(collective, collective.post)}\n`;
  yield '# A line for each round: "2>3:5" sends chunk 5 from rank 2 to rank 3, where "2>3+5" adds it to what is there.\n';
  yield "# Messages carry what their ranks have when the round begins.\n";
  yield 'TABLE = """\n';
  yield* roundLines(schedule, rounds);
  yield '"""\n';
  yield READER;
}

const READER = `

def message(text):
    """Returns source, target, chunk, and whether the chunk is added."""
    adds = "+" in text
    source, rest = text.split(">")
    target, chunk = rest.split("+" if adds else ":")
    return int(source), int(target), int(chunk), adds


ROUNDS = [[message(text) for text in line.split()] for line in TABLE.strip().splitlines()]
`;

function* roundLines({ collective, topology, chunk, route, routes, op }: StepSchedule, rounds: Rounds) {
  const { offset, transfer } = rounds;
  const rank = new Int32Array(topology.npuCount);
  collective.groupMembers.forEach((npu, r) => {
    rank[npu] = r;
  });
  for (let k = 0; k < roundCount(rounds); k++) {
    const texts = Array.from(transfer.subarray(offset[k], offset[k + 1]), (i) => {
      const [source, target] = [rank[routes.source[route[i]]], rank[routes.target[route[i]]]];
      return `${source}>${target}${op[i] === OP_REDUCE ? "+" : ":"}${chunk[i]}`;
    });
    yield `${texts.join(" ")}\n`;
  }
}

/** Returns, for each rank, the chunks of a placement: ranges where they are evenly spaced. O(chunks). */
function placementText(collective: Collective, placement: Placement): string {
  const { chunkCount, groupMembers } = collective;
  if (placement.kind === "group") return `[range(${chunkCount})] * ${groupMembers.length}`;
  const rankOf = new Map(Array.from(groupMembers, (npu, rank) => [npu, rank]));
  const chunks: number[][] = Array.from(groupMembers, () => []);
  for (let chunk = 0; chunk < chunkCount; chunk++)
    for (const npu of membersOf(collective, placement, chunk)) chunks[rankOf.get(npu) ?? -1]?.push(chunk);
  return `[${chunks.map(listText).join(", ")}]`;
}

function listText(chunks: readonly number[]): string {
  if (chunks.length < 2) return `[${chunks.join("")}]`;
  const step = chunks[1] - chunks[0];
  if (!chunks.every((chunk, i) => i === 0 || chunk - chunks[i - 1] === step)) return `[${chunks.join(", ")}]`;
  const end = chunks[chunks.length - 1] + step;
  return step === 1 ? `range(${chunks[0]}, ${end})` : `range(${chunks[0]}, ${end}, ${step})`;
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
    custom: { input: "count elements for each chunk of INPUT[rank]", output: "as many for each of OUTPUT[rank]" },
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
      "for x, chunks in zip(inputs, INPUT):",
      "    for k, chunk in enumerate(chunks):",
      "        part = x.reshape(len(chunks), -1)[k]",
      "        whole[chunk] = whole[chunk] + part if REDUCES and chunk in whole else part",
      `return [${join}([inputs[0][:0]] + [whole[chunk] for chunk in chunks]) for chunks in OUTPUT]`,
    ],
  };
  return definitions[kind];
}
