import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scheduleJsonParts } from "../../src/export/schedules/schedule-json.ts";
import { judgeIndependently } from "../../src/independent/independent.ts";
import { ringSchedule } from "../support/ring-schedule.ts";

it("is one file that runs by itself, away from the rest", () => {
  const packed = join(import.meta.dirname, "../../dist/independent.js");
  const packedText = readFileSync(packed, "utf8");
  const outside = [...packedText.matchAll(/^(?:import|export) .*from "(.+)"|\bimport\("(.+)"\)/gm)].map(
    ([, a, b]) => a ?? b,
  );
  expect([...new Set(outside)]).toEqual(["node:fs"]);
  const folder = mkdtempSync(join(tmpdir(), "banyan-independent-"));
  try {
    const [program, file] = [join(folder, "independent.js"), join(folder, "ring.json")];
    copyFileSync(packed, program);
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const text = [...scheduleJsonParts(ringSchedule())].join("");
    writeFileSync(file, text);
    const said = JSON.parse(execFileSync(process.execPath, [program, file, "--json"], { encoding: "utf8" }));
    expect(said).toEqual(JSON.parse(JSON.stringify(judgeIndependently(text))));
    const { status, stderr } = spawnSync(process.execPath, [program, join(folder, "none.json")], { encoding: "utf8" });
    expect([status, stderr]).toEqual([2, `${join(folder, "none.json")} cannot be read (ENOENT)\n`]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
