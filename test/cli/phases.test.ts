import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { phasesToJson } from "../../src/export/schedules/phases-json.ts";
import { commandsHere } from "../support/cli-here.ts";
import { PHASE_NETWORKS, type PhaseNetwork } from "../support/phase-cases.ts";
import { builtPhases, plannedPhases } from "../support/phase-schedules.ts";
import { refused, unexpected } from "../support/refusals.ts";

const here = commandsHere();
const reduce = (network: string, more = "") => `synth ${network} --collective allreduce --algorithm themis${more}`;

/** Writes the phases of two chunks on two boxes of 8; `change` breaks the file. */
function smallFile(name: string, change: (file: { phases: { endPs: number[] } }) => void = () => undefined): string {
  const orders = [
    [0, 1],
    [1, 0],
  ];
  const plan = {
    ...(PHASE_NETWORKS["one switch for all"] as PhaseNetwork),
    kind: "allreduce",
    sizeBytes: 2 ** 20,
    orders,
  } as const;
  const file = JSON.parse(phasesToJson(builtPhases(plannedPhases(plan))));
  change(file);
  return here.put(name, file);
}

describe("synth with phases", () => {
  it("shows the dimensions of phases that became steps, whose file is one of steps", async () => {
    const text = await here.run(reduce("torus:4x4", " --size 64MiB --chunks 4 -o steps.json"));
    expect(text).toMatch(/schedule +3840 transfers by themis, verified/);
    expect(text).toMatch(/dimension +lines +an NPU +used +by/);
    expect(text).toMatch(/\n +1 +ring:4 +100 GB\/s +[\d.]+ % +ring\n +all +200 GB\/s/);
    expect(text).toMatch(/\n +limit .* any algorithm: .*\n.*\n +schedule .* 100 % +network\/cut-through\n/);
    expect(await here.json("verify steps.json")).toMatchObject({ correct: true });
  });

  it("shows phases where they stay such, and writes a file that all commands know", async () => {
    const text = await here.run(reduce("torus:16x16", " --chunks 32 -o big.json"));
    expect(text).toMatch(/schedule +128 phases of 32 chunks by themis \(about 8355840 transfers\), verified\n/);
    expect(text).toMatch(
      /\n +schedule +[\d.]+ ms .* % +dimensions\n +gap +[\d.]+ us is the time that the first and last chunks take/,
    );
    expect(text).toMatch(/file +big\.json \([\d.]+ KiB\)\n$/);
    const made = await here.json(reduce("torus:16x16", " --chunks 32 -o big.json"));
    expect(made).toMatchObject({ schedule: { kind: "phases", phases: 128, file: "big.json" } });
    expect(await here.run("verify big.json --topology torus:16x16")).toMatch(
      /^correct: 128 phases of 32 chunks make all-reduce of 1 GiB, 8192 chunks of 128 KiB, among all 256 NPUs of torus:16x16 \(1024 links, hash [0-9a-f]{16}\) in [\d.]+ ms\nthe times and limits written in the file were not re-checked; .*\n$/,
    );
    expect(await here.json("verify big.json")).toMatchObject({ correct: true, phases: 128, transfers: 8355840 });
    const simulated = await here.json("simulate big.json");
    expect(simulated).toMatchObject({
      time: made.time,
      limit: made.limit,
      perDimension: made.perDimension,
      verified: true,
    });
    expect(await here.run("simulate big.json")).toMatch(/dimension +lines +an NPU/);
    expect(await here.run("explain big.json")).toMatch(/chunks begin: \d+ in dimension 0, \d+ in dimension 1\n/);
    expect(await here.run("topology big.json")).toMatch(/NPUs +256/);
    await here.run("export big.json --to json -o copy.json --quiet");
    const [first, second] = ["big.json", "copy.json"].map((name) => JSON.parse(readFileSync(here.at(name), "utf8")));
    expect({ ...second, about: first.about, claims: first.claims }).toEqual(first);
  });

  it("plans groups along dimensions, which stay phases where they are many", async () => {
    const columns = Array.from({ length: 8 }, (_, x) => Array.from({ length: 16 }, (_, y) => 2 * x + 16 * y).join());
    const report = await here.json(reduce("torus:16x16", ` --chunks 300 --group ${columns.join(";")} -o groups.json`));
    expect(report).toMatchObject({
      collective: { groups: 8, groupSize: 16, chunksPerNpu: 300 },
      schedule: { kind: "phases", phases: 600, file: "groups.json" },
      classLimit: { of: "phases" },
    });
    expect(await here.json("verify groups.json")).toMatchObject({ correct: true, phases: 600 });
    expect(await here.run("verify groups.json --independent")).toMatch(/checked: rules/);
    expect(await here.json("simulate groups.json")).toMatchObject({ time: report.time, verified: true });
    expect(await here.run("explain groups.json")).toMatch(/in each of 8 groups of 16 NPUs/);
    expect(await here.run("export groups.json --to json -o again.json")).toContain("again.json");
  });

  it("goes around links that failed", async () => {
    const report = await here.json(reduce("torus:4x4", " --without 0-1 --chunks 4 -o around.json"));
    expect(report).toMatchObject({ schedule: { kind: "steps" }, verified: true });
    expect(report.notes).toContain(
      "planned for the network before 2 of its links failed: what they would carry takes detours",
    );
    expect(await here.json("verify around.json")).toMatchObject({ correct: true });
    const whole = await here.json(reduce("torus:4x4", " --chunks 4"));
    expect(report.time.us).toBeGreaterThan(whole.time.us);
    await here.refuses(reduce("torus:16x16", " --without 0-1 --chunks 512"), refused("out-of-range", "chunks", 512));
  });

  it("offloads where switches can", async () => {
    const report = await here.json(reduce("dgx-h100:2", " --offload"));
    expect(report.perDimension.dimensions[0]).toMatchObject({ kind: "switch", size: 8, algorithm: "offload" });
    expect(report.schedule).toMatchObject({ kind: "phases", transfers: null });
    const text = await here.run(reduce("dgx-h100:2", " --offload"));
    expect(text).toMatch(/\(sums in switches, not transfers between NPUs\), verified/);
    await here.refuses(reduce("dgx-a100:2", " --offload"), unexpected("offload", "dgx-a100:2"));
    for (const network of ["switch:16,sum*switch:8,sum@1200,800Gbps,0.35,0.85us", "themis:2d-sw-sw,sum"]) {
      const { perDimension } = await here.json(reduce(network, " --offload --chunks 8"));
      expect(perDimension.dimensions.map(({ algorithm }: { algorithm: string }) => algorithm)).toEqual([
        "offload",
        "offload",
      ]);
    }
    await here.refuses(
      reduce("switch:4,sum*switch:4", " --offload --without 0-d0s0"),
      unexpected("offload", "switch:4,sum*switch:4 without 0-d0s0"),
    );
  });

  it("refuses what phases have no room for", async () => {
    await here.refuses(
      reduce("torus:16x16", " --chunks 32 -o big.bys"),
      refused("not-applicable", "output", "big.bys", "--to"),
    );
    await here.refuses(
      reduce("torus:4x4", " --without 5"),
      refused("not-applicable", "algorithm", "themis", "4 x 4", 16),
    );
    await here.refuses(reduce("torus:4x4", " --root 3"), refused("not-together", "root", "3"));
    await here.refuses(reduce("torus:4x4", " --group 0,5"), refused("not-applicable", "algorithm", "themis"));
    await here.refuses(reduce("torus:4x4", " --group 0,1;4,8"), refused("not-applicable", "algorithm", "themis"));
  });
});

