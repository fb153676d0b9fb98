import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { mscclXmlParts } from "../../src/export/programs/msccl-xml.ts";
import { readMscclXml } from "../../src/import/programs/program.ts";
import { programBuilder } from "../../src/model/program/program-builder.ts";
import type { MscclRuntime } from "../../src/model/program/runtimes.ts";
import { mscclLimitViolations } from "../../src/verify/runtime/msccl-limits.ts";
import { header, waitFor } from "../support/msccl-programs.ts";
import { file, limitsBroken as found } from "../support/msccl-sketch.ts";
import { hasSharedData, sharedFiles, sharedText } from "../support/shared-data.ts";

type Runtime = MscclRuntime["name"];
const fixture = (name: string): string => readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8");

describe("reductions in a row", () => {
  const re = (from: number, more = ""): string => `type=re srcbuf=s srcoff=${from} dstoff=0 ${more}`;
  const row = (count: number, more = ""): string[] => Array.from({ length: count }, (_, i) => re(i, more));
  const kinds = (steps: readonly string[]): string[] =>
    found(
      file({
        gpu: "s_chunks=99",
        blocks: [
          ["", ...steps],
          ["", "hasdep=1"],
        ],
      }),
      "azure",
    );

  it("are cut by the parser after the sixteenth of a block, so forty in a row overflow", () => {
    expect(kinds(row(16))).toEqual([]);
    expect(kinds(row(32))).toEqual([]);
    expect(kinds(row(33))).toEqual([
      "error fused: gpu 0, thread block 0, step 32 (line 36) is the 17th reduction in a row into one chunk, but Azure's MSCCL executor has room for 16",
    ]);
  });

  it.each([
    ["another chunk", ["dstoff=1"]],
    ["another buffer", ["srcbuf=i"]],
    ["a wait", ["depid=1 deps=0"]],
    ["another type", ["type=cpy"]],
  ])("end with %s", (_, [change = ""]) => {
    const both = (cut: string): string[] => [...row(16), ...row(16), re(0, cut), ...row(15)];
    expect(kinds(both(""))).toHaveLength(1);
    expect(kinds(both(change))).toEqual([]);
  });

  it("end after one that others wait for", () => {
    expect(kinds([...row(31), re(0, "hasdep=1"), ...row(16)])).toEqual([]);
  });

  it("must be of as many chunks", () => {
    expect(kinds([re(0, "cnt=2"), re(2, "cnt=1")])).toEqual([
      "error fused: gpu 0, thread block 0, step 1 (line 5) is of 1 chunks, but Azure's MSCCL executor makes it one with step 0, which is of 2",
    ]);
    expect(kinds([re(0, "cnt=2 hasdep=1"), re(2, "cnt=1")])).toEqual([]);
  });
});

describe("programs that are no files yet", () => {
  it("are counted as they will be written: waits beyond the first are steps, nops are none", () => {
    const b = programBuilder();
    b.addRank();
    b.addBlock({ id: 0 });
    const cell = (index: number) => [{ rank: 0, buffer: 2, index }];
    const copy = (waits: number) =>
      b.add({
        op: "cpy",
        chunks: 1,
        publishes: true,
        sources: cell(0),
        destinations: cell(1),
        waits: Array.from({ length: waits }, () => waitFor(0)),
      });
    copy(0);
    b.addBlock({ id: 1 });
    b.add({ op: "nop" });
    for (let i = 0; i < 32; i++) copy(2);
    const exact = b.build({ ...header(1), channelCount: 1 });
    expect(mscclLimitViolations(exact, "rccl", null)).toEqual([]);
    const text = [...mscclXmlParts(exact, { dialect: "rccl" })].join("");
    expect(mscclLimitViolations(exact, "rccl", text)).toEqual([]);
    expect(found(text, "rccl")).toEqual([]);
    copy(1);
    const more = b.build({ ...header(1), channelCount: 1 });
    expect(mscclLimitViolations(more, "rccl", null).map(({ message }) => message)).toEqual([
      "gpu 0, thread block 1 has 65 steps, but RCCL takes at most 64",
    ]);
    const long = { ...exact, name: "é".repeat(128) };
    expect(mscclLimitViolations(long, "rccl", null).map(({ kind }) => kind)).toEqual(["value-length"]);
  });
});

describe("fixtures", () => {
  it.each<[string, Runtime, readonly string[]]>([
    ["azure-scratch.xml", "azure", []],
    ["azure-scratch.xml", "rccl", []],
    ["azure-scratch.xml", "msccl", ["never-selected", "never-selected"]],
    ["sccl-copies.xml", "msccl", ["range", "copies", "copies"]],
    ["sccl-copies.xml", "azure", ["missing-attribute", "copies", "copies"]],
    ["msccl-fused.xml", "msccl", ["range"]],
    ["msccl-fused.xml", "azure", ["missing-attribute", "collective"]],
    ["msccl-fused.xml", "rccl", ["missing-attribute", "collective", "op", "op", "op", "op", "op", "op"]],
  ])("%s breaks for %s: %j", (name, runtime, kinds) => {
    const text = fixture(name);
    expect(mscclLimitViolations(readMscclXml(text, name), runtime, text).map(({ kind }) => kind)).toEqual(kinds);
  });
});

describe.skipIf(!hasSharedData)("real files", () => {
  const errors = (name: string, runtime: Runtime): string[] => {
    const text = sharedText(`msccl-xml/${name}`);
    const broken = mscclLimitViolations(readMscclXml(text, name), runtime, text).filter(
      ({ severity }) => severity === "error",
    );
    return [...new Set(broken.map(({ kind }) => kind))];
  };
  const names = (start: RegExp): string[] =>
    sharedFiles("msccl-xml").filter((name) => name.endsWith(".xml") && start.test(name));

  it.each(names(/^(azure|rccl)/))("%s, which is deployed with Azure or RCCL, keeps Azure's limits", (name) => {
    expect(errors(name, "azure")).toEqual([]);
  });
  it.each(names(/^rccl-al/))("%s, which is deployed with RCCL, keeps RCCL's", (name) => {
    expect(errors(name, "rccl")).toEqual([]);
  });
  it.each(names(/^forestcoll-all/))("%s keeps the limits of microsoft/msccl and Azure", (name) => {
    expect([...errors(name, "msccl"), ...errors(name, "azure")]).toEqual([]);
  });
  it.each(names(/^(mscclang|sccl|astra)/))(
    "%s keeps those of microsoft/msccl, and misses attributes that Azure needs",
    (name) => {
      expect(errors(name, "msccl")).toEqual([]);
      expect(errors(name, "azure")).toEqual(["missing-attribute"]);
    },
  );
  it.each(names(/^taccl-All?toall/i))("%s lists copies that no runtime makes", (name) => {
    expect(errors(name, "msccl")).toEqual(["copies"]);
  });
});
