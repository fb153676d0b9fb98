import { describe, expect, it } from "vitest";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { readCollectives } from "../../../src/import/collectives/collective.ts";
import { readAnySchedule } from "../../../src/import/schedules/schedule-json.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { synthesizeJoint } from "../../../src/run/joint.ts";
import { engineOf } from "../../support/joint-schedules.ts";
import { missing, outOfRange, unexpected } from "../../support/refusals.ts";

const mesh = presetTopology("mesh:3x3");
const file = (collectives: unknown): string =>
  JSON.stringify({ format: "banyan-collectives", version: 1, collectives });

/** Reads the text and asks for its schedule, as the command line does. */
async function asked(text: string): Promise<void> {
  const { entries, placeOf } = readCollectives(text, "jobs.json", mesh);
  await synthesizeJoint(engineOf(jsKernels), mesh, { collectives: entries, placeOf, trials: 1 });
}

describe("a list of collectives", () => {
  it("may be bare, and say groups as texts or lists", () => {
    const list = [
      { kind: "allgather", size: "9KiB", group: "0,1,2;6,7,8" },
      { kind: "reduce", size: 4096, chunks: 4, root: "3", group: [3, "4", 5] },
      { kind: "alltoall", group: [["0"], [1]] },
    ];
    const { entries, placeOf } = readCollectives(JSON.stringify(list), "jobs.json", mesh);
    expect(entries).toEqual([
      { collective: "allgather", sizeBytes: 9216, group: "0,1,2;6,7,8" },
      { collective: "reduce", sizeBytes: 4096, chunks: 4, root: "3", group: "3,4,5" },
      { collective: "alltoall", group: "0;1" },
    ]);
    expect(placeOf(1)("root")).toBe("jobs.json: [1].root");
  });

  it("may hold a custom collective", async () => {
    const table = {
      format: "banyan-collective",
      version: 1,
      chunkBytes: 1000,
      chunks: [{ pre: ["0"], post: ["8"] }],
    };
    const [entry] = readCollectives(file([table]), "jobs.json", mesh).entries;
    expect(entry?.collective).toMatchObject({ kind: "custom", chunkCount: 1 });
    await asked(file([table, { kind: "broadcast", size: 1000 }]));
  });

  it.each([
    ["[]", outOfRange("jobs.json", [])],
    [file([]), outOfRange("jobs.json: collectives", [])],
    [file(undefined), missing("jobs.json: collectives")],
    ['{"format": "banyan-topology"}', unexpected("jobs.json: format", "banyan-topology")],
    ["[1]", unexpected("jobs.json: [0]", 1)],
    ["[{", missing("jobs.json line 1, column 3")],
    [file([{ kind: "allgater" }]), unexpected("jobs.json: collectives[0].kind", "allgater", "allgather")],
    [file([{ kind: "reduce", roots: 3 }]), unexpected("jobs.json: collectives[0]", "roots", "root")],
    [file([{ kind: "reduce" }, { kind: "reduce", size: -4 }]), unexpected("jobs.json: collectives[1].size", -4)],
    [file([{ kind: "reduce", chunks: 1.5 }]), unexpected("jobs.json: collectives[0].chunks", 1.5)],
    [file([{ kind: "reduce", root: 9 }]), unexpected("jobs.json: collectives[0].root", 9, 9)],
    [file([{ kind: "reduce", root: 4, group: "0,1" }]), unexpected("jobs.json: collectives[0].root", 4)],
    [file([{ kind: "allgather", group: [[0, 1], []] }]), outOfRange("jobs.json: collectives[0].group[1]", [])],
    [file([{ kind: "allgather", group: "0,1;2" }]), unexpected("jobs.json: collectives[0].group", "1 in group 1", 2)],
  ])("is refused with one sentence: %s", async (text, refusal) => {
    await expect(asked(text)).rejects.toThrow(refusal);
  });

  it("refuses a size that is none, with its place", async () => {
    await expect(asked(file([{ kind: "reduce", size: "4 parsecs" }]))).rejects.toThrow(
      unexpected("jobs.json: collectives[0].size", "4 parsecs"),
    );
  });
});

describe("a schedule of several collectives", () => {
  it.each([
    [3, unexpected("s.json: version", 3, 2)],
    [2, missing("s.json: tenants")],
  ])("of version %s without its parts is refused", async (version, refusal) => {
    const topology = JSON.parse((await import("../../../src/export/networks/topology-json.ts")).topologyToJson(mesh));
    const { topologyHash } = await import("../../../src/model/topology/topology.ts");
    const value = {
      format: "banyan-schedule",
      version,
      topology: { ...topology, hash: topologyHash(mesh) },
      routes: [],
    };
    expect(() => readAnySchedule(JSON.stringify(value), "s.json")).toThrow(refusal);
  });
});
