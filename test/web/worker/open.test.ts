import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { InputError, InternalError } from "../../../src/base/errors.ts";
import { readMscclXml } from "../../../src/import/programs/program.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { Comparison } from "../../../src/report/comparison.ts";
import type { Options } from "../../../src/request/option-table.ts";
import { simulateProgram } from "../../../src/simulate/program/program.ts";
import { verifyProgram } from "../../../src/verify/program/program.ts";
import { KEPT } from "../../../src/verify/violation.ts";
import { failureOf } from "../../../src/web/worker/main.ts";
import { commandOf } from "../../../src/web/worker/make.ts";
import { missing, refused, unexpected } from "../../support/refusals.ts";
import { ask, fileOf, type Heard, networkWish, wishOf } from "../../support/worker-asks.ts";

/** Returns a file of a schedule that is made as the options say. */
async function scheduleFile(topology: string, options: Record<string, string>) {
  const { ref } = await ask("make", { wish: wishOf(topology, options) });
  return (await ask("file", { schedule: ref })).file;
}

describe("open", () => {
  it("tells networks apart by their format", async () => {
    const text = readFileSync("test/fixtures/two-boards.nvidia-smi.txt", "utf8");
    const opened = await ask("open", { file: fileOf("pasted.txt", text), options: { gpu: "a100" } });
    expect(opened).toMatchObject({ kind: "network", format: "nvidia-smi topo -m" });
    const wrong = ask("open", { file: fileOf("notes.txt", "buy bread and milk"), options: {} });
    await expect(wrong).rejects.toThrow(unexpected("notes.txt", "buy bread and milk"));
    const utf16 = ask("open", { file: fileOf("n.txt", new Uint8Array([0xff, 0xfe, 0x41, 0])), options: {} });
    await expect(utf16).rejects.toThrow(unexpected("n.txt", "UTF-16"));
    const bytes = ask("open", { file: fileOf("n.txt", new Uint8Array([0x41, 0x0a, 0xff, 0x41])), options: {} });
    await expect(bytes).rejects.toThrow(unexpected("n.txt line 2", "�, not UTF-8"));
  });

  it.each([
    ["steps", "mesh:3x3", { collective: "allgather", size: "9MiB" }],
    ["trees", "dgx1", { collective: "allgather", algorithm: "forestcoll", size: "9MiB" }],
    ["phases", "torus:60x60", { collective: "allreduce", algorithm: "themis", chunks: "4" }],
  ] as const)("judges a schedule of %s anew", async (kind, topology, options) => {
    const made = await ask("make", { wish: wishOf(topology, options) });
    const { file } = await ask("file", { schedule: made.ref });
    const opened = await ask("open", { file, options: {} });
    if (opened.kind !== "schedule") throw new Error(opened.kind);
    const { schedule, network } = opened;
    expect(schedule).toMatchObject({ kind, violations: [], totalPs: made.totalPs, command: "", network: null });
    expect(schedule.report.verified).toBe(true);
    expect(schedule.report.limit.exact).toBe(made.report.limit.exact);
    expect(network.npuCount).toBe(made.report.topology.npus);
  });

  it.each([
    ["dgx-h100:1", { collective: "allreduce", size: "256MiB", algorithm: "nvls" }],
    ["ring:8", { collective: "broadcast", size: "1KB", algorithm: "tacos", chunks: "4", root: "3" }],
    ["mesh:3x3", { collective: "allgather", size: "12345678", algorithm: "tacos", group: "0,1,2,5" }],
    ["torus:60x60", { collective: "allreduce", size: "1GiB", algorithm: "themis", chunks: "4" }],
  ] as const)("tells the options that a schedule on %s answers, its algorithm included", async (topology, options) => {
    const { ref } = await ask("make", { wish: wishOf(topology, options) });
    const { file } = await ask("file", { schedule: ref });
    const opened = await ask("open", { file, options: {} });
    if (opened.kind !== "schedule") throw new Error(opened.kind);
    const asked = Object.entries(opened.asked ?? {}).filter(([, value]) => value !== undefined);
    expect(Object.fromEntries(asked)).toEqual(options);
    expect(opened.schedule.report.algorithm).toBe(`${options.algorithm}, as the file says`);
  });

  it("tells the algorithm of a .bys file, and of none that does not name one of ours", async () => {
    const { ref } = await ask("make", { wish: wishOf("ring:4", { collective: "allgather", size: "4MiB" }) });
    const bys = await ask("export", { subject: { kind: "schedule", schedule: ref }, to: "bys", options: {} });
    expect(await ask("open", { file: bys.file, options: {} })).toMatchObject({ asked: { algorithm: "tacos" } });
    const { file } = await ask("file", { schedule: ref });
    const text = (await file.content.text()).replace('"tacos"', '"theirs"');
    const other = await ask("open", { file: fileOf("other.json", text), options: {} });
    if (other.kind !== "schedule") throw new Error(other.kind);
    expect(other.asked).toMatchObject({ collective: "allgather", size: "4MiB" });
    expect(other.asked).not.toHaveProperty("algorithm");
    const unsaid = text.replace(/"about": \{[^}]*\},/, "");
    const silent = await ask("open", { file: fileOf("silent.json", unsaid), options: {} });
    expect(silent).toMatchObject({ schedule: { report: { algorithm: "not given in the file" } } });
  });

  it("says of switches that sum that measurements stay behind, of what is opened too, and in its report", async () => {
    const made = await ask("make", { wish: wishOf("dgx-h100:1", { collective: "allreduce", algorithm: "nvls" }) });
    expect(made.optimism).toContain("482 GB/s where this model says 781");
    const { file } = await ask("file", { schedule: made.ref });
    const opened = await ask("open", { file, options: {} });
    if (opened.kind !== "schedule") throw new Error(opened.kind);
    expect(opened.schedule).toMatchObject({ optimism: made.optimism, report: { notes: [made.optimism] } });
    const subject = { kind: "schedule", schedule: opened.schedule.ref } as const;
    const report = await ask("export", { subject, to: "report", options: {} });
    const [head, rest] = (await report.file.content.text()).split("</header>");
    expect(head).toContain(made.optimism?.slice(1));
    expect(rest).toContain("<dd>nvls, as the file says</dd>");
    const gather = await ask("make", { wish: wishOf("dgx-h100:1", { collective: "allgather", algorithm: "nvls" }) });
    expect(gather.optimism).toBeNull();
  });

  it("says what is wrong with a schedule", async () => {
    const file = await scheduleFile("ring:4", { collective: "allgather", size: "4MiB" });
    const value = JSON.parse(await file.content.text());
    const columns = Object.values<unknown[]>(value.transfers).filter(Array.isArray);
    for (const column of columns) column.pop();
    if ("count" in value.transfers) value.transfers.count--;
    const opened = await ask("open", { file: fileOf("cut.json", JSON.stringify(value)), options: {} });
    if (opened.kind !== "schedule") throw new Error(opened.kind);
    expect(opened.schedule.report.verified).toBe(false);
    expect(opened.schedule.violations.join()).toContain(" never receives chunk ");
    expect(opened.schedule.answer).toContain("The schedule was not verified.");
    // a chunk that nobody has cannot be sent
    value.transfers.chunk[0] = value.transfers.chunk.at(-1);
    const impossible = ask("open", { file: fileOf("odd.json", JSON.stringify(value)), options: {} });
    await expect(impossible).rejects.toMatchObject({ mistake: "unexpected", place: "odd.json" });
    await expect(ask("open", { file, options: { gpu: "a100" } })).rejects.toThrow(
      refused("not-together", "gpu", "a100"),
    );
  });

  it("explains and judges a program", async () => {
    const subject = { kind: "network", wish: networkWish("dgx-a100:1") } as const;
    const { file } = await ask("export", { subject, to: "msccl-xml", options: { collective: "allgather" } });
    const good = await ask("open", { file, options: {} });
    expect(good).toMatchObject({ kind: "program", verified: true, violations: [] });
    if (good.kind === "program") expect(good.explanation).toContain("allgather of 8 GPUs");
    const text = (await file.content.text()).replace(/<step [^>]*type="r"[^>]*hasdep="0"\/>/, "");
    const bad = await ask("open", { file: fileOf("bad.xml", text), options: {} });
    expect(bad).toMatchObject({ kind: "program", verified: false });
    await expect(ask("open", { file, options: { without: "0" } })).rejects.toThrow(
      refused("not-together", "without", "0"),
    );
  });

  it("counts a program's violations as banyan verify does, and tells what runtimes pass over", async () => {
    const subject = { kind: "network", wish: networkWish("dgx-a100:1") } as const;
    const { file } = await ask("export", { subject, to: "msccl-xml", options: { collective: "allreduce" } });
    const text = await file.content.text();
    const sumless = text.replaceAll('type="rrc"', 'type="r"').replaceAll('type="rrs"', 'type="rcs"');
    const wrong = await ask("open", { file: fileOf("wrong.xml", sumless), options: {} });
    const { violationCount } = verifyProgram(readMscclXml(sumless, "wrong.xml"), { limit: KEPT });
    expect(violationCount).toBeGreaterThan(50);
    expect(wrong).toMatchObject({ violationCount, violations: { length: 50 }, rankCount: 8 });
    const misspelt = await ask("open", { file: fileOf("stp.xml", text.replace("<step ", "<stp ")), options: {} });
    expect(misspelt).toMatchObject({ verified: false });
    if (misspelt.kind === "program")
      expect(misspelt.warnings[0]).toMatch(/^line 4: <stp> in <tb> .* did you mean <step>\?$/);
  });
});

