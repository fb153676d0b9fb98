import { describe, expect, it, test } from "vitest";
import { parseSize } from "../../../src/model/numbers/units.ts";
import type { Report } from "../../../src/report/result.ts";
import { exportGroups, optionsFor } from "../../../src/web/panels/export-groups.ts";
import { factsOf } from "../../../src/web/panels/facts.ts";
import { fileOfText, looksLikeFile } from "../../../src/web/panels/given-text.ts";
import { LEAST, MOST, powerOfSize, sizeOfPower } from "../../../src/web/panels/sizes.ts";
import { tabAfter } from "../../../src/web/panels/tabs.ts";
import { exportsOf } from "../../../src/web/worker/export.ts";
import { ask, wishOf } from "../../support/worker-asks.ts";

describe("sizes", () => {
  test("every place of the slider is a size that is read as such", () => {
    for (let power = LEAST; power <= MOST; power++) {
      expect(parseSize(sizeOfPower(power))).toBe(2 ** power);
      expect(powerOfSize(sizeOfPower(power))).toBe(power);
    }
  });
  test("sizes between and beyond go to the nearest place, other texts to none", () => {
    expect(powerOfSize("100MB")).toBe(27);
    expect(powerOfSize("1")).toBe(LEAST);
    expect(powerOfSize("1TiB")).toBe(MOST);
    expect(powerOfSize("banana")).toBeNull();
  });
});

describe("pasted texts", () => {
  test("the name tells what it looks like", () => {
    expect(fileOfText(' {"a": 1}').name).toBe("pasted.json");
    expect(fileOfText("<system/>").name).toBe("pasted.xml");
    expect(fileOfText("\tGPU0\tGPU1\nGPU0\t X \tNV4").name).toBe("pasted.txt");
  });
  test("a word is no file", () => {
    expect(looksLikeFile("mesh:4x4\n")).toBe(false);
    expect(looksLikeFile("\tGPU0\nGPU0\tX")).toBe(true);
    expect(looksLikeFile('{"format":"banyan-topology"}')).toBe(true);
  });
});

it("says how many of the threads that there are made a schedule", async () => {
  const { report } = await ask("make", { wish: wishOf("ring:2", { collective: "allgather", size: "4MiB" }) });
  const facts = (threads: number, lent: number) =>
    new Map(factsOf({ ...report, synthesis: { ...(report as Report).synthesis, threads } }, 1, lent));
  expect(facts(1, 2).get("Kernels")).toMatch(/, 1 of 2 threads$/);
  expect(facts(2, 2).get("Kernels")).toMatch(/, 2 threads$/);
  expect(facts(1, 1).get("Kernels")).toMatch(/, 1 thread$/);
  expect(facts(1, 1).get("Size")).toBe("4 MiB, 1 chunk per NPU");
});

describe("downloads", () => {
  const formats = exportsOf();
  const names = (kind: "schedule" | "network" | "program"): string[] =>
    exportGroups(formats, kind).flatMap(({ formats: found }) => found.map(({ name }) => name));

  test("everything that can be written of a network or program is offered once", () => {
    for (const kind of ["network", "program"] as const) {
      const all = formats.filter(({ of }) => of.includes(kind)).map(({ name }) => name);
      expect(names(kind).toSorted()).toEqual(all.toSorted());
    }
  });
  test("of a schedule everything but what its network is offered for", () => {
    const missing = formats.filter(({ name, of }) => of.includes("schedule") && !names("schedule").includes(name));
    for (const { of } of missing) expect(of).toContain("network");
    expect(names("schedule")).toEqual(expect.arrayContaining(["json", "bys", "msccl-xml", "mscclpp-json", "svg"]));
  });
  test("formats that are no programs get no options of programs, plans none of XML", () => {
    const options = { dialect: "rccl", parts: "2", instances: "2" };
    expect(optionsFor("json", options)).toEqual({});
    expect(optionsFor("msccl-xml", options)).toEqual(options);
    expect(optionsFor("mscclpp-json", options)).toEqual({ instances: "2" });
  });
});

test("arrows walk round the tabs, other keys do nothing", () => {
  expect(tabAfter("ArrowRight", 6, 7)).toBe(0);
  expect(tabAfter("ArrowLeft", 0, 7)).toBe(6);
  expect(tabAfter("Home", 3, 7)).toBe(0);
  expect(tabAfter("End", 3, 7)).toBe(6);
  expect(tabAfter("a", 3, 7)).toBeNull();
});
