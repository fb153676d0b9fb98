import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mscclXmlParts } from "../../../src/export/programs/msccl-xml.ts";
import { readMscclXml } from "../../../src/import/programs/program.ts";
import type { Program } from "../../../src/model/program/program.ts";
import { programBuilder, type Wait } from "../../../src/model/program/program-builder.ts";
import { verifyProgram } from "../../../src/verify/program/program.ts";
import { anyMscclProgram, header, waitFor } from "../../support/msccl-programs.ts";
import { type Refusal, refused, unexpected } from "../../support/refusals.ts";
import { hasSharedData, sharedFiles, sharedText } from "../../support/shared-data.ts";

const written = (program: Program, dialect: "msccl" | "azure" | "rccl" = "azure"): string =>
  [...mscclXmlParts(program, { dialect })].join("");

/** A program without what a file's layout decides and says twice, and with the bounds that are written for none. */
const content = ({ farEnds: _, ...program }: Program): Program => ({
  ...program,
  minBytes: program.minBytes ?? 0,
  maxBytes: program.maxBytes ?? 2 ** 40,
  line: new Int32Array(program.line.length),
  blockLine: new Int32Array(program.blockLine.length),
});

describe("mscclXmlParts", () => {
  it("writes what the runtimes' parsers read: no declaration, one space, every attribute", () => {
    const b = programBuilder();
    b.addRank();
    b.addBlock({ id: 0, sendPeer: 1, channel: 1 });
    const cell = (buffer: number, index: number) => ({ rank: 0, buffer, index });
    b.add({ op: "s", chunks: 2, sends: true, sources: [cell(0, 2)], publishes: true });
    b.addBlock({ id: 1, recvPeer: 1 });
    b.add({ op: "r", chunks: 2, receives: true, destinations: [cell(2, 0)], waits: [waitFor(0)] });
    b.add({ op: "re", chunks: 2, sources: [cell(2, 0), cell(0, 2)], destinations: [cell(0, 2)] });
    b.addRank();
    const program = b.build({ ...header(2), name: '<a "b" & c>', rootRank: 1, inputChunks: Int32Array.of(4, 0) });
    expect(written(program)).toBe(
      `<algo name="&lt;a &quot;b&quot; &amp; c&gt;" proto="Simple" nchannels="2" nchunksperloop="4" ngpus="2" coll="allreduce" inplace="1" outofplace="0" minBytes="0" maxBytes="1099511627776" root="1">
  <gpu id="0" i_chunks="4" o_chunks="0" s_chunks="0">
    <tb id="0" send="1" recv="-1" chan="1">
      <step s="0" type="s" srcbuf="i" srcoff="2" dstbuf="i" dstoff="2" cnt="2" depid="-1" deps="-1" hasdep="1"/>
    </tb>
    <tb id="1" send="-1" recv="1" chan="0">
      <step s="0" type="r" srcbuf="s" srcoff="0" dstbuf="s" dstoff="0" cnt="2" depid="0" deps="0" hasdep="0"/>
      <step s="1" type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="2" cnt="2" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="0" o_chunks="0" s_chunks="0">
  </gpu>
</algo>
`,
    );
  });

  it("writes the peer's side where a step has none of its own, and repeats its own where nobody meets it", () => {
    const b = programBuilder();
    const cell = (rank: number, buffer: number, index: number) => ({ rank, buffer, index });
    b.addRank();
    b.addBlock({ id: 0, sendPeer: 1 });
    b.add({ op: "s", chunks: 2, sends: true, sources: [cell(0, 0, 1)] });
    b.add({ op: "s", chunks: 1, sends: true, sources: [cell(0, 0, 3)] });
    b.add({ op: "s", chunks: 1, sends: true, sources: [cell(0, 0, 4)] });
    b.addBlock({ id: 1, sendPeer: 1, channel: 1 });
    b.add({ op: "s", chunks: 1, sends: true, sources: [cell(0, 0, 9)] });
    b.addRank();
    b.addBlock({ id: 0, recvPeer: 0, sendPeer: 2 });
    b.add({ op: "rcs", chunks: 2, receives: true, sends: true, destinations: [cell(1, 2, 5)] });
    b.add({ op: "rrs", chunks: 1, receives: true, sends: true, sources: [cell(1, 0, 6)] });
    const both = { receives: true, sends: true, sources: [cell(1, 0, 7)], destinations: [cell(1, 1, 8)] };
    b.add({ op: "rrcs", chunks: 1, ...both });
    b.addRank();
    b.addBlock({ id: 0, recvPeer: 1 });
    b.add({ op: "r", chunks: 2, receives: true, destinations: [cell(2, 1, 10)] });
    b.add({ op: "r", chunks: 1, receives: true, destinations: [cell(2, 1, 12)] });
    b.add({ op: "rrc", chunks: 1, receives: true, sources: [cell(2, 1, 13)], destinations: [cell(2, 1, 14)] });
    const program = b.build({ ...header(3), inPlace: false, outOfPlace: true });
    const text = written(program);
    const sides = /type="(\w+)" srcbuf="(.)" srcoff="(\d+)" dstbuf="(.)" dstoff="(\d+)"/g;
    expect([...text.matchAll(sides)].map(([, op, ...ends]) => `${op} ${ends.join(" ")}`)).toEqual([
      ...["s i 1 s 5", "s i 3 i 6", "s i 4 o 8", "s i 9 i 9"],
      ...["rcs i 1 s 5", "rrs i 6 o 12", "rrcs i 7 o 8"],
      ...["r s 5 o 10", "r i 6 o 12", "rrc o 13 o 14"],
    ]);
    // the reader keeps them, and the verifier holds them against the peers' steps
    const warned = (file: string): readonly string[] =>
      verifyProgram(readMscclXml(file, "f.xml"))
        .warnings.filter(({ kind }) => kind === "far-end")
        .map(({ message }) => message);
    expect(readMscclXml(text, "f.xml").farEnds).toEqual({
      instruction: Int32Array.of(0, 1, 2, 4, 5, 7, 8),
      buffer: Uint8Array.of(2, 0, 1, 0, 1, 2, 0),
      index: Int32Array.of(5, 6, 8, 1, 12, 5, 6),
    });
    expect(warned(text)).toEqual([]);
    expect(warned(text.replace('srcbuf="s" srcoff="5"', 'srcbuf="i" srcoff="-1"'))).toEqual([]);
    const other = text
      .replace('dstbuf="s" dstoff="5"', 'dstbuf="o" dstoff="5"')
      .replaceAll('dstoff="12"', 'dstoff="11"');
    expect(warned(other)).toEqual([
      "gpu 0, thread block 0, step 0 (line 4): s names o[5..7) of gpu 1 as the peer's side, where the peer's step has s[5..7) of gpu 1; runtimes pass over it",
    ]);
    expect(
      warned(text.replace('dstoff="12"', 'dstoff="11"').replace('srcbuf="s" srcoff="5"', 'srcbuf="s" srcoff="4"')),
    ).toEqual([
      "gpu 1, thread block 0, step 1 (line 15): rrs names o[11] of gpu 2 as the peer's side, where the peer's step has o[12] of gpu 2, and so in 1 more steps; runtimes pass over it",
    ]);
  });

  it("reads back to the same program, whatever the program", () => {
    fc.assert(
      fc.property(
        anyMscclProgram(),
        fc.constantFrom("msccl" as const, "azure" as const, "rccl" as const),
        (program, dialect) => {
          const back = readMscclXml(written(program, dialect), "back.xml");
          expect(content(back)).toEqual(content(program));
        },
      ),
    );
  });

  it("writes waits beyond the first, and those of stray nops, as nops before the step, and numbers steps as executors count", () => {
    const b = programBuilder();
    b.addRank();
    const scratch = (index: number) => [{ rank: 0, buffer: 2, index }];
    const copy = (index: number, waits: Wait[] = []) =>
      b.add({
        op: "cpy",
        chunks: 1,
        sources: scratch(index),
        destinations: scratch(index + 1),
        waits,
        publishes: true,
      });
    b.addBlock({ id: 0 });
    const one = copy(0);
    const two = copy(1);
    b.addBlock({ id: 1 });
    b.add({ op: "nop" });
    const late = copy(4, [waitFor(one), waitFor(two)]);
    b.add({ op: "nop", waits: [waitFor(one)] });
    copy(6);
    b.add({ op: "nop", waits: [waitFor(one)] });
    b.addBlock({ id: 2 });
    copy(8, [waitFor(late)]);
    const text = written(b.build(header(1)));
    const steps = [...text.matchAll(/s="(\d+)" type="(\w+)".*depid="(-?\d+)" deps="(-?\d+)"/g)].map((m) =>
      m.slice(1).join(" "),
    );
    expect(steps).toEqual(["0 cpy -1 -1", "1 cpy -1 -1", "0 nop 0 0", "1 cpy 0 1", "2 cpy 0 0", "0 cpy 1 1"]);
    const back = readMscclXml(text, "back.xml");
    expect(written(back)).toBe(text);
  });

  it.each([
    [{}, 'minBytes="0" maxBytes="1099511627776"', 'minBytes="0" maxBytes="1099511627776"'],
    [{ minBytes: 5, maxBytes: 9 }, 'minBytes="5" maxBytes="10"', 'minBytes="5" maxBytes="9"'],
    [{ maxBytes: 2 ** 53 - 1 }, `minBytes="0" maxBytes="${2 ** 53 - 1}"`, `minBytes="0" maxBytes="${2 ** 53 - 1}"`],
  ])("writes the range %j as the runtime reads it", (range, msccl, azure) => {
    const program = emptyProgram();
    expect([...mscclXmlParts(program, { dialect: "msccl", ...range })].join("")).toContain(msccl);
    expect([...mscclXmlParts(program, { dialect: "azure", ...range })].join("")).toContain(azure);
    expect([...mscclXmlParts(program, { dialect: "rccl", ...range })].join("")).toContain(azure);
  });

  it.each([
    ["reducescatter", "msccl", 'coll="reduce_scatter"'],
    ["reducescatter", "azure", 'coll="reducescatter"'],
    ["reducescatter", "rccl", 'coll="reducescatter"'],
    ["custom", "msccl", 'coll="custom"'],
  ] as const)("writes %s for %s as the runtime calls it", (collective, dialect, text) => {
    expect(written({ ...emptyProgram(), collective }, dialect)).toContain(text);
  });

  it("writes sizes and chunks of gather and scatter as runtimes count them: a rank's part", () => {
    const b = programBuilder();
    for (let rank = 0; rank < 3; rank++) b.addRank();
    const program: Program = { ...b.build(header(3)), collective: "gather", loopChunks: 6, minBytes: 30, maxBytes: 90 };
    const text = written(program);
    expect(text).toContain('nchunksperloop="2" ngpus="3" coll="gather"');
    expect(text).toContain('minBytes="10" maxBytes="30"');
    expect(content(readMscclXml(text, "back.xml"))).toEqual(content(program));
    const ranged = (range: { minBytes?: number; maxBytes?: number }): string =>
      [...mscclXmlParts({ ...program, collective: "scatter" }, { dialect: "rccl", ...range })].join("");
    expect(ranged({ minBytes: 31, maxBytes: 92 })).toContain('minBytes="11" maxBytes="30"');
    expect(ranged({ minBytes: 0, maxBytes: 2 })).toContain('minBytes="0" maxBytes="1"');
    expect(written({ ...program, minBytes: null, maxBytes: null })).toContain('maxBytes="1099511627776"');
    expect(written({ ...program, maxBytes: 0 })).toContain('maxBytes="0"');
    expect(() => written({ ...program, loopChunks: 7 })).toThrow(
      unexpected("the chunks of a gather for MSCCL XML", 7, 3),
    );
  });

  it("keeps parts small and writes what XML cannot hold of names as escapes", () => {
    const b = programBuilder();
    b.addRank();
    b.addBlock({ id: 0 });
    for (let i = 0; i < 5000; i++) {
      b.add({
        op: "cpy",
        chunks: 1,
        sources: [{ rank: 0, buffer: 0, index: i }],
        destinations: [{ rank: 0, buffer: 1, index: i }],
      });
    }
    const program = b.build({ ...header(1), name: "a\u0000\ud800\tb\n" });
    const parts = [...mscclXmlParts(program, { dialect: "azure" })];
    expect(Math.max(...parts.map((part) => part.length))).toBeLessThan(70_000);
    expect(parts.length).toBeGreaterThan(5);
    expect(readMscclXml(parts.join(""), "x").name).toBe("a\\u0000\\ud800\tb\n");
  });
});

