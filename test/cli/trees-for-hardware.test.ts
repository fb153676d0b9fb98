import { describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";
import { refused, unexpected } from "../support/refusals.ts";

const here = commandsHere();
const reduce = (network: string, algorithm: string, more = "") =>
  `synth ${network} --collective allreduce --size 1GiB --algorithm ${algorithm}${more}`;

describe("trees for one kind of hardware", () => {
  it.each([
    ["dgx1", "c-cube", "50", 1],
    ["mesh:4x4", "tto", "75", 1],
    ["dgx-h100:1", "nvls", "400", 1],
    ["dgx-h100:4", "nvls", "800/3", 4],
  ])(
    "make on %s by %s %s GB/s, which verify, explain and simulate read from the file",
    async (network, algorithm, gbps) => {
      const group = network === "mesh:4x4" ? ` --group ${[...Array(15).keys()].join(",")}` : "";
      const report = await here.json(reduce(network, algorithm, `${group} -o trees.json`));
      expect(report).toMatchObject({ algorithm, throughput: { exact: gbps }, verified: true });
      expect(report.time.algbwGBps).toBeLessThanOrEqual(report.throughput.algbwGBps);
      expect(report.time.algbwGBps).toBeGreaterThan(0.95 * report.throughput.algbwGBps);
      expect(await here.run("verify trees.json")).toMatch(/^correct: /);
      expect(await here.run("explain trees.json")).toContain("allreduce by trees on ");
      const again = await here.json("simulate trees.json");
      expect(again.time.us).toBe(report.time.us);
    },
  );

  it("come near the limit with switches that sum, where nothing else can", async () => {
    const sixteen = "--collective allreduce --size 16GiB --algorithm";
    const report = await here.json(`synth dgx-h100:1 ${sixteen} nvls`);
    // but for the members' own parts, which pass the switch too
    expect(report.ofLimit).toBeGreaterThan(0.99 * (8 / 9));
    expect(report.traffic).toBeUndefined();
    const other = await here.json(`synth dgx-h100:1 ${sixteen} forestcoll`);
    // 2 (N - 1) / N of the data through each port, where switches only forward
    expect(other.ofLimit).toBeLessThan(8 / 14);
    expect(other.ofLimit).toBeGreaterThan(0.98 * (8 / 14));
  });

  it("have the copies that they have, also where all numbers may be tried", async () => {
    for (const [network, algorithm] of [
      ["dgx1", "c-cube"],
      ["dgx-h100:1", "nvls"],
      ["ring:8", "multitree"],
    ]) {
      const { throughput } = await here.json(reduce(network, algorithm));
      expect((await here.json(reduce(network, algorithm, " --k auto"))).throughput).toEqual(throughput);
      await here.refuses(reduce(network, algorithm, " --k 2"), unexpected("k", 2));
    }
  });

  it("are for what they are for alone", async () => {
    await here.refuses(reduce("ring:8", "c-cube"), refused("not-applicable", "algorithm", "c-cube", 8));
    await here.refuses(reduce("torus:4x4", "tto"), refused("not-applicable", "algorithm", "tto"));
    await here.refuses(reduce("dgx-a100:1", "nvls"), refused("not-applicable", "algorithm", "nvls"));
    await here.refuses(reduce("dgx-h100:1", "nvls", " --no-nvls"), refused("not-applicable", "nvls", "nvls"));
  });

  it("are no steps, nor messages, where switches sum", async () => {
    await here.run(reduce("dgx-h100:1", "nvls", " --quiet -o box.json"));
    const received = "trees whose switches duplicate and sum (NVLS)";
    for (const to of ["bys", "steps", "chakra", "msccl-xml"])
      await here.refuses(
        `export box.json --to ${to} -o out`,
        unexpected(`--to ${to}`, received, "--algorithm forestcoll"),
      );
    await here.refuses(
      "export box.json --to svg --view time -o out.svg",
      unexpected("--view time", received, "--algorithm forestcoll"),
    );
    const plan = await here.run("export box.json --to mscclpp-json -o plan.json");
    expect(plan).toContain("verified");
    for (const to of ["report", "svg", "dot"]) await here.run(`export box.json --to ${to} --quiet -o out.${to}`);
  });
});