describe("a file of phases", () => {
  it("is written as steps, which the judges of steps accept", async () => {
    smallFile("small.json");
    expect(await here.run("export small.json --to steps -o steps.json")).toMatch(/^steps\.json: 960 transfers, /);
    expect(await here.json("verify steps.json")).toMatchObject({ correct: true, transfers: 960 });
    const [phases, steps] = [await here.json("simulate small.json"), await here.json("simulate steps.json")];
    expect(steps.time.us / phases.time.us).toBeLessThan(1.2);
    expect(await here.run("export small.json --to svg --view topology -o net.svg")).toMatch(/a picture of topology/);
  });

  it.each(["bys", "report", "svg", "perfetto", "msccl-xml", "chakra"])("has to become steps before --to %s", (format) =>
    here.refuses(
      `export ${smallFile("small.json")} --to ${format} -o out`,
      /--to.* is 8 phases; it must be a schedule of transfers \(`banyan export FILE --to steps` makes one of phases\)/,
    ),
  );

  it.each(["--reference", "--trace t.json", "--switching cut-through", "--chunks 2"])(
    "is simulated without %s",
    (more) => here.refuses(`simulate ${smallFile("small.json")} ${more}`, / needs a schedule of transfers beside it/),
  );

  it("that is wrong is told by all", async () => {
    const wrong = smallFile("wrong.json", ({ phases }) => {
      phases.endPs[0]--;
    });
    const sentence = "the reduce-scatter of chunk 0 in dimension 0 (phase 0) takes";
    expect(await here.run(`verify ${wrong}`, 1)).toContain(`wrong: 1 violation in wrong.json\n  ${sentence}`);
    expect(await here.json(`verify ${wrong}`, 1)).toMatchObject({ correct: false, transfers: null, violationCount: 1 });
    expect(await here.run(`explain ${wrong}`, 1)).toContain(`\n  wrong: ${sentence}`);
    await here.refuses(
      `export ${wrong} --to steps -o out.json`,
      unexpected(
        "--to steps",
        "the reduce-scatter of chunk 0 in dimension 0 (phase 0) takes 4.529173 us, less than the 4.529174 us it needs",
      ),
    );
    await here.refuses(
      `simulate ${wrong}`,
      "these phases are wrong (1 violation; `banyan verify wrong.json` lists them)",
      1,
    );
  });
});
