import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { periodsToJson } from "../../src/export/schedules/periods-json.ts";
import { withChunks } from "../../src/model/collective/collective.ts";
import { commandsHere } from "../support/cli-here.ts";
import { plainPeriods } from "../support/plain-periods.ts";

const here = commandsHere();
beforeEach(() => {
  here.put("p.json", periodsToJson(plainPeriods()));
});

describe("periods", () => {
  it("are judged, simulated and explained", async () => {
    expect(await here.run("verify p.json")).toMatch(
      /^correct: 2 trees, 2 rounds of 240 ns make all-reduce of 15 KB, 3 chunks of 5 KB, .* in 580 ns\n$/,
    );
    expect(await here.json("verify p.json")).toMatchObject({ correct: true, trees: 2, rounds: 2, transfers: 12 });
    const simulated = await here.json("simulate p.json");
    expect(simulated).toMatchObject({ time: { ps: 580_000, model: "network/cut-through" }, verified: true });
    const told = await here.run("explain p.json");
    expect(told).toMatch(/in 2 rounds of 2 trees, the last one of 1 chunk on chain, 580 ns/);
    expect(told).toMatch(/tree 1: root 0, 2 edges .* whole at 340 ns and everywhere at 580 ns/);
    expect(await here.run("verify p.json --independent")).toMatch(/^checked: rules: 2 trees in periods/);
  });

  it("are written as files of their own, and as transfers, which are no later", async () => {
    await here.run("export p.json --to bys -o p.bys");
    await here.run("export p.bys --to json -o again.json");
    expect(readFileSync(here.at("again.json"), "utf8")).toBe(readFileSync(here.at("p.json"), "utf8"));
    await here.run("export p.bys --to steps -o s.json");
    const steps = await here.json("simulate s.json");
    expect(steps).toMatchObject({ transfers: 12, verified: true });
    expect((steps["time"] as { readonly ps: number }).ps).toBeLessThanOrEqual(580_000);
    for (const to of ["csv", "svg", "report", "perfetto", "jax", "msccl-xml", "mscclpp-json"])
      expect(await here.json(`export p.json --to ${to} -o x-${to}`)).toMatchObject({ ok: true });
  });

  it("of too many transfers are whole in their own files, and refused as transfers", async () => {
    const plain = plainPeriods();
    const many = { ...plain, collective: withChunks({ ...plain.collective, sizeBytes: 15_000 * 2e6 }, 2e6) };
    here.put("many.json", periodsToJson(many));
    expect(await here.json("verify many.json")).toMatchObject({ correct: true, rounds: 3e6, transfers: 2.4e7 });
    await here.run("export many.json --to bys -o many.bys");
    await here.run("export many.json --to svg --view links -o links.svg");
    for (const to of ["steps", "csv", "jax"]) {
      const { code, err } = await here.ends(`export many.json --to ${to} -o x`);
      expect([to, code, err]).toEqual([to, 2, expect.stringContaining("a schedule of at most 2e+7 transfers")]);
    }
    expect((await here.ends("simulate many.json --switching store-and-forward")).code).toBe(2);
  });

  it("that are wrong are told so everywhere", async () => {
    const plain = plainPeriods();
    here.put("w.json", periodsToJson({ ...plain, periodPs: 200_000 }));
    expect((await here.ends("verify w.json")).code).toBe(1);
    expect((await here.ends("simulate w.json")).code).toBe(1);
    expect((await here.ends("export w.json --to steps -o x.json")).code).toBe(2);
    expect((await here.ends("verify w.json --independent")).out).toMatch(/WRONG: rules: route 0 is held/);
  });

  it("may be written as JSON where their transfers would be too long for it; who reads texts says what a .bys file is", async () => {
    const made = await here.json("synth mesh:20x20 -c allreduce -s 1GiB --chunks 64 -o made.json");
    expect(made["schedule"]).toMatchObject({ kind: "periods", transfers: 20_428_800 });
    await here.run("export made.json --to bys -o made.bys");
    await here.refuses(
      "verify made.bys --independent",
      "made.bys is a .bys file, and a text is wanted; `banyan export made.bys --to json` writes it as one",
    );
  });
});
