import { describe, expect, it } from "vitest";
import { htmlReport, type ReportData } from "../../../src/export/pictures/html-report.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { timelineOf } from "../../../src/picture/scene/timeline.ts";
import { ringSchedule } from "../../support/ring-schedule.ts";
import { elementsOf } from "../../support/svg-elements.ts";
import { ringFlow } from "../../support/tree-flows.ts";

const timing = { us: 2000, algbwGBps: 1.5, busbwGBps: 1, model: "network/cut-through" };
const report: ReportData["report"] = {
  collective: { kind: "allgather", sizeBytes: 3e6, chunksPerNpu: 1 },
  algorithm: "tacos",
  schedule: { kind: "steps", transfers: 6 },
  time: timing,
  limit: {
    us: 2000,
    exact: "2000",
    kind: "cut",
    witness: { nodes: ["a"], direction: "in" },
    because: "a receives 2 MB through 1 GB/s",
  },
  classLimit: null,
  ofLimit: 1,
  ofClassLimit: null,
  gaps: [],
  verified: true,
  synthesis: { ms: 12.5, backend: "native", seed: 7, trials: 1, policy: "oldest" },
};
const schedule = ringSchedule();
const data: ReportData = {
  topology: schedule.topology,
  report,
  busy: { linkBusyPs: Float64Array.of(2e9, 2e9, 1e9), totalPs: 2e9 },
  trees: null,
  timeline: timelineOf(schedule),
  version: "1.2.3",
  command: null,
};
const page = (changes: Partial<ReportData> = {}): string => [...htmlReport({ ...data, ...changes })].join("");

/** Returns the elements of the page, which but for its void elements is XML. */
const elements = (html: string) =>
  elementsOf(html.replace("<!DOCTYPE html>", "").replace(/<meta ([^>]*)>/g, "<meta $1/>"));

describe("the report of a result", () => {
  it("answers in one sentence, and says why nothing is faster", () => {
    const all = elements(page());
    const texts = all.filter(({ name }) => name === "p" || name === "h1").map(({ text }) => text);
    expect(texts).toContain("All-gather of 3 MB on ring3");
    expect(texts).toContain(
      "The all-gather of 3 MB by tacos takes 2 ms (bus bandwidth 1 GB/s), which is as fast as any algorithm can be. The schedule was verified.",
    );
    expect(texts).toContain(
      "No algorithm can take less than 2 ms: a receives 2 MB through 1 GB/s. This schedule takes 2 ms.",
    );
  });

  it("says once what all links have, or all that are listed", () => {
    const even = page({ busy: { linkBusyPs: Float64Array.of(1e9, 1e9, 1e9), totalPs: 2e9 } });
    expect(even).toContain("<p>All 3 links, 50 %</p>");
    expect(even).not.toContain("<table>");
    expect(page()).toContain("<td>");
  });

  it("says that nothing takes no time", () => {
    const none = { ...timing, us: 0, algbwGBps: null, busbwGBps: null };
    const html = page({ report: { ...report, time: none, synthesis: null } });
    expect(html).toContain("The all-gather of 3 MB takes no time: nothing has to be sent. The schedule was verified.");
  });

  it("draws the network, the cut of the limit, the schedule and how busy links are", () => {
    const titles = elements(page()).filter(({ name }) => name === "desc");
    expect(titles.map(({ text }) => text)).toEqual([
      "3 NPUs, 3 links.",
      "3 NPUs, 3 links. Marked: the cut, with the links that cross it.",
      "A row for each link, a bar for each transfer with the number of its chunk; 2 ms in all.",
      "Links are busy 83.33 % of 2 ms on average, the busiest 100 %.",
    ]);
  });

  it("draws trees where there are some, and leaves out what there is not", () => {
    const flow = ringFlow(4, 1e9, 0, 1000);
    const html = page({ topology: flow.topology, trees: flow, timeline: null, busy: null });
    expect(elements(html).filter(({ name }) => name === "desc")).toHaveLength(2);
    expect(html).toContain("8 trees, roots filled.");
  });

  it("says what schedules of its class take at least, and what lies between", () => {
    const classLimit = { ...report.limit, us: 1900, holdsFor: "whole chunks", because: "b sends 3 chunks" };
    const gaps = [{ because: "100 us is waiting: a larger size makes it small" }];
    expect(page({ report: { ...report, limit: { ...report.limit, us: 1800 }, classLimit, gaps } })).toContain(
      "No algorithm can take less than 1.8 ms: a receives 2 MB through 1 GB/s. Schedules like this one (whole chunks) take at least 1.9 ms: b sends 3 chunks. This schedule takes 2 ms. 100 us is waiting: a larger size makes it small.",
    );
  });

  it("draws the cut of the class where the limit has none, and no cut that is not listed whole", () => {
    const limit = { ...report.limit, kind: "work", witness: {} };
    const classLimit = { ...limit, holdsFor: "whole chunks", witness: { nodes: ["b", "c"], direction: "out" } };
    expect(page({ report: { ...report, limit, classLimit } }).match(/npu chosen/g)).toHaveLength(2);
    const many = { ...classLimit, witness: { nodes: new Array(4096).fill("a"), direction: "out" } };
    expect(page({ report: { ...report, limit, classLimit: many } })).not.toContain("npu chosen");
  });

  it("plots other algorithms where there are some", () => {
    const comparison = [{ sizeBytes: 1024, algorithm: "ring", us: 5, busbwGBps: 1 }];
    expect(page({ comparison })).toContain("Beside other algorithms");
    expect(page()).not.toContain("Beside other algorithms");
  });

  it("loads nothing and runs nothing", () => {
    const html = page().replaceAll('xmlns="http://www.w3.org/2000/svg"', "");
    expect(html).not.toMatch(/https?:|<script|url\(|@import|<link|<img|\son\w+=/i);
    const ids = [...html.matchAll(/\sid="([^"]*)"/g)].map((match) => match[1]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("carries the whole result for download", () => {
    const given = { ...report, more: "kept – as it is" };
    const link = elements(page({ report: given })).find(({ attributes }) => attributes["download"] !== undefined);
    expect(link?.attributes["download"]).toBe("All-gather-of-3-MB-on-ring3.json");
    const encoded = (link?.attributes["href"] ?? "").replace("data:application/json;base64,", "");
    expect(JSON.parse(Buffer.from(encoded, "base64").toString("utf8"))).toEqual(given);
  });

  it("shows hostile names as text", () => {
    const evil = '<script>alert("1")</script>&';
    const builder = topologyBuilder(evil);
    for (const name of [evil, "b", "c"]) builder.addNpu(name, { group: evil });
    for (let npu = 0; npu < 3; npu++) builder.addLink(npu, (npu + 1) % 3, 1e9, 0);
    const html = page({
      topology: builder.build({ sources: [evil] }),
      command: evil,
      version: evil,
      report: { ...report, algorithm: evil, notes: [evil] },
    });
    expect(html).not.toContain("<script");
    expect(elements(html).find(({ name }) => name === "h1")?.text).toBe(`All-gather of 3 MB on ${evil}`);
  });

  it("says why there is no picture of a network that is too large", () => {
    const builder = topologyBuilder("many");
    builder.addNumberedNpus(6000, () => ({}));
    for (let npu = 0; npu < 6000; npu++) builder.addLink(npu, (npu + 1) % 6000, 1e9, 0);
    const html = page({ topology: builder.build(), timeline: null, busy: null });
    expect(html).toMatch(/No picture: [^<]*\b6000\b[^<]*\b5000\b[^<]*\.</);
  });
});