function emptyProgram(): Program {
  const b = programBuilder();
  b.addRank();
  return b.build(header(1));
}

describe("what MSCCL XML cannot say", () => {
  const cell = { rank: 0, buffer: 0, index: 0 };
  const scratch = { rank: 0, buffer: 2, index: 0 };
  type Instruction = Parameters<ReturnType<typeof programBuilder>["add"]>[0];
  const writing = (instruction: Instruction, id = 0): (() => string) => {
    const b = programBuilder();
    b.addRank();
    b.addBlock({ id: 0 });
    b.add({ op: "nop" });
    b.addBlock({ id: id === 0 ? 1 : id });
    b.add(instruction);
    b.addRank();
    b.addBlock({ id: 0 });
    b.add({ op: "cpy", chunks: 1, sources: [{ ...cell, rank: 1 }], destinations: [{ ...scratch, rank: 1 }] });
    b.addEvent({ rank: 0, peer: 0, id: 0, via: "local" });
    return () => written(b.build(header(2)));
  };
  it.each<[string, Instruction, Refusal]>([
    [
      "other machines' instructions",
      { op: "put", sources: [cell], destinations: [scratch] },
      unexpected("gpu 0, thread block 1, step 0 of a program for MSCCL XML", "put"),
    ],
    [
      "events",
      { op: "cpy", sources: [cell], destinations: [scratch], waits: [{ kind: 1, on: 0 }] },
      unexpected("gpu 0, thread block 1, step 0 of a program for MSCCL XML", "another"),
    ],
    [
      "posts",
      { op: "cpy", sources: [cell], destinations: [scratch], posts: [0] },
      unexpected("gpu 0, thread block 1, step 0 of a program for MSCCL XML", "cpy"),
    ],
    [
      "memory of other ranks",
      { op: "cpy", sources: [{ ...cell, rank: 1 }], destinations: [scratch] },
      unexpected("gpu 0, thread block 1, step 0 of a program for MSCCL XML", "memory of gpu 1"),
    ],
    [
      "packets",
      { op: "cpy", sources: [{ ...cell, packet: true }], destinations: [scratch] },
      unexpected("gpu 0, thread block 1, step 0 of a program for MSCCL XML", "memory of gpu 0"),
    ],
    [
      "other operands",
      { op: "cpy", sources: [cell, cell], destinations: [scratch] },
      unexpected("gpu 0, thread block 1, step 0 of a program for MSCCL XML", "cpy"),
    ],
    [
      "a copy that sends",
      { op: "cpy", sources: [cell], destinations: [scratch], sends: true },
      unexpected("gpu 0, thread block 1, step 0 of a program for MSCCL XML", "cpy"),
    ],
    [
      "a sum into a third place",
      { op: "re", sources: [cell, cell], destinations: [scratch] },
      unexpected("gpu 0, thread block 1, step 0 of a program for MSCCL XML", "another destination"),
    ],
    [
      "a wait for a nop",
      { op: "cpy", sources: [cell], destinations: [scratch], waits: [waitFor(0)] },
      unexpected("gpu 0, thread block 1, step 0 of a program for MSCCL XML", 0),
    ],
    [
      "a wait for another gpu",
      { op: "cpy", sources: [cell], destinations: [scratch], waits: [waitFor(2)] },
      unexpected("gpu 0, thread block 1, step 0 of a program for MSCCL XML", 2),
    ],
    [
      "a nop with data",
      { op: "nop", sources: [cell] },
      unexpected("gpu 0, thread block 1, step 0 of a program for MSCCL XML", 1),
    ],
  ])("refuses %s", (_, instruction, message) => {
    expect(writing(instruction)).toThrow(message);
    expect(writing(instruction)).toThrow("gpu 0, thread block 1, step 0");
  });

  it("refuses thread blocks without a number, copies that are no copies, other machines and ranges", () => {
    expect(writing({ op: "cpy", sources: [cell], destinations: [scratch] }, 2)).toThrow(
      unexpected("the thread blocks of gpu 0", 2, 2),
    );
    expect(writing({ op: "cpy", sources: [cell], destinations: [scratch], chunks: 1 }, -1)).toThrow(
      unexpected("gpu 0, copies of a program for MSCCL XML", "cpy"),
    );
    const program = emptyProgram();
    expect(() => written({ ...program, machine: "mscclpp" })).toThrow(unexpected("a program for MSCCL XML", "mscclpp"));
    expect(() => written({ ...program, collective: "custom" })).toThrow(
      refused("unknown-name", "the collective of a program for Azure's MSCCL executor", "custom"),
    );
    expect(() => [...mscclXmlParts(program, { dialect: "azure", minBytes: 3, maxBytes: 2 })]).toThrow(
      unexpected("options.maxBytes", 2, 3),
    );
    expect(() => [...mscclXmlParts(program, { dialect: "azure", maxBytes: 0 })]).toThrow(
      unexpected("options.maxBytes", 0),
    );
    expect(() => [...mscclXmlParts(program, { dialect: "azure", minBytes: 0.5 })]).toThrow(
      unexpected("options.minBytes", 0.5),
    );
  });
});

describe.skipIf(!hasSharedData)("real files", () => {
  const files = sharedFiles("msccl-xml").filter((name) => name.endsWith(".xml"));
  it.each(files)("%s is written as it was read", (name) => {
    const program = readMscclXml(sharedText(`msccl-xml/${name}`), name);
    const text = written(program);
    expect(content(readMscclXml(text, name))).toEqual(content(program));
  });
});
