import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";

const here = commandsHere();
const FIXTURES = fileURLToPath(new URL("../fixtures/tensor-graph", import.meta.url));
const MODEL = "plan gpt2-small ring:4 --accelerator a100 --batch 8 --seq 256 --algorithms ring";
const GPT = `${MODEL} --passes 1 --mesh 4`;

interface Row {
  readonly us: number;
  readonly countedUs: number;
  readonly againCount: number;
  readonly memory: { readonly total: number };
}

interface Report {
  readonly plan: Row;
  readonly byHand: Row;
  readonly others: readonly Row[];
  readonly shares: { readonly compute: number; readonly exposed: Readonly<Record<string, number>> };
  readonly search: { readonly boundUs: number; readonly gap: number };
  readonly collectives: readonly { readonly times: number; readonly us: number }[];
  readonly tensors: readonly { readonly retention: string; readonly ownBytes: number; readonly bytes: number }[];
}

const planned = async (line: string): Promise<Report> => (await here.json(line)) as Report;

describe("banyan plan", () => {
  it("finds a plan that is no slower than any by hand, within its bound and the memory", async () => {
    const { plan, byHand, others, shares, search, tensors } = await planned(GPT);
    expect(plan.us).toBeLessThanOrEqual(byHand.us);
    expect(others.every(({ us }) => us >= plan.us)).toBe(true);
    expect(search.boundUs).toBeLessThanOrEqual(plan.countedUs * (1 + 1e-9));
    expect(search.gap).toBeLessThan(0.001);
    expect(1 - search.boundUs / plan.countedUs).toBeCloseTo(search.gap, 9);
    const exposed = Object.values(shares.exposed).reduce((a, b) => a + b, 0);
    expect(shares.compute + exposed).toBeCloseTo(1, 6);
    expect(tensors.every(({ ownBytes, bytes }) => ownBytes <= bytes)).toBe(true);
  });

  it("makes tensors again where memory is short, and is slower then", async () => {
    const ample = await planned(GPT);
    const limit = Math.floor(0.93 * ample.plan.memory.total);
    const tight = await planned(`${GPT} --memory ${limit}`);
    expect(tight.plan.memory.total).toBeLessThanOrEqual(limit);
    expect(tight.plan.againCount).toBeGreaterThan(ample.plan.againCount);
    expect(tight.plan.countedUs).toBeGreaterThanOrEqual(ample.plan.countedUs);
  });

  it("says how much memory the leanest plan takes where nothing fits, and that much does", async () => {
    const { err } = await here.ends(`${GPT} --memory 200MiB`);
    const found = /it must be at least .* by the search's count, and ([\d.]+ [KMG]iB) is enough/.exec(err)?.[1] ?? "";
    expect(found).not.toBe("");
    const [number = "", unit = ""] = found.split(" ");
    const { plan } = await planned(`${GPT} --memory ${Math.ceil(Number(number) * 1.01)}${unit}`);
    expect(plan.memory.total).toBeGreaterThan(200 * 2 ** 20);
  });

  it("writes placements, commands, a timeline, and traces that take as long", async () => {
    const report = await planned(
      `${MODEL} --mesh 4 --passes 4 --torch plan.py --jax specs.py --commands all.sh --trace step.json --chakra traces`,
    );
    expect(readFileSync(here.at("plan.py"), "utf8")).toContain("init_device_mesh");
    expect(readFileSync(here.at("specs.py"), "utf8")).toContain("PartitionSpec");
    expect(readFileSync(here.at("all.sh"), "utf8")).toContain("banyan synth ring:4");
    expect(existsSync(here.at("step.json"))).toBe(true);
    const { rows } = (await here.json("train traces ring:4 --algorithms ring")) as { rows: { us: number }[] };
    expect((rows[0]?.us ?? 0) / report.plan.us).toBeCloseTo(1, 3);
  });

  it("plans graphs that are read: ONNX with open sizes, our JSON", async () => {
    const onnx = `plan ${FIXTURES}/block.onnx ring:4 --accelerator a100 --algorithms ring --mesh 4`;
    await here.refuses(onnx, /dimension 0 \("batch"\) has no size; say it: --dims batch=8/);
    expect((await planned(`${onnx} --dims batch=8`)).plan.us).toBeGreaterThan(0);
    const node = (name: string, more: object) => ({ name, elementBytes: 2, phase: "forward", ...more });
    here.put("graph.json", {
      format: "banyan-tensor-graph",
      version: 1,
      name: "a product",
      dimensions: [
        ["samples", 32],
        ["in", 8],
        ["out", 16],
      ],
      nodes: [
        node("x", { kind: "placeholder", role: "input", dims: "samples in" }),
        node("w", { kind: "placeholder", role: "parameter", dims: "in out" }),
        node("y", { kind: "einsum", of: ["x", "w"], dims: "samples in, in out -> samples out" }),
        node("output", { kind: "output", of: ["y"], dims: "samples out ->" }),
      ],
      gradients: [],
      classes: [0, 1, 2, 3],
    });
    expect((await planned("plan graph.json ring:4 --accelerator a100 --algorithms ring")).plan.us).toBeGreaterThan(0);
    await here.refuses("plan graph.json ring:4 --accelerator a100 --batch 8", /--batch/);
  });

  it("says what is wrong with what is asked", async () => {
    await here.refuses("plan gpt2-small ring:4 --accelerator a100", /--batch is missing/);
    await here.refuses(`${MODEL} --mesh 3x2`, /it must be of 4 NPUs/);
    await here.refuses(`${MODEL} --mesh 2by2`, /sizes of axes such as 16x8/);
    await here.refuses(`${MODEL} --passes 3`, /a divisor of the 8 samples/);
    const [networks, lookups] = ["resnet-50", "gnmt-16"].map(
      (name) => `plan ${name} ring:4 --accelerator a100 --batch 8`,
    );
    await here.refuses(`${networks} --seq 9`, /resnet-50 takes images/);
    await here.refuses(`${lookups}`, /a transformer, a ResNet, or a graph/);
    const onnx = `plan ${FIXTURES}/block.onnx ring:4 --accelerator a100`;
    await here.refuses(`${onnx} --dims batch`, /NAME=SIZE, such as batch=8/);
    await here.refuses(`${MODEL} --dims batch=8`, /gpt2-small has its own sizes/);
  });
});
