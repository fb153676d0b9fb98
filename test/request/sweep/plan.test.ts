import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { topologyToJson } from "../../../src/export/networks/topology-json.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { type SweepTask, taskHash } from "../../../src/model/sweep/task.ts";
import { inputOf, planSweep, type SweepInput } from "../../../src/request/sweep/plan.ts";
import { readSweepFile } from "../../../src/request/sweep/sweep-file.ts";

const plan = (text: string, files: Readonly<Record<string, SweepInput>> = {}) =>
  planSweep(readSweepFile(text, "s.yaml"), "s.yaml", (name) => files[name] ?? null);

describe("plans of sweeps", () => {
  it("are the product of the axes, in their order, each point once", () => {
    const names = fc.uniqueArray(fc.constantFrom("seed", "trials", "chunks", "size"), { minLength: 1 });
    fc.assert(
      fc.property(names, fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 4, maxLength: 4 }), (axes, lengths) => {
        const lists = axes.map((_, i) => Array.from({ length: lengths[i] as number }, (_, k) => String(k + 1)));
        const lines = axes.map((name, i) => `  ${name}: [${lists[i]?.join()}]\n`);
        const { points, tasks } = plan(`axes:\n  topology: mesh:2x2\n  collective: allgather\n${lines.join("")}`);
        const made = [...tasks()].map(({ task }) => axes.map((name) => task.options[name]));
        const expected = lists.reduce<string[][]>(
          (all, list) => all.flatMap((row) => list.map((v) => [...row, v])),
          [[]],
        );
        expect(made).toEqual(expected);
        expect(points).toBe(expected.length);
      }),
    );
  });

  it("count the failures that a symmetry takes to each other, and all of them come to the sets there are", () => {
    const { points, tasks } = plan(
      "axes:\n  topology: [torus:4x4, mesh:3x3]\n  collective: [allgather, broadcast]\n  failures: [none, {each: links}, {every: 2, of: links}, {each: npus}]\n",
    );
    const all = [...tasks()];
    const of = (topology: string, collective: string) =>
      all.filter(({ cells }) => cells["topology"] === topology && cells["collective"] === collective);
    const counted = (rows: typeof all): number => rows.reduce((sum, { cells }) => sum + Number(cells["count"]), 0);
    const sets = { torus: 1 + 32 + (32 * 31) / 2 + 16, mesh: 1 + 12 + (12 * 11) / 2 + 9 };
    expect(points).toBe(2 * (sets.torus + sets.mesh));
    for (const collective of ["allgather", "broadcast"]) {
      expect(counted(of("torus:4x4", collective))).toBe(sets.torus);
      expect(counted(of("mesh:3x3", collective))).toBe(sets.mesh);
    }
    // a root is no NPU like the others
    expect(of("torus:4x4", "allgather").length).toBeLessThan(of("torus:4x4", "broadcast").length);
    expect(of("torus:4x4", "allgather").length).toBeLessThan(20);
    expect(of("torus:4x4", "allgather")[1]?.task.options["without"]).toBe("0-1");
  });

  it("add failures to what is left out already", () => {
    const { tasks } = plan(
      "axes:\n  topology: torus:3x3\n  collective: allgather\n  failures: [none, 1-2]\noptions: {without: 0-1}\n",
    );
    expect(Array.from(tasks(), ({ task }) => task.options["without"])).toEqual(["0-1", "0-1,1-2"]);
  });

  it("name files by their content, so a changed file is another task", () => {
    const hashes = ["mesh:2x2", "ring:4"].map((preset) => {
      const input = inputOf(topologyToJson(presetTopology(preset)));
      const [point] = plan("axes:\n  topology: net.json\n  collective: allgather\n", { "net.json": input }).tasks();
      expect(point?.task.inputs).toEqual({ "net.json": input.sha256 });
      return taskHash(point?.task as SweepTask, "1");
    });
    expect(hashes[0]).not.toBe(hashes[1]);
  });

  it("name the files of options as those of axes, and count failures on each network that axes make", () => {
    const table = inputOf("0 1\n1 0\n");
    const text = "axes:\n  topology: ring:4\noptions: {collective: 'custom:t.csv'}\n";
    const { files, tasks } = plan(text, { "t.csv": table });
    expect([files, Array.from(tasks(), ({ task }) => task.inputs)]).toEqual([[table], [{ "t.csv": table.sha256 }]]);
    expect(() => plan(text)).toThrow('s.yaml is "t.csv"; it must be a file that exists');
    const hurt = plan(
      "axes:\n  topology: mesh:3x3\n  collective: allgather\n  without: [0-1, '0-1,1-2']\n  failures: [{each: links}]\n",
    );
    const counted = Array.from(hurt.tasks(), ({ cells }) => Number(cells["count"])).reduce((a, b) => a + b, 0);
    expect([hurt.points, counted]).toEqual([11 + 10, 11 + 10]);
  });

  it.each([
    [
      "  seed: {from: 1, to: 4e9}\n  trials: {from: 1, to: 250}\n",
      "s.yaml is a sweep of 1.0e+12 tasks, and at most 10000000 are done; the axis seed (s.yaml line 4) makes 4.0e+9 of them",
    ],
    ["  failures: [{every: 6, of: npus}]\n", "the axis failures (s.yaml line 4) makes"],
    ["  failures: [{each: boxes}]\n", "s.yaml line 4, column 14 is boxes, but mesh:8x8 has no boxes"],
    ["  failures: [0-99]\n", "s.yaml line 4, column 14"],
    ["  root: 0\n", null],
  ])("%j is judged before anything is done", (lines, sentence) => {
    const made = () => plan(`axes:\n  topology: mesh:8x8\n  collective: allgather\n${lines}`);
    if (sentence === null) expect(made().points).toBe(1);
    else expect(made).toThrow(sentence);
  });

  it("say where a network is wrong", () => {
    expect(() => plan("axes:\n  collective: allgather\n  topology: [mesh:2x2,\n    mesh:0x2]\n")).toThrow(
      "s.yaml line 4, column 5: ",
    );
  });
});
