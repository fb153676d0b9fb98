import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readCollectiveJson } from "../../../src/import/collectives/collective.ts";
import { readTopology } from "../../../src/import/networks/network-formats.ts";
import type { Collective } from "../../../src/model/collective/collective.ts";
import { format } from "../../../src/model/numbers/rational.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";

import { missing, outOfRange, type Refusal, refusalFrom, unexpected } from "../../support/refusals.ts";

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
  it.each<[object, Refusal]>([
    [{ format: "x" }, unexpected("c.json: format", "x")],
    [{ version: "1" }, unexpected("c.json: version", "1")],
    [{ chunks: undefined }, missing("c.json: chunks")],
    [{ chunks: [] }, outOfRange("c.json: chunks", [])],
    [{ chunks: [1] }, unexpected("c.json: chunks[0]", 1)],
    [c(undefined), missing("c.json: chunks[0].pre")],
    [c(["a"], []), outOfRange("c.json: chunks[0].post", [])],
    [c(["a", null]), unexpected("c.json: chunks[0].pre[1]", null)],
    [c(["d"]), unexpected("c.json: chunks[0].pre[0]", "d", 3)],
    [c([3]), unexpected("c.json: chunks[0].pre[0]", 3, 3)],
    [c(["sw"]), unexpected("c.json: chunks[0].pre[0]", "sw")],
    [c(["a", 0]), unexpected("c.json: chunks[0].pre", ["a", 0])],
    [{ reduces: 1 }, unexpected("c.json: reduces", 1)],
    [{ chunkBytes: undefined }, missing("c.json: chunkBytes")],
    [{ sizeBytes: 1 }, unexpected("c.json: sizeBytes", 1)],
    [{ chunkBytes: 0 }, unexpected("c.json: chunkBytes", 0)],
    [{ chunkBytes: "0/5" }, unexpected("c.json: chunkBytes", "0/5")],
    [{ chunkBytes: "x" }, unexpected("c.json: chunkBytes", "x")],
    [
      {
        chunkBytes: Number.MAX_SAFE_INTEGER,
        chunks: [
          { pre: [0], post: [1] },
          { pre: [0], post: [1] },
        ],
      },
      unexpected("c.json: chunkBytes", 9007199254740991),
    ],
  ])("answers %j with one sentence", (fields, sentence) => {
    expect(refusalFrom(() => read(fields))).toEqual(sentence);
  });
});
