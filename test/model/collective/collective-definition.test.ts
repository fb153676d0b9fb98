import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  COLLECTIVE_KINDS,
  type Collective,
  collective,
  type NamedCollective,
  type Placement,
} from "../../../src/model/collective/collective.ts";
import { kindFault } from "../../../src/model/collective/collective-definition.ts";
import { rational } from "../../../src/model/numbers/rational.ts";
import { runs, seen } from "../../support/runs.ts";

/** What a chunk is about: who has it, who wants it; sets as sorted texts. */
type Row = readonly [string, string];

const text = (npus: readonly number[]): string => [...npus].sort((a, b) => a - b).join();

/** The rows of a collective, written down from the definitions in MPI's words, buffer by buffer. */
function rowsByDefinition(kind: NamedCollective, groups: readonly number[][], chunks: number, root: number): Row[] {
  const rows: Row[] = [];
  const times = (row: Row): void => {
    for (let k = 0; k < chunks; k++) rows.push(row);
  };
  for (const group of groups) {
    const all = text(group);
    const first = String(group[root]);
    if (kind === "broadcast") times([first, all]);
    else if (kind === "reduce") times([all, first]);
    else if (kind === "alltoall") {
      for (const from of group) for (const to of group) times([String(from), String(to)]);
    } else {
      for (const one of group) {
        const mine = String(one);
        if (kind === "allgather") times([mine, all]);
        if (kind === "reducescatter") times([all, mine]);
        if (kind === "allreduce") times([all, all]);
        if (kind === "gather") times([mine, first]);
        if (kind === "scatter") times([first, mine]);
      }
    }
  }
  return rows;
}

function members(of: Collective, placement: Placement, chunk: number): string {
  if (placement.kind === "one") return String(placement.npu[chunk]);
  if (placement.kind === "sets")
    return text([...placement.members.subarray(placement.offset[chunk], placement.offset[chunk + 1])]);
  const group = Math.floor((chunk * of.groupCount) / of.chunkCount);
  return text([...of.groupMembers.subarray(group * of.groupSize, (group + 1) * of.groupSize)]);
}

const rowsOf = (of: Collective): Row[] =>
  Array.from({ length: of.chunkCount }, (_, chunk) => [members(of, of.pre, chunk), members(of, of.post, chunk)]);

/** Returns the same placement as sets. */
function asSets(of: Collective, placement: Placement): Placement {
  const lists = Array.from({ length: of.chunkCount }, (_, chunk) =>
    members(of, placement, chunk).split(",").map(Number),
  );
  const offset = Int32Array.from([0, ...lists.map((_, c) => lists.slice(0, c + 1).flat().length)]);
  return { kind: "sets", offset, members: Int32Array.from(lists.flat()) };
}

const SUMMED: readonly NamedCollective[] = ["reducescatter", "allreduce", "reduce"];

/** Whether the numbers and tables are those of the definition. All-reduces of other chunk counts are asked apart. */
function isByDefinition(of: Collective): boolean {
  const kind = of.kind as NamedCollective;
  const groups = Array.from({ length: of.groupCount }, (_, g) => [
    ...of.groupMembers.subarray(g * of.groupSize, (g + 1) * of.groupSize),
  ]);
  if (of.rootRank < 0 || of.rootRank >= of.groupSize || of.chunksPerNpu < 1) return false;
  const rows = rowsByDefinition(kind, groups, of.chunksPerNpu, of.rootRank);
  const parts = kind === "broadcast" || kind === "reduce" ? of.chunksPerNpu : of.groupSize * of.chunksPerNpu;
  return (
    of.reduces === SUMMED.includes(kind) &&
    of.chunkBytes.num * BigInt(parts) === BigInt(of.sizeBytes) * of.chunkBytes.den &&
    JSON.stringify(rowsOf(of)) === JSON.stringify(rows)
  );
}

const problems = fc.record({
  kind: fc.constantFrom(...COLLECTIVE_KINDS),
  size: fc.integer({ min: 1, max: 4 }),
  groupCount: fc.integer({ min: 1, max: 3 }),
  chunksPerNpu: fc.integer({ min: 1, max: 3 }),
  sizeBytes: fc.integer({ min: 1, max: 1000 }),
  root: fc.nat(3),
  order: fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], { minLength: 12, maxLength: 12 }),
});

type Problem = typeof problems extends fc.Arbitrary<infer T> ? T : never;

const madeOf = ({ kind, size, groupCount, chunksPerNpu, sizeBytes, root, order }: Problem): Collective =>
  collective({
    kind,
    groups: Array.from({ length: groupCount }, (_, g) => Int32Array.from(order.slice(g * size, (g + 1) * size))),
    chunksPerNpu,
    sizeBytes,
    rootRank: ["broadcast", "reduce", "gather", "scatter"].includes(kind) ? root % size : 0,
  });

type Change = (of: Collective, draw: (below: number) => number) => Partial<Collective>;

