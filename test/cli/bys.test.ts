import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { bytesSource, readBys } from "../../src/import/schedules/bys.ts";
import { readSchedule } from "../../src/import/schedules/schedule-json.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { expandSlots, type SlotSchedule } from "../../src/model/slots/slot-schedule.ts";
import { joined } from "../support/bys-files.ts";
import { compile, MAIN } from "../support/cli.ts";
import { commandsHere } from "../support/cli-here.ts";
import { foldedSlots, keptFolded } from "../support/folded-slots.ts";
import { greedySlots, ringSlots } from "../support/greedy-slots.ts";
import { refused as refusal } from "../support/refusals.ts";

const here = commandsHere();
const { json, ends } = here;
const bytesOf = (name: string): Buffer => readFileSync(here.at(name));

/** Runs a command that must be refused; returns its line. */
async function refused(line: string): Promise<string> {
  const before = readdirSync(here.at()).sort();
  const { code, out, err } = await ends(line);
  expect([code, out]).toEqual([2, ""]);
  expect(readdirSync(here.at()).sort()).toEqual(before);
  return err;
}

const MESH = presetTopology("mesh:4x4");
const slots = greedySlots(MESH, "allreduce", 2, 1);
writeFileSync(here.at("slots.bys"), joined(slots));
writeFileSync(here.at("folded.bys"), joined(keptFolded(foldedSlots(MESH, "allreduce", 2, 1))));
writeFileSync(here.at("ring.any-name"), joined(ringSlots(presetTopology("ring:8"), "allgather")));