describe("programTime", () => {
  it("is the simulated time on a network or a group with an NPU for each rank", async () => {
    const subject = { kind: "network", wish: networkWish("dgx-a100:1") } as const;
    const { file } = await ask("export", { subject, to: "msccl-xml", options: { collective: "allreduce" } });
    const timeOn = (topology: string, options: Options = {}) =>
      ask("programTime", { file, network: networkWish(topology), options });
    const size = "16MiB";
    const { ps } = simulateProgram(readMscclXml(await file.content.text(), "p.xml"), presetTopology("dgx-a100:1"), {
      sizeBytes: 2 ** 24,
    });
    expect(await timeOn("dgx-a100:1", { size })).toMatchObject({ ps, sizeBytes: 2 ** 24 });
    expect(await timeOn("dgx-a100:1")).toMatchObject({ sizeBytes: 2 ** 30 });
    expect(await timeOn("dgx-a100:2", { size, group: "8,9,10,11,12,13,14,15" })).toMatchObject({ ps });
    expect(await timeOn("dgx-a100:2", { size })).toEqual({
      refusal: "it is for 8 GPUs, and dgx-a100:2 has 16 NPUs",
    });
    expect(await timeOn("dgx-a100:2", { group: "0,1" })).toEqual({
      refusal: "it is for 8 GPUs, and its group has 2 NPUs",
    });
    await expect(timeOn("dgx-a100:1", { size: "much" })).rejects.toThrow(unexpected("sizeBytes", "much"));
  });
});

