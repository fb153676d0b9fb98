import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { topologyToJson } from "../../../src/export/networks/topology-json.ts";
import { scheduleToJson } from "../../../src/export/schedules/schedule-json.ts";
import { readTopology } from "../../../src/import/networks/network-formats.ts";
import { topologyHash } from "../../../src/model/topology/topology.ts";
import { missing, refusalFrom, unexpected } from "../../support/refusals.ts";
import { ringSchedule } from "../../support/ring-schedule.ts";
import { runs, seen } from "../../support/runs.ts";
import { sharedFiles, sharedText } from "../../support/shared-data.ts";

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
    ["", missing("f", READABLE)],
    ["  \n", missing("f", READABLE)],
    ["mesh", unexpected("f", "mesh", READABLE)],
    ["<system version='1'>", unexpected("f line 1", "unclosed tag: system")],
    ["<algo name='x'>", unexpected("f", "<algo name='x'>", READABLE)],
    ["\0\x01\x02", unexpected("f", "\u0000\u0001\u0002", READABLE)],
    ["[]", unexpected("f", "a list", READABLE)],
    ["{}", unexpected("f", "an object of nothing", READABLE)],
    ['{"name":1,"gpus":[],"a":1,"b":2,"c":3}', unexpected("f", "an object of name, gpus, a, b ...", READABLE)],
    ['{"format":"banyan-collective"}', unexpected("f", "banyan-collective", READABLE)],
    ['{"format":', missing("f line 1, column 11")],
    ["from,to\na,b", unexpected("f line 1", "from,to")],
  ])("refuses %j in one sentence", (text, sentence) => {
    expect(refusalFrom(() => readTopology(text, "f"))).toEqual(sentence);
  });

  it.each([
    ["nccl-topo/nccl-xml", "--gpu"],
    ["nccl-topo/nvidia-smi", "--gpu"],
    ["nccl-topo/rocm-smi", "--gpu"],
    ["astra-sim/network", null],
    ["forest-topologies", null],
  ])("tells the real files of %s by their content", (folder, open) => {
    for (const name of sharedFiles(folder)) {
      const read = (): number => readTopology(sharedText(`${folder}/${name}`), name).npuCount;
      try {
        expect(read(), name).toBeGreaterThan(0);
      } catch (error) {
        // read as what it is, which leaves the model of its GPUs open
        if (open === null || !(error instanceof InputError) || !error.message.includes(open)) throw error;
      }
    }
  });

  const fixture = (name: string): string => readFileSync(new URL(`../../fixtures/${name}`, import.meta.url), "utf8");

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
      { numRuns: runs(3000) },
    );
    expect(refused).toBeGreaterThan(seen(1000));
  });
});
