import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { looksLikeMscclXml, readMscclXml } from "../../../src/import/programs/program.ts";
import { blockCount, instructionCount, OPS, type Program } from "../../../src/model/program/program.ts";
import { anyTextChange, changedText } from "../../support/changed-text.ts";
import { missing, type Refusal, refusalFrom, refused, unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";
import { hasSharedData, sharedFiles, sharedText } from "../../support/shared-data.ts";
import { ONE_SENTENCE } from "../support.ts";

const fixture = (name: string): string => readFileSync(new URL(`../../fixtures/${name}`, import.meta.url), "utf8");
const copies = fixture("sccl-copies.xml");
const scratch = fixture("azure-scratch.xml");
const fused = fixture("msccl-fused.xml");

const opsOf = (program: Program): string[] => Array.from(program.op, (op) => OPS[op] as string);
const operandsOf = (program: Program, i: number): string[] => {
  const texts: string[] = [];
  for (let o = program.operandOffset[i]; o < program.operandOffset[i + 1]; o++) {
    texts.push(`${program.operandRank[o]}${"ios"[program.operandBuffer[o]]}${program.operandIndex[o]}`);
  }
  texts.splice(program.sourceCount[i], 0, ">");
  return texts;
};

describe("readMscclXml", () => {
  it("reads the scratch dialect: ids in any order, C's numbers, nops with their waits, reductions", () => {
    const program = readMscclXml(scratch, "scratch.xml");
    expect(program).toMatchObject({
      name: "pair_scratch",
      machine: "msccl",
      collective: "allreduce",
      protocol: "LL",
      rankCount: 2,
      rootRank: 0,
      inPlace: true,
      outOfPlace: true,
      minBytes: 64,
      maxBytes: 0,
      loopChunks: 2,
      finer: 1,
      channelCount: 2,
      inputChunks: Int32Array.of(2, 2),
      outputChunks: Int32Array.of(0, 0),
      scratchChunks: Int32Array.of(2, 2),
      blockOffset: Int32Array.of(0, 3, 6),
      blockId: Int32Array.of(0, 1, 2, 0, 1, 2),
      sendPeer: Int32Array.of(1, -1, -1, 0, -1, -1),
      recvPeer: Int32Array.of(-1, 1, -1, -1, 0, -1),
      channel: Int32Array.of(1, 0, 0, 0, 1, 0),
      instructionOffset: Int32Array.of(0, 1, 2, 4, 5, 6, 8),
      chunks: Int32Array.of(2, 2, 0, 2, 2, 2, 0, 2),
      publishes: Uint8Array.of(1, 1, 0, 0, 1, 1, 0, 0),
      receives: Uint8Array.of(0, 1, 0, 0, 0, 1, 0, 0),
      sends: Uint8Array.of(1, 0, 0, 0, 1, 0, 0, 0),
      step: Int32Array.of(0, 0, 0, 1, 0, 0, 0, 1),
      waitOffset: Int32Array.of(0, 0, 0, 1, 2, 2, 2, 3, 4),
      waitOn: Int32Array.of(0, 1, 4, 5),
      waitKind: new Uint8Array(4),
    });
    expect(opsOf(program)).toEqual(["s", "r", "nop", "re", "s", "r", "nop", "re"]);
    expect(operandsOf(program, 3)).toEqual(["0i0", "0s0", ">", "0i0"]);
    expect(operandsOf(program, 5)).toEqual([">", "1s0"]);
    expect(program.line[4]).toBe(9);
    expect(program.blockLine[3]).toBe(8);
  });

  it("reads copies beside thread blocks as a block -1, and an absent outofplace as the opposite of inplace", () => {
    const program = readMscclXml(copies, "copies.xml");
    expect(program).toMatchObject({ inPlace: false, outOfPlace: true, minBytes: null, maxBytes: null });
    expect(Array.from(program.blockId)).toEqual([-1, 0, -1, 0]);
    expect(opsOf(program)).toEqual(["cpy", "s", "r", "cpy", "s", "r"]);
    expect(operandsOf(program, 3)).toEqual(["1i0", ">", "1o1"]);
    expect(program.line[3]).toBe(11);
  });

  it("reads fused steps: what they receive, read, write and send", () => {
    const program = readMscclXml(fused, "fused.xml");
    expect(program).toMatchObject({ collective: "reducescatter", inPlace: true, outOfPlace: false });
    const all = fused
      .replace('"rrs"', '"rrcs"')
      .replace('"rrs"', '"rcs"')
      .replace('<step s="0" type="s"', '<step s="0" type="cpy"');
    const shapes = (found: Program): string[] =>
      Array.from(
        found.op,
        (op, i) => `${OPS[op]} ${found.receives[i]}${found.sends[i]} ${operandsOf(found, i).join("")}`,
      );
    expect(shapes(program).slice(0, 3)).toEqual(["s 01 0i2>", "rrs 11 0i1>", "rrc 10 0i0>0i0"]);
    expect(shapes(readMscclXml(all, "all.xml")).slice(0, 5)).toEqual([
      "cpy 00 0i2>0i2",
      "rrcs 11 0i1>0i1",
      "rrc 10 0i0>0i0",
      "s 01 1i0>",
      "rcs 11 >1i2",
    ]);
  });

  it("skips what it does not know, reads a root, and takes bounds beyond exact integers for none", () => {
    const text = fused
      .replace('inplace="1"', 'inplace="1" root="2" flavour="x" maxBytes="0x7fffffffffffffff" minBytes="010"')
      .replace('<gpu id="1"', '<note><deep/></note><gpu id="1"');
    expect(readMscclXml(text, "x")).toMatchObject({ rootRank: 2, minBytes: 8, maxBytes: Number.MAX_SAFE_INTEGER });
  });

  it("counts sizes and chunks of gather and scatter for all ranks, as nccl-tests do", () => {
    for (const collective of ["gather", "scatter"]) {
      const text = scratch.replace("allreduce", collective).replace('maxBytes="0"', 'maxBytes="100"');
      expect(readMscclXml(text, "x")).toMatchObject({ collective, loopChunks: 4, minBytes: 128, maxBytes: 200 });
    }
  });

  it("waits for the step with the number, not the place, and holds what a runtime would refuse", () => {
    const text = scratch
      .replace('<step s="0" type="s"', '<step s="700" type="s"')
      .replace('depid="0" deps="0"', 'depid="0" deps="700"')
      .replaceAll('cnt="2"', 'cnt="5000"');
    const program = readMscclXml(text, "x");
    expect(program.step[4]).toBe(700);
    expect(program.waitOn[2]).toBe(4);
    expect(program.chunks[0]).toBe(5000);
  });

  it.each<[string, string, string, string, Refusal]>([
    [
      "a type",
      scratch,
      'type="re"',
      'type="ra"',
      refused("unknown-name", "attribute type of <step> at f.xml line 13", "ra"),
    ],
    [
      "a collective",
      fused,
      "reduce_scatter",
      "ring",
      refused("unknown-name", "attribute coll of <algo> at f.xml line 1", "ring"),
    ],
    [
      "a protocol",
      fused,
      "Simple",
      "LL256",
      refused("unknown-name", "attribute proto of <algo> at f.xml line 1", "LL256"),
    ],
    [
      "a buffer",
      fused,
      'srcbuf="i"',
      'srcbuf="x"',
      refused("unknown-name", "attribute srcbuf of <step> at f.xml line 4", "x"),
    ],
    ["a missing attribute", fused, ' hasdep="0"', "", missing("attribute hasdep of <step> at f.xml line 4")],
    ["a missing inplace", fused, ' inplace="1"', "", missing("attribute inplace of <algo> at f.xml line 1")],
    [
      "fewer gpus than told",
      fused,
      'ngpus="3"',
      'ngpus="4"',
      unexpected("attribute ngpus of <algo> at f.xml line 1", 4, 3),
    ],
    ["a rank twice", fused, '<gpu id="1"', '<gpu id="0"', unexpected("attribute id of <gpu> at f.xml line 9", 0, 2)],
    [
      "a rank too many",
      fused,
      '<gpu id="1"',
      '<gpu id="3"',
      unexpected("attribute id of <gpu> at f.xml line 9", "3", 2),
    ],
    [
      "a thread block twice",
      scratch,
      '<tb id="2"',
      '<tb id="1"',
      unexpected("attribute id of <tb> at f.xml line 11", 1, 5),
    ],
    [
      "a gap in thread blocks",
      scratch,
      '<tb id="2"',
      '<tb id="3"',
      unexpected("attribute id of <tb> at f.xml line 11", "3", 2),
    ],
    ["a step twice", fused, '<step s="1"', '<step s="0"', unexpected("attribute s of <step> at f.xml line 5", 0, 4)],
    [
      "an unknown thread block",
      scratch,
      'depid="0"',
      'depid="3"',
      unexpected("attribute depid of <step> at f.xml line 12", 3, 2),
    ],
    ["an unknown step", scratch, 'deps="0"', 'deps="1"', unexpected("attribute deps of <step> at f.xml line 12", 1)],
    [
      "a wait for itself",
      scratch,
      'depid="1" deps="0"',
      'depid="2" deps="1"',
      unexpected("attribute deps of <step> at f.xml line 13", 1),
    ],
    [
      "a peer that is not there",
      fused,
      'send="1"',
      'send="3"',
      unexpected("attribute send of <tb> at f.xml line 3", "3", 2),
    ],
    ["a peer that is itself", fused, 'recv="2"', 'recv="0"', unexpected("attribute recv of <tb> at f.xml line 3", 0)],
    [
      "a number that C reads otherwise",
      fused,
      'cnt="1"',
      'cnt="08"',
      unexpected("attribute cnt of <step> at f.xml line 4", "08"),
    ],
    [
      "no chunks",
      fused,
      'nchunksperloop="3"',
      'nchunksperloop="0"',
      unexpected("attribute nchunksperloop of <algo> at f.xml line 1", "0"),
    ],
    ["a flag", fused, 'hasdep="0"', 'hasdep="2"', unexpected("attribute hasdep of <step> at f.xml line 4", "2")],
  ])("refuses %s, with the line", (_, text, find, put, sentence) => {
    expect(refusalFrom(() => readMscclXml(text.replace(find, put), "f.xml"))).toEqual(sentence);
  });

  it("refuses other XML, no XML, and the expansion of entities", () => {
    expect(refusalFrom(() => readMscclXml("<system/>", "f.xml"))).toEqual(
      unexpected("the root element at f.xml line 1", "<system>"),
    );
    expect(refusalFrom(() => readMscclXml("GPU0 GPU1", "f.xml"))).toEqual(
      unexpected("f.xml line 1", "text data outside of root node"),
    );
    expect(refusalFrom(() => readMscclXml('<!DOCTYPE a [<!ENTITY b "c">]><algo/>', "f.xml"))).toEqual(
      unexpected("f.xml line 1", "<!DOCTYPE"),
    );
    expect(refusalFrom(() => readMscclXml(`<algo>${"<a>".repeat(1e5)}`, "f.xml"))).toEqual(
      unexpected("f.xml line 1", "a", 64),
    );
    expect(refusalFrom(() => readMscclXml(fused.slice(0, -20), "f.xml"))).toEqual(
      unexpected("f.xml line 21", "unclosed tag: tb"),
    );
  });

  it("takes no memory for what a file only claims", () => {
    const claims = fused
      .replace('nchunksperloop="3"', 'nchunksperloop="2147483647"')
      .replace('nchannels="1"', 'nchannels="2147483647"')
      .replaceAll('i_chunks="3"', 'i_chunks="2147483647"')
      .replaceAll('cnt="1"', 'cnt="2147483647"');
    expect(instructionCount(readMscclXml(claims, "x"))).toBe(9);
    expect(refusalFrom(() => readMscclXml(fused.replace('ngpus="3"', 'ngpus="1000000"'), "x"))).toEqual(
      unexpected("attribute ngpus of <algo> at x line 1", 1000000, 3),
    );
  });

  it("reads a damaged file or says in one sentence why not", () => {
    const oddities = fc.constantFrom("<", "/>", "&", "&#0;", "-2", "4294967296", '" "', '<gpu id="0"/>', "\u0000");
    fc.assert(
      fc.property(
        fc.constantFrom(copies, scratch, fused),
        fc.array(anyTextChange(oddities), { minLength: 1, maxLength: 3 }),
        (text, changes) => {
          const damaged = changes.reduce((sum, change) => changedText(sum, change, null), text);
          try {
            const program = readMscclXml(damaged, "f.xml");
            expect(program.instructionOffset[blockCount(program)]).toBe(instructionCount(program));
          } catch (error) {
            expect(error).toBeInstanceOf(InputError);
            expect((error as InputError).place).toContain("f.xml");
            expect((error as InputError).message).toMatch(ONE_SENTENCE);
          }
        },
      ),
      { numRuns: runs(500) },
    );
  });
});

describe("looksLikeMscclXml", () => {
  it.each([
    ["<algo>", true],
    ["<algo/>", true],
    ['\ufeff<?xml version="1.0"?>\n<!-- a --><!-- <b> -->\n\t<algo name="x">', true],
    ["<algorithm>", false],
    ["<trees>", false],
    ["<!-- <algo> ", false],
    ["<?xml <algo>", false],
    ["", false],
    ["{}", false],
  ])("of %j is %s", (text, answer) => {
    expect(looksLikeMscclXml(text)).toBe(answer);
  });

  it("looks at each character of a long text once", () => {
    expect(looksLikeMscclXml("<!-- -->".repeat(200_000))).toBe(false);
  });
});

describe.skipIf(!hasSharedData)("real files", () => {
  interface Listed {
    readonly file: string;
    readonly ngpus: number;
    readonly nchunksperloop: number;
    readonly steps: number;
    readonly tbs: number;
    readonly ops: Readonly<Record<string, number>>;
  }
  const listed: readonly Listed[] = hasSharedData ? JSON.parse(sharedText("msccl-xml/MANIFEST.json")) : [];
  it.each(listed.map((entry) => [entry.file, entry] as const))(
    "%s has the blocks and steps of its manifest",
    (file, entry) => {
      const program = readMscclXml(sharedText(`msccl-xml/${file}`), file);
      const inBlocks = program.blockId.filter((id) => id >= 0).length;
      const outside = Array.from(program.blockId).flatMap((id, b) =>
        id < 0 ? [program.instructionOffset[b + 1] - program.instructionOffset[b]] : [],
      );
      const copied = outside.reduce((sum, many) => sum + many, 0);
      expect(program).toMatchObject({ rankCount: entry.ngpus, loopChunks: entry.nchunksperloop });
      expect(inBlocks).toBe(entry.tbs);
      expect(instructionCount(program) - copied).toBe(entry.steps);
      const counts = new Map<string, number>();
      for (const op of opsOf(program)) counts.set(op, (counts.get(op) ?? 0) + 1);
      if (copied > 0) counts.set("cpy", (counts.get("cpy") ?? 0) - copied);
      expect(Object.fromEntries([...counts].filter(([, many]) => many > 0))).toEqual(entry.ops);
    },
  );

  it("those of deployed systems have the steps of their list", () => {
    const rows = hasSharedData ? sharedText("msccl-xml/MANIFEST-deployed.tsv").trim().split("\n").slice(1) : [];
    const found = sharedFiles("msccl-xml");
    let seen = 0;
    for (const row of rows) {
      const cells = row.split("\t");
      const [file = "", , , , , collective, ranks] = cells;
      const name = found.find(
        (candidate) =>
          candidate === `${file.replace("azure-scheduler", "azure").replace("astra-sim", "astra").replace("/", "-")}`,
      );
      if (name === undefined) continue;
      seen++;
      const program = readMscclXml(sharedText(`msccl-xml/${name}`), name);
      expect(program).toMatchObject({ collective, rankCount: Number(ranks) });
      for (const count of cells.at(-2)?.split(" ") ?? []) {
        const [op, many] = count.split(":");
        expect(opsOf(program).filter((other) => other === op).length, `${name} ${op}`).toBe(Number(many));
      }
    }
    expect(seen).toBe(rows.length);
  });
});

describe("what runtimes pass over in an MSCCL XML", () => {
  const lineOf = (text: string, part: string): number => text.slice(0, text.indexOf(part)).split("\n").length;

  it("is told with its line and what may have been meant, and nothing of the files of others is", () => {
    for (const text of [copies, scratch, fused]) expect(readMscclXml(text, "known.xml").skipped).toBeUndefined();
    const odd = scratch
      .replace(/<gpu /, "<note/>\n<gpu ")
      .replace(/(<tb [^>]*>)/, "$1<stepp/>")
      .replace(/minBytes=/, "minbytes=");
    expect(readMscclXml(odd, "odd.xml").skipped).toEqual([
      { kind: "attribute", name: "minbytes", parent: "algo", line: lineOf(odd, "<algo"), meant: "minBytes" },
      { kind: "element", name: "note", parent: "algo", line: lineOf(odd, "<note"), meant: null },
      { kind: "element", name: "stepp", parent: "tb", line: lineOf(odd, "<stepp"), meant: "step" },
    ]);
  });

  it("is named where a file cannot be read without it", () => {
    const text = scratch.replace(/<gpu /, "<gup ").replace("</gpu>", "</gup>");
    expect(refusalFrom(() => readMscclXml(text, "gup.xml"))).toEqual(
      unexpected("attribute ngpus of <algo> at gup.xml line 3", 2),
    );
  });
});