describe("networks", () => {
  it("stay in their place when something fails, and what failed is told", async () => {
    const whole = await ask("network", { wish: networkWish("dgx-a100:2") });
    const part = await ask("network", { wish: networkWish("dgx-a100:2", { without: `3,${whole.nodeNames[17]}` }) });
    expect(whole.gone).toEqual({ nodes: [], wires: [] });
    const gone = part.gone.nodes.map(({ name }) => name);
    expect(gone).toEqual(whole.nodeNames.filter((name) => !part.nodeNames.includes(name)));
    part.nodeNames.forEach((name, node) => {
      const before = whole.nodeNames.indexOf(name);
      expect([part.placement.x[node], part.placement.y[node]]).toEqual([
        whole.placement.x[before],
        whole.placement.y[before],
      ]);
    });
    expect(part.gone.wires).toHaveLength(whole.wires.a.length - part.wires.a.length);
    expect(part.whole).toEqual({ npuCount: whole.npuCount, nodeNames: whole.nodeNames });
    expect(part.placement.bend).toHaveLength(part.wires.a.length);
  });

  it("of a schedule that leaves outsiders out is told", async () => {
    const options = { collective: "allgather", group: "0,1,2,5", outsiders: "none", size: "4MiB" };
    const { network } = await ask("make", { wish: wishOf("mesh:3x3", options) });
    expect(network?.npuCount).toBe(4);
    expect(network?.gone.nodes.map(({ name }) => name)).toEqual(["3", "4", "6", "7", "8"]);
    const { network: same } = await ask("make", { wish: wishOf("mesh:3x3", { ...options, outsiders: "relay" }) });
    expect(same).toBeNull();
  });

  it("refuse options that mean nothing to them", async () => {
    await expect(ask("network", { wish: networkWish("ring:4", { gpu: "a100" }) })).rejects.toThrow(
      unexpected("gpu", "ring:4", "--showtopo"),
    );
    await expect(ask("network", { wish: networkWish(" ") })).rejects.toThrow(missing("the topology"));
  });
});

