import { describe, expect, it } from "vitest";
import { scheduleToJson } from "../../src/export/schedule-json.ts";
import { topologyToJson } from "../../src/export/topology-json.ts";
import { readTopology } from "../../src/import/recognise.ts";
import { ringSchedule } from "../support/ring-schedule.ts";
import { sentenceOf } from "./support.ts";

const taccl = { name: "x_1MB", gpus_per_node: 2, alpha: 1, node_betas_list: [1], remote_alpha: 1, remote_beta: 1 };
const READABLE =
  "a network: banyan-topology JSON, a TACCL topology JSON, a CSV edge list with a header, or a banyan-schedule JSON with its network inside,";

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
});
