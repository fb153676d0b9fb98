import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ncclTestsTable } from "../../src/export/tables/nccl-tests.ts";
import { commandsHere } from "../support/cli-here.ts";
import { refused, unexpected } from "../support/refusals.ts";

const here = commandsHere();
const SIZES = [12, 16, 20, 24, 28].map((power) => 2 ** power);
/** An all-reduce in one box: 28 links of 1.7 us, 1.75 of the size over 231 GB/s. */
const LOG = ncclTestsTable({
  collective: "allreduce",
  ranks: 8,
  network: "box",
  version: "1",
  rows: SIZES.map((sizeBytes) => ({ sizeBytes, us: 28 * 1.7 + (1.75 * sizeBytes) / 231e3, algorithm: "ring" })),
});
const run = (line: string) => {
  here.put("all_reduce.log", LOG);
  return here.ends(line);
};

describe("banyan calibrate", () => {
  it("shows the links before and after, and the error of every point", async () => {
    const { out, code } = await run("calibrate dgx-a100:1 all_reduce.log --regimes 2");
    expect(code).toBe(0);
    expect(out).toMatch(/GPU-NVSwitch 300 GB\/s {2}16 links +300 GB\/s +231 \+- \S+ GB\/s +0\.5 us +1\.7 \+- \S+ us/);
    expect(out).toContain("large sizes are limited by GPU-NVSwitch 300 GB/s");
    expect(out.match(/^ +allreduce +8 /gm)?.length).toBe(SIZES.length);
    expect(out).toContain("errors with a line for each range");
  });

  it("says what the size that was asked for takes", async () => {
    const { out } = await run("calibrate dgx-a100:1 all_reduce.log --regimes 2 --size 3MiB");
    // 28 x 1.7 us, and 1.75 x 3 MiB through 231 GB/s
    expect(out).toMatch(/note: 3 MiB takes by the line of its range: allreduce among 8 71\.4\d* us\n/);
  });

  it("refuses a log that was given before, also under another name", async () => {
    here.put("copy.log", LOG);
    const twice = await run("calibrate dgx-a100:1 all_reduce.log all_reduce.log");
    expect(twice.failure).toMatchObject({ code: 2, mistake: { code: "not-together" } });
    const copied = await run("calibrate dgx-a100:1 all_reduce.log copy.log");
    expect(copied.err).toMatch(/copy\.log is the same log as all_reduce\.log/);
  });

  it("says what it wrote, and shows the worst and the largest of many points", async () => {
    const rows = Array.from({ length: 40 }, (_, i) => ({
      sizeBytes: 4096 * (i + 1),
      us: 28 * 1.7 + i + (i % 9 === 5 ? 9 : 0),
      algorithm: "ring",
    }));
    const many = ncclTestsTable({ collective: "allreduce", ranks: 8, network: "box", version: "1", rows });
    here.put("many.log", many);
    const { out } = await run("calibrate dgx-a100:1 many.log -o many.json");
    expect(out).toMatch(/^ {2}file {8}many\.json$/m);
    expect(out.match(/^ +allreduce +8 /gm)?.length).toBe(24);
    expect(out).toContain("and 16 more");
    for (const size of ["24 KiB", "60 KiB", "96 KiB", "132 KiB", "160 KiB"]) expect(out).toContain(`  ${size} `);
    expect(out).toContain("what a call costs by itself (launch) is not part of a network");
  });

  it("writes the range of sizes, and other commands say what lies beyond it", async () => {
    await run("calibrate dgx-a100:1 all_reduce.log -o ranged.json --quiet");
    const file = JSON.parse(readFileSync(here.at("ranged.json"), "utf8"));
    expect(file.measured).toEqual({ fromBytes: 2 ** 12, toBytes: 2 ** 28 });
    const beyond = "the network's figures were measured from 4 KiB to 256 MiB; at 1 GiB they are extrapolated";
    const told = async (line: string) => JSON.parse((await here.ends(`${line} --json`)).out);
    const synth = "synth ranged.json -c allreduce -a ring --chunks 1";
    expect((await told(`${synth} -s 1GiB`)).notes).toEqual([beyond]);
    expect((await told(`${synth} -s 256MiB -o in.json`)).notes).toBeUndefined();
    expect((await told(`${synth} --without 7 -s 1GiB -o out.json`)).notes).toEqual([beyond]);
    expect((await told("simulate out.json")).warnings).toEqual([beyond]);
    expect((await told("simulate in.json")).warnings).toEqual([]);
    const compared = await told("compare ranged.json -c allreduce --algorithms ring --chunks 1 --sizes 1KiB,1MiB,1GiB");
    expect(compared.warnings).toContain(beyond.replace("at 1 GiB", "at 1 KiB, 1 GiB"));
    expect((await told("bound ranged.json -c allreduce -s 1GiB")).warnings).toEqual([beyond]);
    const without = await run("topology ranged.json --json");
    const { measured: _, ...bare } = file;
    here.put("bare.json", JSON.stringify(bare));
    expect(JSON.parse((await run("topology bare.json --json")).out).hash).toBe(JSON.parse(without.out).hash);
    here.put("wrong.json", JSON.stringify({ ...file, measured: { fromBytes: 9, toBytes: 1 } }));
    expect((await here.ends("topology wrong.json")).failure).toMatchObject({ place: "wrong.json: measured.toBytes" });
  });

  it("writes a network that other commands take", async () => {
    const { out, err, code } = await run("calibrate dgx-a100:1 all_reduce.log -o ours.json --quiet");
    expect([out, err, code]).toEqual(["", "", 0]);
    const file = JSON.parse(readFileSync(here.at("ours.json"), "utf8"));
    expect(file.sources[0]).toMatch(
      /^calibrated: 5 points, \S+ \S+ to \S+ \S+, of allreduce as ring \(all_reduce\.log\)/,
    );
    expect(file.links[0].bandwidthGBps).toBeCloseTo(231, 0);
    expect(file.name).toBe("dgx-a100:1 calibrated");
    const shown = await run("topology ours.json --json");
    expect(JSON.parse(shown.out).links[0].latencyUs).toBeCloseTo(1.7, 2);
  });

  it("takes hosts with one GPU each on a network without boxes, and any algorithm; other commands take what it writes", async () => {
    const rows = SIZES.map((sizeBytes) => ({ sizeBytes, us: 20 + sizeBytes / 40e3, algorithm: "ring" }));
    const table = ncclTestsTable({ collective: "allgather", ranks: 8, network: "K", version: "1", rows });
    const devices = Array.from({ length: 8 }, (_, r) => `#  Rank ${r} Pid 9 on host${r} device 0 [0x07] some GPU\n`);
    here.put("direct.log", `${devices.join("")}${table}`);
    const { out, code } = await here.ends("calibrate K(4,4) direct.log --algorithm bfb -o k.json");
    expect(code).toBe(0);
    expect(out).toContain("note: 5 schedules of bfb, made for K(4,4) as it was, simulated with the fitted figures");
    expect(out).toMatch(/GPU-GPU 50 GB\/s {2}32 links +50 GB\/s +[\d.]+ \+- \S+ GB\/s +0\.5 us +10\.\d+ \+- \S+ us/);
    const again = await here.ends("bound k.json --collective allgather --json");
    expect(again.code).toBe(0);
  });

  it("prints one JSON object", async () => {
    const { out } = await run("calibrate dgx-a100:1 all_reduce.log --json");
    const report = JSON.parse(out);
    expect(report).toMatchObject({ schema: "banyan/calibration@1", topology: "dgx-a100:1", algorithm: "ring" });
    expect(report.points.length).toBe(SIZES.length);
  });

  it.each([
    ["calibrate dgx-a100:1", expect.objectContaining({ kind: "input", code: 2, place: "LOG" })],
    ["calibrate dgx-a100:1 absent.log", unexpected("LOG", "absent.log")],
    ["calibrate dgx-a100:1 all_reduce.log --size 1MiB", refused("not-alone", "sizeBytes", "1MiB", "--regimes", 2)],
    ["calibrate dgx-a100:1 all_reduce.log --algorithm tacoz", refused("unknown-name", "algorithm", "tacoz")],
    ["calibrate dgx-a100:1 all_reduce.log --chunks 2", refused("not-together", "chunks", 2)],
    ["calibrate dgx-a100:1 all_reduce.log --algorithm tacos --regimes 2", refused("not-together", "regimes", 2)],
  ])("refuses %s in one line", async (line, refusal) => {
    const { out, code, failure } = await run(line);
    expect([out, code, failure]).toEqual(["", 2, refusal]);
  });
});
