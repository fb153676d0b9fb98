import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../src/errors.ts";
import { scheduleToJson } from "../../src/export/schedule-json.ts";
import { topologyToJson } from "../../src/export/topology-json.ts";
import { readTopology } from "../../src/import/recognise.ts";
import { topologyHash } from "../../src/model/topology.ts";
import { ringSchedule } from "../support/ring-schedule.ts";
import { sentenceOf } from "./support.ts";

const taccl = { name: "x_1MB", gpus_per_node: 2, alpha: 1, node_betas_list: [1], remote_alpha: 1, remote_beta: 1 };
const READABLE = "a network in a format of `banyan list formats`";

describe("readTopology", () => {
  it("tells formats by their content", () => {
    const { topology } = ringSchedule();
    expect(readTopology(topologyToJson(topology), "x.csv")).toEqual(topology);
    expect(readTopology(scheduleToJson(ringSchedule()), "x")).toEqual(topology);
    expect(readTopology("# rack\nfrom,to,bandwidthGBps\na,b,1", "x.json").npuCount).toBe(2);
    expect(readTopology("NPUs Count,3\nSrcID,DestID,Latency (ns),Bandwidth (GB/s)\n0,1,1,1", "x").npuCount).toBe(3);
    expect(readTopology(JSON.stringify(taccl), "x", { nodes: 3 }).npuCount).toBe(6);
  });

  it.each([
    ["", `expected ${READABLE} for f but received nothing`],
    ["  \n", `expected ${READABLE} for f but received nothing`],
    ["mesh", `expected ${READABLE} for f but received "mesh"`],
    ["<system version='1'>", `expected ${READABLE} for f but received "<system version='1'>"`],
    ["\0\x01\x02", `expected ${READABLE} for f but received "\\u0000\\u0001\\u0002"`],
    ["[]", `expected ${READABLE} for f but received "a list"`],
    ["{}", `expected ${READABLE} for f but received "an object of nothing"`],
    [
      '{"name":1,"gpus":[],"a":1,"b":2,"c":3}',
      `expected ${READABLE} for f but received "an object of name, gpus, a, b ..."`,
    ],
    ['{"format":"banyan-collective"}', `expected ${READABLE} for f but received "banyan-collective"`],
    ['{"format":', "expected more JSON (the text stops too early) for f line 1, column 11 but received nothing"],
    ["from,to\na,b", 'expected a column bandwidthGBps for f line 1 but received "from,to"'],
  ])("refuses %j in one sentence", (text, sentence) => {
    expect(sentenceOf(() => readTopology(text, "f"))).toBe(sentence);
  });

  const fixture = (name: string): string => readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8");

  it("reads one network written as JSON and as an edge list to the same hash", () => {
    const json = readTopology(fixture("two-boxes.topology.json"), "two-boxes.topology.json");
    const csv = readTopology(fixture("two-boxes.csv"), "two-boxes.csv");
    expect([json.npuCount, json.linkSource.length]).toEqual([4, 16]);
    expect(csv.nodeNames).toEqual(json.nodeNames);
    expect(topologyHash(csv)).toBe(topologyHash(json));
  });

  it("answers any mutation of a file with an InputError or a network", () => {
    const names = ["two-boxes.topology.json", "two-boxes.csv", "tacos-ring.csv", "taccl-line.json"];
    const change = fc.record({
      at: fc.nat(),
      length: fc.nat(12),
      put: fc.oneof(
        fc.constantFrom("", "0", "-1", "1e99", '"', ",", "[", "}", "\n", "\0", "\ufeff"),
        fc.string({ maxLength: 4 }),
      ),
    });
    let refused = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...names.map(fixture)),
        fc.array(change, { minLength: 1, maxLength: 4 }),
        (text, changes) => {
          const broken = changes.reduce((body, { at, length, put }) => {
            const start = body.length === 0 ? 0 : at % body.length;
            return body.slice(0, start) + put + body.slice(start + length);
          }, text);
          try {
            expect(readTopology(broken, "f", { nodes: 2 }).npuCount).toBeGreaterThan(0);
          } catch (error) {
            if (!(error instanceof InputError)) throw error;
            refused++;
          }
        },
      ),
      { numRuns: 3000 },
    );
    expect(refused).toBeGreaterThan(1000);
  });
});
