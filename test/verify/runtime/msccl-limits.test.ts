import { describe, expect, it } from "vitest";
import { readMscclXml } from "../../../src/import/programs/program.ts";
import { programBuilder } from "../../../src/model/program/program-builder.ts";
import { MSCCL_RUNTIMES, type MscclRuntime } from "../../../src/model/program/runtimes.ts";
import { mscclLimitViolations } from "../../../src/verify/runtime/msccl-limits.ts";
import { header } from "../../support/msccl-programs.ts";
import { file, limitsBroken as found, type Sketch } from "../../support/msccl-sketch.ts";

type Runtime = MscclRuntime["name"];
const RUNTIMES = Object.keys(MSCCL_RUNTIMES) as Runtime[];
const NOP = "type=nop srcoff=-1 dstbuf=o dstoff=-1 cnt=0";
const repeated = (count: number, step: string): string[] => Array.from({ length: count }, () => step);

describe("mscclLimitViolations", () => {
  it.each(RUNTIMES)("finds nothing in a harmless file, for %s", (runtime) => {
    expect(found(file({}), runtime)).toEqual([]);
  });

  it.each<[string, Sketch, Runtime, readonly string[]]>([
    [
      "a collective that a runtime does not have",
      { algo: "coll=custom" },
      "azure",
      [
        "error collective: the collective is custom, but Azure's MSCCL executor has only allreduce, allgather, reducescatter, reduce, broadcast, alltoall, gather, scatter",
      ],
    ],
    [
      "a spelling that a runtime does not know",
      { algo: "coll=reduce_scatter" },
      "rccl",
      ["error collective: the collective is written reduce_scatter, but RCCL calls it reducescatter"],
    ],
    [
      "the other spelling for the other runtime",
      { algo: "coll=reducescatter", gpu: "o_chunks=2" },
      "msccl",
      ["error collective: the collective is written reducescatter, but microsoft/msccl calls it reduce_scatter"],
    ],
    [
      "a root, at which runtimes do not look",
      { algo: "coll=broadcast root=1" },
      "rccl",
      ["warning root: RCCL selects a broadcast whatever its root: this program is for root 1 only"],
    ],
    [
      "calls of no kind",
      { algo: "inplace=0 outofplace=0" },
      "azure",
      [
        "error never-selected: the program is neither for calls in place nor out of place, so Azure's MSCCL executor never selects it",
      ],
    ],
    [
      "calls of both kinds, of which one is looked at",
      { algo: "outofplace=1" },
      "msccl",
      [
        "warning never-selected: microsoft/msccl looks at inplace only: it selects the program for calls in place, not for others",
      ],
    ],
    ["calls of both kinds", { algo: "outofplace=1" }, "azure", []],
    ["a bound of 0 that is no bound", { algo: "maxBytes=0" }, "azure", []],
    [
      "a bound of 0 that is one",
      { algo: "maxBytes=0" },
      "msccl",
      ["error never-selected: microsoft/msccl never selects the program: no size is from 0 to below 0 bytes"],
    ],
    ["a range of one size, its end included", { algo: "minBytes=8 maxBytes=8" }, "rccl", []],
    [
      "a range of one size, its end excluded",
      { algo: "minBytes=8 maxBytes=8" },
      "msccl",
      ["error never-selected: microsoft/msccl never selects the program: no size is from 8 to below 8 bytes"],
    ],
    [
      "a range that ends before it begins",
      { algo: "minBytes=9 maxBytes=8" },
      "rccl",
      ["error never-selected: RCCL never selects the program: no size is from 9 up to 8 bytes"],
    ],
    [
      "a long name",
      { algo: `name=${"n".repeat(64)}` },
      "msccl",
      ["warning name: the name has 64 characters, of which microsoft/msccl keeps 63"],
    ],
    [
      "too many channels",
      { algo: "nchannels=33", blocks: Array.from({ length: 33 }, (_, c) => [`chan=${c}`, ""]) },
      "azure",
      ["error channels: the program has 33 channels, but Azure's MSCCL executor has at most 32"],
    ],
    [
      "as many channels as RCCL has",
      { algo: "nchannels=33", blocks: Array.from({ length: 33 }, (_, c) => [`chan=${c}`, ""]) },
      "rccl",
      [],
    ],
    [
      "channels without thread blocks",
      { algo: "nchannels=3", blocks: [["chan=2", ""]] },
      "azure",
      ["warning channels: nchannels is 3, but thread blocks are on 1 channels only"],
    ],
    [
      "a channel that is not there",
      {
        blocks: [
          ["", ""],
          ["chan=1", ""],
        ],
      },
      "azure",
      ["error channel: gpu 0, thread block 1 (line 6) is on channel 1, but nchannels is 1"],
    ],
    [
      "chunks of the input that are no loop's",
      { gpu: "i_chunks=3" },
      "msccl",
      ["error chunks-per-loop: gpu 0 has i_chunks 3, which is not nchunksperloop (4), as microsoft/msccl demands"],
    ],
    ["the same for others", { gpu: "i_chunks=3" }, "azure", []],
    [
      "an all-gather's share of the loop, twice for two gpus",
      { algo: "coll=allgather nchunksperloop=8", gpu: "o_chunks=8" },
      "msccl",
      [],
    ],
    [
      "an all-gather's share of the loop, thrice",
      { algo: "coll=allgather nchunksperloop=8", gpu: "i_chunks=3 o_chunks=4" },
      "msccl",
      [
        "error chunks-per-loop: gpu 0 has i_chunks 3, which, times 2 gpus, is not nchunksperloop (8), as microsoft/msccl demands",
        "error chunks-per-loop: gpu 0 has o_chunks 4, which is not nchunksperloop (8), as microsoft/msccl demands",
      ],
    ],
    ["64 thread blocks", { blocks: Array.from({ length: 64 }, () => ["", ""]) }, "rccl", []],
    [
      "65 thread blocks",
      { blocks: Array.from({ length: 65 }, () => ["", ""]) },
      "rccl",
      ["error blocks: gpu 0 has 65 thread blocks, but RCCL takes at most 64"],
    ],
    [
      "more thread blocks than an A100 runs at once",
      { blocks: Array.from({ length: 109 }, () => ["", ""]) },
      "azure",
      ["warning blocks: gpu 0 has 109 thread blocks, which must all run at once: an A100 runs 108"],
    ],
    [
      "threads that are no warps",
      { algo: "nthreads=100" },
      "msccl",
      ["error threads: nthreads is 100, but microsoft/msccl demands a multiple of 32"],
    ],
    ["threads that are warps", { algo: "nthreads=96" }, "msccl", []],
    ["threads elsewhere", { algo: "nthreads=100" }, "rccl", []],
    ["65 thread blocks elsewhere", { blocks: Array.from({ length: 65 }, () => ["", ""]) }, "azure", []],
    ["64 steps", { blocks: [["", ...repeated(64, "")]] }, "azure", []],
    [
      "65 steps",
      { blocks: [["", ...repeated(65, "")]] },
      "azure",
      ["error steps: gpu 0, thread block 0 (line 3) has 65 steps, but Azure's MSCCL executor takes at most 64"],
    ],
    ["65 steps elsewhere", { blocks: [["", ...repeated(65, "")]] }, "msccl", []],
    [
      "more nodes than the parser keeps",
      { blocks: Array.from({ length: 16 }, () => ["", ...repeated(255, "")]) },
      "msccl",
      ["error nodes: gpu 0 needs 4099 nodes of the parser of microsoft/msccl, which has room for 4095"],
    ],
    [
      "fused steps, which stock RCCL has not",
      { blocks: [["send=1 recv=1", "type=rrs"]] },
      "rccl",
      ["error op: gpu 0, thread block 0, step 0 (line 4) is rrs, but RCCL runs only nop, s, r, cpy, re"],
    ],
    ["71 chunks", { blocks: [["", "cnt=71"]] }, "azure", []],
    [
      "72 chunks and none",
      { blocks: [["", "cnt=72", "cnt=0"]] },
      "azure",
      [
        "error chunks: gpu 0, thread block 0, step 0 (line 4) moves 72 chunks, but Azure's MSCCL executor takes 1 to 71",
        "error chunks: gpu 0, thread block 0, step 1 (line 5) moves 0 chunks, but Azure's MSCCL executor takes 1 to 71",
      ],
    ],
    [
      "a chunk beyond 16 bits",
      { blocks: [["", "srcoff=32768", "dstoff=32767"]] },
      "msccl",
      [
        "error index: gpu 0, thread block 0, step 0 (line 4) names chunk 32768, but microsoft/msccl holds numbers up to 32767 only",
      ],
    ],
    [
      "a wait for thread block 128",
      {
        blocks: [...Array.from({ length: 129 }, () => ["", "hasdep=1"]), ["", "depid=127 deps=0", "depid=128 deps=0"]],
      },
      "azure",
      [
        "warning blocks: gpu 0 has 130 thread blocks, which must all run at once: an A100 runs 108",
        "error awaited-block: gpu 0, thread block 129, step 1 (line 392) waits for thread block 128, but Azure's MSCCL executor can wait for 0 to 127 only",
      ],
    ],
    [
      "a wait for what does not publish",
      {
        blocks: [
          ["", "", "hasdep=1", ""],
          ["", "depid=0 deps=0", "depid=0 deps=2"],
        ],
      },
      "rccl",
      [
        "warning hasdep: gpu 0, thread block 1, step 0 (line 9) waits for step 0 of thread block 0, which has no hasdep: it waits for a later one",
        "error hasdep: gpu 0, thread block 1, step 1 (line 10) waits for step 2 of thread block 0, which has no hasdep, nor has a later one: it waits for ever",
      ],
    ],
    [
      "a wait for a nop",
      {
        blocks: [
          ["", "hasdep=1"],
          ["", `${NOP} depid=0 deps=0 hasdep=1`, "depid=0 deps=0"],
          ["", "depid=1 deps=0"],
        ],
      },
      "azure",
      [
        "error awaited-nop: gpu 0, thread block 2, step 0 (line 11) waits for step 0 of thread block 1, a nop, which Azure's MSCCL executor does not run",
      ],
    ],
    [
      "a chain of nops before the step that waits",
      {
        blocks: [
          ["", "hasdep=1"],
          ["", `${NOP} depid=0 deps=0`, `${NOP} depid=0 deps=0`, "depid=0 deps=0"],
        ],
      },
      "azure",
      [],
    ],
    [
      "a nop before a step without a dependency",
      {
        blocks: [
          ["", "hasdep=1"],
          ["", `${NOP} depid=0 deps=0`, ""],
        ],
      },
      "azure",
      [
        "warning step-number: gpu 0, thread block 1 (line 6) calls a step 1 that Azure's MSCCL executor counts as 0",
        "error nop-placement: gpu 0, thread block 1, step 1 (line 8) follows a nop with a dependency and has none itself, but Azure's MSCCL executor demands one",
      ],
    ],
    [
      "a nop at the end",
      {
        blocks: [
          ["", "hasdep=1"],
          ["", "", `${NOP} depid=0 deps=0`],
        ],
      },
      "azure",
      [
        "warning nop-placement: gpu 0, thread block 1, step 1 (line 8) is a nop with no step behind it, which Azure's MSCCL executor ignores",
      ],
    ],
    [
      "an idle nop, which shifts the numbers of those behind it",
      {
        blocks: [
          ["", NOP, "hasdep=1"],
          ["", "depid=0 deps=1"],
        ],
      },
      "azure",
      [
        "error step-number: gpu 0, thread block 0 (line 3) calls a step 1 that Azure's MSCCL executor counts as 0, so others wait for another step",
        "warning nop-placement: gpu 0, thread block 0, step 0 (line 4) is a nop without a dependency, which Azure's MSCCL executor does not count as a step",
      ],
    ],
    [
      "an idle nop before steps that wait for each other in one thread block",
      { blocks: [["", NOP, "hasdep=1", "depid=0 deps=1"]] },
      "azure",
      [
        "error step-number: gpu 0, thread block 0 (line 3) calls a step 1 that Azure's MSCCL executor counts as 0, so others wait for another step",
        "warning nop-placement: gpu 0, thread block 0, step 0 (line 4) is a nop without a dependency, which Azure's MSCCL executor does not count as a step",
      ],
    ],
    [
      "a gap in the numbers",
      { blocks: [["", "", "s=5"]] },
      "azure",
      ["warning step-number: gpu 0, thread block 0 (line 3) calls a step 5 that Azure's MSCCL executor counts as 1"],
    ],
    [
      "a number beyond the steps that there are",
      { blocks: [["", "s=64"]] },
      "rccl",
      [
        "error steps: gpu 0, thread block 0 (line 3) has 65 steps, but RCCL takes at most 64",
        "warning step-number: gpu 0, thread block 0 (line 3) calls a step 64 that RCCL counts as 0",
      ],
    ],
    [
      "steps out of order",
      { blocks: [["", "s=1", "s=0"]] },
      "azure",
      [
        "error step-order: gpu 0, thread block 0 (line 3) does not list its steps in ascending order, but Azure's MSCCL executor runs them as listed",
        "warning step-number: gpu 0, thread block 0 (line 3) calls a step 1 that Azure's MSCCL executor counts as 0",
      ],
    ],
    [
      "connections without a peer",
      {
        blocks: [
          ["recv=1", "type=s"],
          ["send=1", "type=r"],
        ],
      },
      "rccl",
      [
        'error peer: gpu 0, thread block 0, step 0 (line 4) sends, but its thread block has send="-1"',
        'error peer: gpu 0, thread block 1, step 0 (line 7) receives, but its thread block has recv="-1"',
      ],
    ],
    [
      "a connection of two thread blocks",
      {
        blocks: [
          ["send=1 recv=1", "type=s", "type=r"],
          ["send=1", "type=s"],
          ["recv=1", "type=r"],
          ["send=1", ""],
        ],
      },
      "rccl",
      [
        "error connection: gpu 0, thread block 1 (line 7) has channel 0 and send peer 1 like thread block 0, but a connection belongs to one thread block",
        "error connection: gpu 0, thread block 2 (line 10) has channel 0 and recv peer 1 like thread block 0, but a connection belongs to one thread block",
      ],
    ],
    [
      "33 thread blocks with a peer on a channel",
      { blocks: Array.from({ length: 34 }, () => ["send=1", ""]) },
      "azure",
      [
        "error peers-per-channel: gpu 0, thread block 32 (line 99) makes 33 with a send peer on channel 0, but Azure's MSCCL executor takes at most 32",
      ],
    ],
    [
      "copies that runtimes skip",
      { before: '<copy i_off="0" o_off="0"/>', algo: "inplace=0 outofplace=1" },
      "azure",
      ["error copies: gpu 0 lists copies outside of thread blocks (line 2), which Azure's MSCCL executor skips"],
    ],
    [
      "copies from a chunk to itself",
      { before: '<copy i_off="3" o_off="3"/>' },
      "azure",
      [
        "warning copies: gpu 0 lists copies outside of thread blocks (line 2), which Azure's MSCCL executor skips; in place they copy nothing",
      ],
    ],
    [
      "copies from a chunk to another",
      { before: '<copy i_off="3" o_off="2"/>' },
      "azure",
      ["error copies: gpu 0 lists copies outside of thread blocks (line 2), which Azure's MSCCL executor skips"],
    ],
  ])("reports %s", (_, sketch, runtime, expected) => {
    expect(found(file(sketch), runtime)).toEqual(expected);
  });

  it("tells rank, block, instruction and line", () => {
    const text = file({
      blocks: [
        ["", ""],
        ["", "", "cnt=99"],
      ],
    });
    expect(mscclLimitViolations(readMscclXml(text, "f"), "azure", text)).toEqual([
      expect.objectContaining({ kind: "chunks", severity: "error", rank: 0, block: 1, instruction: 2, line: 8 }),
    ]);
  });

  it("reports more gpus than the parser has room for", () => {
    const b = programBuilder();
    for (let rank = 0; rank < 1025; rank++) b.addRank();
    expect(mscclLimitViolations(b.build(header(1025)), "azure", null)).toContainEqual({
      kind: "children",
      severity: "error",
      message: "<algo> has 1025 gpus, but the parser of Azure's MSCCL executor has room for 1024",
    });
  });

  it("keeps a hundred of a kind", () => {
    const text = file({
      blocks: [
        ["", ...repeated(60, "cnt=0")],
        ["", ...repeated(60, "cnt=0")],
      ],
    });
    expect(found(text, "msccl")).toHaveLength(100);
  });

  it("has nothing to say of a program for another machine but that", () => {
    const b = programBuilder();
    b.addRank();
    const program = { ...b.build(header(1)), machine: "mscclpp" as const };
    expect(mscclLimitViolations(program, "rccl", null)).toEqual([
      { kind: "machine", severity: "error", message: "the program is for mscclpp, but RCCL runs MSCCL programs" },
    ]);
  });
});
