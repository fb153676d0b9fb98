import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { InputError } from "../../src/base/errors.ts";
import { cacheText, evaluationsOf } from "../../src/cli/files/search-cache.ts";
import { contentTypeOf } from "../../src/cli/serve/site.ts";
import { mscclXmlParts } from "../../src/export/programs/msccl-xml.ts";
import { readCollective } from "../../src/import/collectives/collective.ts";
import { readNcclLog } from "../../src/import/logs/nccl-log.ts";
import { readMeasurements } from "../../src/import/logs/nccl-tests.ts";
import { readTopology } from "../../src/import/networks/network-formats.ts";
import { crc32 } from "../../src/model/files/checksum.ts";
import { parseBandwidth, parseSize, parseTime } from "../../src/model/numbers/units.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { linkClasses } from "../../src/model/topology/link-classes.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { limitViolations } from "../../src/run/programs/programs.ts";
import { EVALUATIONS_VERSION } from "../../src/synthesize/finder/evaluated.ts";
import { readAddress, writeAddress } from "../../src/web/state/address.ts";
import { FIRST_WORDS } from "../../src/web/state/words.ts";
import { sentenceOf } from "../import/support.ts";
import { ringAllGather } from "../support/executable-programs.ts";
import { outOfRange, refusalFrom, unexpected } from "../support/refusals.ts";

/** What fuzzing found, and what was found beside it. */

describe("names that every object has", () => {
  it.each(["valueOf", "constructor", "toString", "hasOwnProperty"])("are no units: %s", (name) => {
    expect(sentenceOf(() => parseSize(`5${name}`))).toBe(
      `--size is "5${name}"; it must be a positive size such as "1GiB", "64MB" or "4096"`,
    );
    expect(sentenceOf(() => parseTime(`5${name}`))).toMatch(/^latency is "5.*; it must be a time such as /);
    expect(sentenceOf(() => parseBandwidth(`5${name}/s`))).toMatch(
      /^bandwidth is "5.*; it must be a positive bandwidth /,
    );
    expect(refusalFrom(() => presetTopology(`ring:4@5${name}`))).toEqual(
      unexpected(`value 1 after "@" in ring:4@5${name}`, `5${name}`),
    );
    expect(
      (refusalFrom(() => readCollective(`0 5${name}\n1 0`, "m.txt", presetTopology("ring:2"))) as InputError).place,
    ).toContain("m.txt line 1");
  });

  it("are no elements that runtimes look up", () => {
    const program = ringAllGather(3);
    const text = [...mscclXmlParts(program, { dialect: "azure" })].join("");
    const more = text.replace("<tb ", '<toString i="0"/><constructor/><tb ');
    expect(more).not.toBe(text);
    expect(limitViolations(program, "azure", more)).toEqual(limitViolations(program, "azure", text));
  });

  it("are no models of GPUs, no kinds of switches and no calls", () => {
    const box = readFileSync(new URL("../fixtures/four-gpus.nccl-topology.xml", import.meta.url), "utf8");
    const untold = sentenceOf(() => readTopology(box.replaceAll(/ sm="\d+"/g, ' sm="unknown"'), "box.xml"));
    const named = sentenceOf(() => readTopology(box.replaceAll(/ sm="\d+"/g, ' sm="constructor"'), "box.xml"));
    expect(named).toBe(untold.replaceAll("unknown", "constructor"));
    const builder = topologyBuilder("named");
    for (const name of ["a", "b"]) builder.addNpu(name);
    builder.addSwitch("constructor");
    for (const npu of [0, 1]) {
      builder.addLink(npu, 2, 1e9, 1);
      builder.addLink(2, npu, 1e9, 1);
    }
    expect(linkClasses(builder.build()).classes.map(({ name }) => name)).toEqual([
      expect.stringContaining("constructor"),
    ]);
    const log =
      "h:1:1 [0] NCCL INFO constructor: opCount 1 sendbuff 0x7 recvbuff 0x7 count 4 datatype 7 op 0 root 0 comm 0x5 [nranks=8] stream 0x1\n";
    expect(readNcclLog(log, "log").calls).toEqual([]);
  });

  it("are no types of files and no words of an address", () => {
    expect(contentTypeOf("page.constructor")).toBe("application/octet-stream");
    const { options, complaints } = readAddress("#constructor&toString");
    expect(options).toEqual({});
    expect(complaints).toEqual(['nothing is called "constructor"', 'nothing is called "toString"']);
  });
});

describe("sentences", () => {
  it("of an address are of one line, whatever stands in it", () => {
    for (const { complaints } of [readAddress("#\n=1"), readAddress("view=a%0Ab"), readAddress("run=%0A")])
      expect(complaints.join("")).toMatch(/^[^\n]+$/);
  });

  it("of a table of nccl-tests list some of its columns", () => {
    const header = `# size count type redop root time algbw busbw ${"#wrong ".repeat(3000)}`;
    const sentence = sentenceOf(() => readMeasurements(`${header}\n 8 2 float sum -1 1 2 3 4\n`, "log.txt"));
    expect(sentence.length).toBeLessThan(400);
    expect(sentence).toMatch(/^log\.txt line 2 has .*; it needs 3008 columns \(size count .* \.\.\.\)/);
  });

  it("of a preset are of one line, whatever stands in it", () => {
    for (const text of ["@\n@", "mesh:4x4@\n50", "ring:\t4"])
      expect(sentenceOf(() => presetTopology(text))).toBe(
        `the topology is ${JSON.stringify(text)}; it must be a preset expression in one line`,
      );
  });

  it("of a preset quote at most 500 characters", () => {
    const long = `r${"e".repeat(600)}:4`;
    expect(refusalFrom(() => presetTopology(long))).toEqual(outOfRange("the topology", long, 500));
    expect(sentenceOf(() => presetTopology(long)).length).toBeLessThan(200);
    expect(sentenceOf(() => presetTopology(`r${"e".repeat(400)}:4`)).length).toBeLessThan(300);
  });
});

describe("half a character", () => {
  it("is written in an address as U+FFFD", () => {
    const words = { ...FIRST_WORDS, topology: "ring:\ud800" };
    expect(readAddress(writeAddress(words, null, false)).topology).toBe("ring:\ufffd");
    expect(readAddress(writeAddress({ ...words, topology: "\u{1f600}" }, null, false)).topology).toBe("\u{1f600}");
  });
});

describe("a cache with the right checksum", () => {
  const cached = (entries: string): string =>
    `banyan networks ${EVALUATIONS_VERSION} ${crc32(new TextEncoder().encode(entries))}\n${entries}\n`;
  const graph = { family: "Pi", parameters: [2, 9], lines: 0, steps: 3, bandwidth: "1" };

  it("is used where its entries are what searches keep", () => {
    const text = cached(JSON.stringify([["Pi 9 2", [graph]]]));
    expect(cacheText(evaluationsOf(text) ?? new Map())).toBe(text);
  });

  it.each([
    "",
    "{",
    "null",
    "[null]",
    '[["Pi 9 2",true]]',
    '[["Pi 9 2",[{}]]]',
    "[[1,[]]]",
    JSON.stringify([["Pi 9 2", [{ ...graph, bandwidth: "1/0" }]]]),
    JSON.stringify([["Pi 9 2", [{ ...graph, parameters: [1e300] }]]]),
    JSON.stringify([["Pi 9 2", [{ ...graph, family: "constructor" }]]]),
  ])("is not used where they are not: %s", (entries) => {
    expect(evaluationsOf(cached(entries))).toBeNull();
  });
});