describe("a .bys file", () => {
  it("is written by synth, and judged and simulated like JSON", async () => {
    const made = await json("synth dgx-a100:2 --collective allreduce --size 1MiB --trials 2 -o a.bys");
    expect(made.schedule.file).toBe("a.bys");
    await json("synth dgx-a100:2 --collective allreduce --size 1MiB --trials 2 -o a.json");
    expect(readBys(bytesSource(bytesOf("a.bys")), "a")).toEqual(readSchedule(bytesOf("a.json").toString(), "a"));
    for (const command of ["verify", "simulate", "simulate --reference"]) {
      const [fromBys, fromJson] = [await json(`${command} a.bys`), await json(`${command} a.json`)];
      expect({ ...fromBys, file: "" }).toEqual({ ...fromJson, file: "", claims: undefined });
    }
  });

  it.each(["slots.bys", "folded.bys", "ring.any-name"])(
    "of arrival logs (%s) is judged and simulated as its transfers",
    async (name) => {
      await json(`export ${name} --to json -o steps.json`);
      for (const command of ["verify", "simulate", "simulate --reference", "simulate --trace t.json"]) {
        const [fromSlots, fromSteps] = [await json(`${command} ${name}`), await json(`${command} steps.json`)];
        expect({ ...fromSlots, file: "" }).toEqual({ ...fromSteps, file: "" });
      }
    },
  );

  it("holds one log of each orbit of a large mesh, and is judged and simulated so", async () => {
    const made = await json("synth mesh:46x46 --collective allgather -o mesh.bys");
    const transfers = 2116 * 2115;
    expect(made).toMatchObject({ schedule: { transfers }, verified: true });
    // of 2,116 NPUs 276; two bytes and a quarter of a transfer
    expect(bytesOf("mesh.bys").length).toBeLessThan((2.6 * transfers * 276) / 2116 + 150 * 8464);
    expect(await json("verify mesh.bys")).toMatchObject({ ok: true });
    expect((await json("simulate mesh.bys")).time).toEqual(made.time);
  });

  it("stands for its network", async () => {
    expect(await json("bound slots.bys --collective allgather")).toEqual(
      await json("bound mesh:4x4 --collective allgather"),
    );
  });

  it("is refused for another network", async () => {
    expect(await refused("verify slots.bys --topology mesh:5x5")).toBe(
      "banyan: slots.bys is for mesh:4x4, not mesh:5x5\n",
    );
    expect((await json("verify slots.bys --topology mesh:4x4")).correct).toBe(true);
  });

  it("that is wrong gets its violations and exit code 1", async () => {
    const wrong: SlotSchedule = { ...slots, slotPs: slots.slotPs - 1 };
    writeFileSync(here.at("wrong.bys"), joined(wrong));
    expect((await json("verify wrong.bys", 1)).violationCount).toBeGreaterThan(0);
  });

  it.skipIf(process.platform === "win32")("comes through a pipe", async () => {
    await compile();
    const command = `cat slots.bys | "${process.execPath}" "${MAIN}" verify /dev/stdin`;
    const { stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8", cwd: here.at() });
    expect([stdout.slice(0, 8), stderr]).toEqual(["correct:", ""]);
  });
});

describe("a damaged .bys file gets exit code 2 and one line that names the place", () => {
  const whole = joined(slots);

  it("cut short", async () => {
    writeFileSync(here.at("short.bys"), whole.subarray(0, -60));
    expect(await refused("verify short.bys")).toBe(
      `banyan: short.bys is damaged: it ends after ${whole.length - 60} bytes, within block 0 of it (logs 0 to 15)\n`,
    );
  });

  it("with a bit turned over", async () => {
    const broken = whole.slice();
    broken[whole.length - 100] ^= 16;
    writeFileSync(here.at("bit.bys"), broken);
    const line = "banyan: block 0 of bit.bys (logs 0 to 15) is damaged: its checksum does not match\n";
    for (const command of ["verify bit.bys", "simulate bit.bys", "export bit.bys --to json -o no.json"]) {
      expect(await refused(command)).toBe(line);
    }
    expect(existsSync(here.at("no.json"))).toBe(false);
  });

  it("taken for text on its way", async () => {
    writeFileSync(here.at("text.bys"), Buffer.from(whole).toString("latin1").replaceAll("\n", "\r\n"), "latin1");
    expect(await refused("topology text.bys")).toBe(
      "banyan: text.bys is damaged: its first bytes are those of a transfer as text\n",
    );
  });
});

describe("banyan export", () => {
  it("goes from JSON to .bys and back without a change", async () => {
    await json("export slots.bys --to json -o one.json");
    expect(await json("export one.json --to bys -o two.bys")).toEqual({
      schema: "banyan/export@1",
      verb: "export",
      ok: true,
      warnings: [],
      file: "one.json",
      to: "bys",
      output: "two.bys",
      transfers: 2 * 15 * 32,
      bytes: bytesOf("two.bys").length,
      notes: [],
    });
    expect(readBys(bytesSource(bytesOf("two.bys")), "two")).toEqual(expandSlots(slots));
    const { code, out, err } = await ends("export two.bys --to json -o three.json");
    expect([code, out.replace(/, [\d.]+ KiB/, ", SIZE"), err]).toEqual([0, "three.json: 960 transfers, SIZE\n", ""]);
    expect(bytesOf("three.json")).toEqual(bytesOf("one.json"));
  });

  it("writes a trace of the plan", async () => {
    await json("export slots.bys --to perfetto -o plan.json");
    const { traceEvents } = JSON.parse(bytesOf("plan.json").toString());
    expect(traceEvents.filter(({ ph }: { ph: string }) => ph === "X")).toHaveLength(960);
  });

  it("refuses other formats, and needs to know where to", async () => {
    await here.refuses(
      "export slots.bys --to xml -o x",
      refusal("unknown-name", "to", "xml", "json", "bys", "steps", "perfetto", "msccl-xml"),
    );
    expect(await refused("export slots.bys --to json")).toBe(
      "banyan: -o is missing, the file to write; see `banyan export --help`\n",
    );
  });
});

describe("what would not fit is refused before the work", () => {
  it("JSON that could not be read back", async () => {
    expect(await refused("synth mesh:80x80 --collective allgather -o big.json")).toMatch(
      /^banyan: -o is "big\.json"; it must be a \.bys file for so many transfers \(JSON would take about 1\.\d GiB, more than can be read back\)\n$/,
    );
  });
});
