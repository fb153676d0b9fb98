import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readCollectiveJson } from "../../../src/import/collectives/collective.ts";
import { readTopology } from "../../../src/import/networks/network-formats.ts";
import type { Collective } from "../../../src/model/collective/collective.ts";
import { format } from "../../../src/model/numbers/rational.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { sentenceOf } from "../support.ts";

const builder = topologyBuilder("t");
for (const name of ["a", "b", "c"]) builder.addNpu(name);
builder.addSwitch("sw");
const topology = builder.build();
const file = (fields: object): string =>
  JSON.stringify({
    format: "banyan-collective",
    version: 1,
    chunkBytes: 4096,
    chunks: [{ pre: ["a"], post: ["b"] }],
    ...fields,
  });
const read = (fields: object): Collective => readCollectiveJson(file(fields), "c.json", topology);

describe("readCollectiveJson", () => {
  it("reads single NPUs as `one`", () => {
    expect(
      read({
        chunks: [
          { pre: ["c"], post: [0] },
          { pre: [1], post: ["b"] },
        ],
      }),
    ).toEqual({
      kind: "custom",
      groupCount: 1,
      groupSize: 3,
      groupMembers: Int32Array.of(0, 1, 2),
      rootRank: 0,
      sizeBytes: 8192,
      chunksPerNpu: 1,
      chunkCount: 2,
      chunkBytes: { num: 4096n, den: 1n },
      reduces: false,
      pre: { kind: "one", npu: Int32Array.of(2, 1) },
      post: { kind: "one", npu: Int32Array.of(0, 1) },
    });
  });

  it("reads several NPUs as ascending `sets`", () => {
    const { pre, post, reduces } = read({
      reduces: true,
      chunks: [
        { pre: ["c", "a"], post: [0] },
        { pre: [1], post: ["b"] },
      ],
    });
    expect(pre).toEqual({ kind: "sets", offset: Int32Array.of(0, 2, 3), members: Int32Array.of(0, 2, 1) });
    expect([post.kind, reduces]).toEqual(["one", true]);
  });

  it("reads the fixture for the fixture's network", () => {
    const fixture = (name: string): string => readFileSync(new URL(`../../fixtures/${name}`, import.meta.url), "utf8");
    const boxes = readTopology(fixture("two-boxes.csv"), "two-boxes.csv");
    const { pre, post } = readCollectiveJson(fixture("neighbours.collective.json"), "c.json", boxes);
    expect(pre).toEqual({ kind: "one", npu: Int32Array.of(0, 2, 1) });
    expect(post).toEqual({ kind: "sets", offset: Int32Array.of(0, 1, 2, 4), members: Int32Array.of(2, 0, 2, 3) });
  });

  it.each([
    [{ chunkBytes: "1MiB" }, "1048576", 1_048_576],
    [{ chunkBytes: "10/3" }, "10/3", 4],
    [{ chunkBytes: undefined, sizeBytes: "1KB" }, "1000", 1000],
    [{ chunkBytes: undefined, sizeBytes: 7 }, "7", 7],
  ])("takes sizes as %j", (fields, chunk, size) => {
    expect([format(read(fields).chunkBytes), read(fields).sizeBytes]).toEqual([chunk, size]);
  });

  const c = (pre: unknown, post: unknown = ["b"]): object => ({ chunks: [{ pre, post }] });
  it.each<[object, string]>([
    [{ format: "x" }, 'expected "banyan-collective" for c.json: format but received "x"'],
    [{ version: "1" }, 'expected version 1, the only one this program reads, for c.json: version but received "1"'],
    [{ chunks: undefined }, "expected a list of chunks for c.json: chunks but received nothing"],
    [{ chunks: [] }, "expected at least one chunk for c.json: chunks but received []"],
    [{ chunks: [1] }, "expected an object for c.json: chunks[0] but received 1"],
    [c(undefined), "expected a list of NPUs for c.json: chunks[0].pre but received nothing"],
    [c(["a"], []), "expected at least one NPU for c.json: chunks[0].post but received []"],
    [c(["a", null]), "expected the name or id of an NPU for c.json: chunks[0].pre[1] but received null"],
    [c(["d"]), 'expected the name or id (below 3) of an NPU for c.json: chunks[0].pre[0] but received "d"'],
    [c([3]), "expected the name or id (below 3) of an NPU for c.json: chunks[0].pre[0] but received 3"],
    [c(["sw"]), 'expected an NPU, not a switch, for c.json: chunks[0].pre[0] but received "sw"'],
    [c(["a", 0]), 'expected each NPU once for c.json: chunks[0].pre but received ["a",0]'],
    [{ reduces: 1 }, "expected true or false for c.json: reduces but received 1"],
    [
      { chunkBytes: undefined },
      "expected the size of a chunk (or sizeBytes, of all chunks together) for c.json: chunkBytes but received nothing",
    ],
    [{ sizeBytes: 1 }, "expected only one of chunkBytes and sizeBytes for c.json: sizeBytes but received 1"],
    [{ chunkBytes: 0 }, "expected a positive whole number of bytes for c.json: chunkBytes but received 0"],
    [{ chunkBytes: "0/5" }, 'expected a positive number of bytes for c.json: chunkBytes but received "0/5"'],
    [
      { chunkBytes: "x" },
      'expected a positive size such as "1GiB", "64MB" or "4096" for c.json: chunkBytes but received "x"',
    ],
    [
      {
        chunkBytes: Number.MAX_SAFE_INTEGER,
        chunks: [
          { pre: [0], post: [1] },
          { pre: [0], post: [1] },
        ],
      },
      "expected chunks of less than 2^53 bytes together for c.json: chunkBytes but received 9007199254740991",
    ],
  ])("answers %j with one sentence", (fields, sentence) => {
    expect(sentenceOf(() => read(fields))).toBe(sentence);
  });
});