describe("compare", () => {
  it("gives what there is after each line, and after each size", async () => {
    const heard: Heard = { progress: [], partial: [] };
    const asked = { collective: "allreduce", algorithm: "tacos", policy: "oldest", algorithms: "ring,tacos" };
    const wish = wishOf("mesh:2x2", asked);
    const whole = await ask("compare", { wish, sizes: ["1KiB", "1MiB", "64MiB"] }, heard);
    expect(whole.limits.map(({ sizeBytes }) => sizeBytes)).toEqual([1024, 2 ** 20, 2 ** 26]);
    const partial = heard.partial as Comparison[];
    expect(partial.map(({ rows }) => rows.length)).toEqual([1, 2, 2, 3, 4, 4, 5, 6]);
    const rows = whole.rows.filter(({ sizeBytes }) => sizeBytes < 2 ** 26);
    expect(partial[5]).toMatchObject({ rows, limits: whole.limits.slice(0, 2) });
    for (const { rows, limits } of partial)
      expect([...new Set(rows.map(({ sizeBytes }) => sizeBytes))]).toEqual(limits.map(({ sizeBytes }) => sizeBytes));
    expect(heard.progress[0]?.what).toMatch(/^comparing \S+ at 1 KiB$/);
    await expect(ask("compare", { wish, sizes: ["1 apple"] })).rejects.toThrow(unexpected("sizesBytes", "1 apple"));
  });
});

describe("command lines and failures", () => {
  it("are quoted for a shell", () => {
    const wish = {
      network: { topology: "L2(K(4,4))@25Gbps", file: null, options: { degrade: "a-b=0.5" } },
      options: { switchDegree: "ports", offload: true, nvls: false, group: "-1,2", seed: undefined },
    };
    expect(commandOf(wish, "out.json")).toBe(
      "banyan synth 'L2(K(4,4))@25Gbps' --degrade a-b=0.5 --switch-degree ports --offload --no-nvls --group=-1,2 --collective allgather -o out.json",
    );
    const file = fileOf("it's mine.txt", "");
    expect(commandOf({ network: { topology: "", file, options: {} }, options: {} }, "a b.json")).toBe(
      "banyan synth 'it'\\''s mine.txt' --collective allgather -o 'a b.json'",
    );
  });

  it("name the place, and tell want of memory from mistakes", () => {
    expect(failureOf(new InputError("--size", "a size", "x"))).toMatchObject({ kind: "input", place: "--size" });
    expect(failureOf(new InternalError("a kernel ran out of memory", true)).kind).toBe("memory");
    expect(failureOf(new InternalError("a kernel ran out of memory")).kind).toBe("internal");
    expect(failureOf(new RangeError("Array buffer allocation failed")).kind).toBe("memory");
  });
});
