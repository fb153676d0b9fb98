import { describe, expect, it } from "vitest";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { readCollectives } from "../../../src/import/collectives/collective.ts";
import { readAnySchedule } from "../../../src/import/schedules/schedule-json.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { synthesizeJoint } from "../../../src/run/joint.ts";
import { engineOf } from "../../support/joint-schedules.ts";

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
    ["[]", "expected at least one collective for jobs.json but received []"],
    [file([]), "expected at least one collective for jobs.json: collectives but received []"],
    [file(undefined), "expected a list of collectives for jobs.json: collectives but received nothing"],
    [
      '{"format": "banyan-topology"}',
      'expected "banyan-collectives" for jobs.json: format but received "banyan-topology"',
    ],
    ["[1]", "expected an object for jobs.json: [0] but received 1"],
    ["[{", "expected more JSON (the text stops too early) for jobs.json line 1, column 3 but received nothing"],
    [
      file([{ kind: "allgater" }]),
      'expected one of allgather, reducescatter, allreduce, broadcast, reduce, gather, scatter, alltoall (did you mean "allgather"?) for jobs.json: collectives[0].kind but received "allgater"',
    ],
    [
      file([{ kind: "reduce", roots: 3 }]),
      'expected the keys kind, size, chunks, root, group (did you mean "root"?) for jobs.json: collectives[0] but received "roots"',
    ],
    [
      file([{ kind: "reduce" }, { kind: "reduce", size: -4 }]),
      'expected a size such as "64MiB", or a positive whole number of bytes for jobs.json: collectives[1].size but received -4',
    ],
    [
      file([{ kind: "reduce", chunks: 1.5 }]),
      "expected an integer of 1 or more for jobs.json: collectives[0].chunks but received 1.5",
    ],
    [
      file([{ kind: "reduce", root: 9 }]),
      "expected the name or id (below 9) of an NPU for jobs.json: collectives[0].root but received 9",
    ],
    [
      file([{ kind: "reduce", root: 4, group: "0,1" }]),
      "expected an NPU of the group for jobs.json: collectives[0].root but received 4",
    ],
    [
      file([{ kind: "allgather", group: [[0, 1], []] }]),
      "expected at least one NPU for jobs.json: collectives[0].group[1] but received []",
    ],
    [
      file([{ kind: "allgather", group: "0,1;2" }]),
      'expected groups of equal size (the first has 2) for jobs.json: collectives[0].group but received "1 in group 1"',
    ],
  ])("is refused with one sentence: %s", async (text, message) => {
    await expect(asked(text)).rejects.toMatchObject({ name: "InputError", message });
  });

  it("refuses a size that is none, with its place", async () => {
    await expect(asked(file([{ kind: "reduce", size: "4 parsecs" }]))).rejects.toThrow(
      /for jobs\.json: collectives\[0\]\.size but received "4 parsecs"$/,
    );
  });
});

describe("a schedule of several collectives", () => {
  it.each([
    [3, "expected version 1 to 2, the only ones this program reads, for s.json: version but received 3"],
    [2, "expected a list of collectives with their transfers for s.json: tenants but received nothing"],
  ])("of version %s without its parts is refused", async (version, message) => {
    const topology = JSON.parse((await import("../../../src/export/networks/topology-json.ts")).topologyToJson(mesh));
    const { topologyHash } = await import("../../../src/model/topology/topology.ts");
    const value = {
      format: "banyan-schedule",
      version,
      topology: { ...topology, hash: topologyHash(mesh) },
      routes: [],
    };
    expect(() => readAnySchedule(JSON.stringify(value), "s.json")).toThrow(expect.objectContaining({ message }));
  });
});
