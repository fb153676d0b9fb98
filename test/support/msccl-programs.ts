import fc from "fast-check";
import { INPUT, OUTPUT, type Program, SCRATCH, WAIT_INSTRUCTION } from "../../src/model/program/program.ts";
import {
  type Operand,
  type ProgramBuilder,
  type ProgramHeader,
  programBuilder,
  type Wait,
} from "../../src/model/program/program-builder.ts";
import { programHeader } from "./program-header.ts";

/** Returns what a program for MSCCL says of itself, with some values. */
export const header = (rankCount: number): ProgramHeader =>
  programHeader("msccl", "allreduce", rankCount, 4, {
    name: "test",
    inputChunks: new Int32Array(rankCount),
    outputChunks: new Int32Array(rankCount),
    channelCount: 2,
  });

/** Returns a wait for an instruction. */
export const waitFor = (on: number): Wait => ({ kind: WAIT_INSTRUCTION, on });

/** Type, sources, destinations, receives, sends. */
const TYPES = [
  ["s", 1, 0, false, true],
  ["r", 0, 1, true, false],
  ["rcs", 0, 1, true, true],
  ["rrs", 1, 0, true, true],
  ["rrc", 1, 1, true, false],
  ["rrcs", 1, 1, true, true],
  ["cpy", 1, 1, false, false],
  ["re", 2, 1, false, false],
] as const;

const operand = fc.record({
  buffer: fc.constantFrom(INPUT, OUTPUT, SCRATCH),
  index: fc.oneof(fc.nat(9), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
});

const step = fc.record({
  type: fc.constantFrom(...TYPES),
  cells: fc.array(operand, { minLength: 2, maxLength: 2 }),
  chunks: fc.nat(100),
  publishes: fc.boolean(),
  /** Which other steps of its rank it waits for. */
  waits: fc.array(fc.nat(), { maxLength: 3 }),
});

const rank = fc.record({
  copies: fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 2 }),
  chunks: fc.tuple(fc.nat(2 ** 31 - 1), fc.nat(9), fc.nat(9)),
  blocks: fc.array(
    fc.record({ send: fc.nat(), recv: fc.nat(), channel: fc.nat(9), steps: fc.array(step, { maxLength: 4 }) }),
    { maxLength: 3 },
  ),
});

type DrawnRank = typeof rank extends fc.Arbitrary<infer T> ? T : never;
type DrawnStep = typeof step extends fc.Arbitrary<infer T> ? T : never;

function addRank(builder: ProgramBuilder, r: number, rankCount: number, { copies, blocks }: DrawnRank): void {
  builder.addRank();
  if (copies.length > 0) builder.addBlock({ id: -1 });
  for (const [from, to] of copies) {
    const at = (buffer: number, index: number): Operand => ({ rank: r, buffer, index });
    builder.add({ op: "cpy", chunks: 1, sources: [at(INPUT, from)], destinations: [at(OUTPUT, to)] });
  }
  const others = blocks.reduce((sum, { steps }) => sum + steps.length, 0) - 1;
  const waitsOf = ({ waits }: DrawnStep): readonly number[] => (others > 0 ? waits : []);
  const places: number[] = [];
  let next = builder.instructions();
  for (const drawn of blocks.flatMap(({ steps }) => steps)) {
    next += Math.max(0, waitsOf(drawn).length - 1);
    places.push(next++);
  }
  const peer = (draw: number): number => {
    const found = (draw % (rankCount + 1)) - 1;
    return found === r ? -1 : found;
  };
  let place = 0;
  for (const [id, { send, recv, channel, steps }] of blocks.entries()) {
    builder.addBlock({ id, sendPeer: peer(send), recvPeer: peer(recv), channel });
    for (const drawn of steps) {
      const self = place++;
      const other = (draw: number): number => (self + 1 + (draw % others)) % (others + 1);
      addStep(
        builder,
        r,
        drawn,
        waitsOf(drawn).map((draw) => waitFor(places[other(draw)] as number)),
      );
    }
  }
}

/** Adds a step after nops for all waits but the last. */
function addStep(
  builder: ProgramBuilder,
  r: number,
  { type, cells, ...drawn }: DrawnStep,
  waits: readonly Wait[],
): void {
  const [op, sources, destinations, receives, sends] = type;
  const [source, destination] = cells.map((cell) => ({ rank: r, ...cell })) as [Operand, Operand];
  for (const wait of waits.slice(0, -1)) builder.add({ op: "nop", waits: [wait] });
  builder.add({
    op,
    chunks: drawn.chunks,
    publishes: drawn.publishes,
    receives,
    sends,
    sources: sources === 2 ? [destination, source] : sources === 1 ? [source] : [],
    destinations: destinations === 1 ? [destination] : [],
    waits: waits.slice(-1),
  });
}

/** Any text that XML can hold. */
const name = fc.string({
  unit: fc.constantFrom(..."aZ09 <>&\"'\t\n\r=/-é😀".split(/(?:)/u)),
});

/** Returns programs that MSCCL XML can say, sensible or not, with nops as files have them: one wait each, before a step that waits. */
export const anyMscclProgram = (): fc.Arbitrary<Program> =>
  fc
    .record({
      ranks: fc.array(rank, { minLength: 1, maxLength: 4 }),
      name,
      rootRank: fc.nat(),
      collective: fc.constantFrom(
        "allreduce" as const,
        "allgather" as const,
        "reducescatter" as const,
        "broadcast" as const,
      ),
      protocol: fc.constantFrom("Simple" as const, "LL" as const, "LL128" as const),
      inPlace: fc.boolean(),
      outOfPlace: fc.boolean(),
      minBytes: fc.option(fc.nat()),
      maxBytes: fc.option(fc.maxSafeNat()),
      channelCount: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      loopChunks: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    })
    .map(({ ranks, rootRank, ...fields }) => {
      const builder = programBuilder();
      for (const [r, drawn] of ranks.entries()) addRank(builder, r, ranks.length, drawn);
      const count = ranks.length;
      return builder.build({
        ...header(count),
        ...fields,
        rootRank: rootRank % count,
        inputChunks: Int32Array.from(ranks, ({ chunks }) => chunks[0]),
        outputChunks: Int32Array.from(ranks, ({ chunks }) => chunks[1]),
        scratchChunks: Int32Array.from(ranks, ({ chunks }) => chunks[2]),
      });
    });