/** Returns the placement with one NPU of one chunk changed, taken away or added. */
function placedElsewhere(of: Collective, placement: Placement, draw: (below: number) => number): Placement {
  const { offset, members: list } = asSets(of, placement) as Extract<Placement, { kind: "sets" }>;
  const chunk = draw(of.chunkCount);
  const lists = Array.from({ length: of.chunkCount }, (_, c) => [...list.subarray(offset[c], offset[c + 1])]);
  const own = new Set(lists[chunk]);
  const npu = draw(13);
  if (own.has(npu) && own.size > 1) own.delete(npu);
  else own.add(npu);
  lists[chunk] = [...own].sort((a, b) => a - b);
  return {
    kind: "sets",
    offset: Int32Array.from([0, ...lists.map((_, c) => lists.slice(0, c + 1).flat().length)]),
    members: Int32Array.from(lists.flat()),
  };
}

const CHANGES: readonly Change[] = [
  (of) => ({ reduces: !of.reduces }),
  (of, draw) => ({ sizeBytes: of.sizeBytes + 1 + draw(5) }),
  () => ({ sizeBytes: 1e15 }),
  (of) => ({ sizeBytes: -of.sizeBytes }),
  (of, draw) => ({ chunkBytes: rational(of.chunkBytes.num, of.chunkBytes.den + BigInt(1 + draw(3))) }),
  (_, draw) => ({ chunksPerNpu: draw(5) }),
  (of, draw) => ({
    kind: COLLECTIVE_KINDS[draw(COLLECTIVE_KINDS.length)] as NamedCollective,
    chunkBytes: of.chunkBytes,
  }),
  (_, draw) => ({ rootRank: draw(6) - 1 }),
  (of, draw) => ({ pre: placedElsewhere(of, of.pre, draw) }),
  (of, draw) => ({ post: placedElsewhere(of, of.post, draw) }),
  (of) => ({ pre: asSets(of, of.pre), post: asSets(of, of.post) }),
  (of) => ({ pre: of.post, post: of.pre }),
  (of) => ({ pre: of.post }),
];

describe("kindFault", () => {
  test("accepts every named collective as the model makes it, its tables as sets too", () => {
    fc.assert(
      fc.property(problems, (problem) => {
        const made = madeOf(problem);
        expect(isByDefinition(made)).toBe(true);
        expect(kindFault(made)).toBeNull();
        expect(kindFault({ ...made, pre: asSets(made, made.pre), post: asSets(made, made.post) })).toBeNull();
      }),
      { numRuns: runs(300) },
    );
  });

  test("finds what a definition by buffers finds, in collectives that one or two changes made something else", () => {
    let wrong = 0;
    let right = 0;
    fc.assert(
      fc.property(
        problems,
        fc.array(fc.nat(1_000_000), { minLength: 8, maxLength: 8 }),
        fc.boolean(),
        (problem, numbers, twice) => {
          let at = 0;
          const draw = (below: number): number => (numbers[at++ % numbers.length] as number) % below;
          let changed = madeOf(problem);
          for (let i = 0; i < (twice ? 2 : 1); i++) {
            changed = { ...changed, ...(CHANGES[draw(CHANGES.length)] as Change)(changed, draw) };
          }
          // other numbers of chunks of an all-reduce have a test of their own
          const expected = isByDefinition(changed);
          expect(kindFault(changed) === null, JSON.stringify({ problem, numbers, fault: kindFault(changed) })).toBe(
            expected,
          );
          if (expected) right++;
          else wrong++;
        },
      ),
      { numRuns: runs(3000) },
    );
    expect(wrong).toBeGreaterThan(seen(1000));
    expect(right).toBeGreaterThan(seen(100));
  });

  test("takes any number of equal chunks for an all-reduce, and tells its share per NPU", () => {
    const groups = [Int32Array.of(0, 1, 2, 3)];
    const whole = collective({ kind: "allreduce", groups, sizeBytes: 90, chunksPerNpu: 2, rootRank: 0 });
    const cut = { ...whole, chunkCount: 9, chunkBytes: rational(10) };
    expect(kindFault(cut)).toBeNull();
    expect(kindFault({ ...cut, chunkCount: 3, chunkBytes: rational(30), chunksPerNpu: 1 })).toBeNull();
    expect(kindFault({ ...cut, chunkCount: 12, chunkBytes: rational(15, 2) })).toBe(
      "it has 12 chunks, which 2 per NPU do not make among 4 NPUs",
    );
    expect(kindFault({ ...cut, chunkBytes: rational(9) })).toBe(
      "its chunks have 9 bytes each, where 90 bytes make chunks of 10",
    );
  });

  test("holds a custom collective to the bytes of its chunks", () => {
    const groups = [Int32Array.of(0, 1, 2)];
    const named = collective({ kind: "allgather", groups, sizeBytes: 10, chunksPerNpu: 1, rootRank: 0 });
    const custom: Collective = { ...named, kind: "custom" };
    expect(kindFault(custom)).toBeNull();
    expect(kindFault({ ...custom, sizeBytes: 9 })).toBeNull();
    expect(kindFault({ ...custom, sizeBytes: 11 })).toBe("its size is 11 bytes, but all its chunks have 10");
  });
});
