import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";

const here = commandsHere();
const FIXTURES = fileURLToPath(new URL("../fixtures/tensor-graph", import.meta.url));
const MODEL = "plan gpt2-small ring:4 --accelerator a100 --batch 8 --seq 256 --algorithms ring";
const GPT = `${MODEL} --passes 1 --mesh 4`;

/** A transformer of 8 layers whose head is not its embedding. */
const SMALL = {
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  hidden_size: 1024,
  intermediate_size: 4096,
  num_hidden_layers: 8,
  num_attention_heads: 16,
  num_key_value_heads: 16,
  vocab_size: 8192,
  max_position_embeddings: 2048,
  tie_word_embeddings: false,
  rms_norm_eps: 1e-5,
  hidden_act: "silu",
};

interface Row {
  readonly stages: readonly {
    readonly from: string;
    readonly to: string;
    readonly memory: { readonly total: number };
  }[];
  readonly us: number;
  readonly countedUs: number;
  readonly againCount: number;
  readonly memory: { readonly total: number };
}

interface Report {
  readonly plan: Row;
  readonly byHand: Row;
  readonly others: readonly Row[];
  readonly shares: {
    readonly compute: number;
    readonly bubble: number;
    readonly exposed: Readonly<Record<string, number>>;
  };
  readonly search: { readonly boundUs: number; readonly gap: number };
  readonly collectives: readonly { readonly times: number; readonly us: number }[];
  readonly tensors: readonly { readonly retention: string; readonly ownBytes: number; readonly bytes: number }[];
}

const planned = async (line: string): Promise<Report> => (await here.json(line)) as Report;
let ample: Promise<Report> | undefined;
/** Returns the plan of GPT where memory is ample, searched once. */
const plannedGpt = (): Promise<Report> => {
  ample ??= planned(GPT);
  return ample;
};

describe("banyan plan", () => {
  it("finds a plan that is no slower than any by hand, within its bound and the memory", async () => {
    const { plan, byHand, others, shares, search, tensors } = await plannedGpt();
    expect(plan.us).toBeLessThanOrEqual(byHand.us);
    expect(others.every(({ us }) => us >= plan.us)).toBe(true);
    expect(search.boundUs).toBeLessThanOrEqual(plan.countedUs * (1 + 1e-9));
    expect(search.gap).toBeLessThan(0.001);
    expect(1 - search.boundUs / plan.countedUs).toBeCloseTo(search.gap, 9);
    const exposed = Object.values(shares.exposed).reduce((a, b) => a + b, 0);
    expect(shares.compute + shares.bubble + exposed).toBeCloseTo(1, 6);
    expect(tensors.every(({ ownBytes, bytes }) => ownBytes <= bytes)).toBe(true);
  });

  it("makes tensors again where memory is short, and is slower then", async () => {
    const ample = await plannedGpt();
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

  it("fits by stages alone where no dimension is divided by the NPUs", async () => {
    const line = "plan gpt2-small ring:5 --accelerator a100 --batch 4 --seq 256 --passes 4 --memory 1.5GiB";
    const { err } = await here.ends(line);
    const least = /it must be at least ([\d.]+) GiB/.exec(err)?.[1] ?? "";
    expect(Number(least)).toBeGreaterThan(1.5);
    const { plan } = await planned(`${line} --stages 5`);
    expect(plan.stages.length).toBe(5);
    expect(plan.memory.total).toBeLessThanOrEqual(1.5 * 2 ** 30);
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

  it("cuts into stages where links are slow, and not where they are fast", async () => {
    here.put("small.json", SMALL);
    const line = (gib: number): string =>
      `plan small.json ring:4@${gib}GiB/s --accelerator a100 --batch 32 --seq 512 --algorithms ring --mesh 4,1 --stages 1,4 --passes 8 --memory 2GiB --time-limit 10`;
    const slow = await planned(`${line(4)} --torch stages.py --jax stages-jax.py --commands stages.sh --chakra stages`);
    expect(slow.plan.stages.length).toBe(4);
    expect(slow.plan.us).toBeLessThanOrEqual(slow.byHand.us);
    expect(slow.others.filter(({ stages }) => stages.length === 1).length).toBeGreaterThan(0);
    expect(slow.plan.stages[0]?.from).toBe("embedded");
    expect(slow.plan.stages[3]?.to).toBe("loss");
    const totals = slow.plan.stages.map(({ memory }) => memory.total);
    expect(slow.plan.memory.total).toBe(Math.max(...totals));
    const exposed = Object.values(slow.shares.exposed).reduce((a, b) => a + b, 0);
    expect(slow.shares.compute + slow.shares.bubble + exposed).toBeCloseTo(1, 6);
    expect(readFileSync(here.at("stages.py"), "utf8")).toContain("PARAMETERS_OF_STAGE_4 = {");
    expect(readFileSync(here.at("stages-jax.py"), "utf8")).toContain("STAGES = 4");
    // one NPU a stage: nothing but sends
    expect(readFileSync(here.at("stages.sh"), "utf8")).toBe("");
    const { rows } = (await here.json("train stages ring:4@4GiB/s --algorithms ring")) as { rows: { us: number }[] };
    expect((rows[0]?.us ?? 0) / slow.plan.us).toBeCloseTo(1, 2);
    expect((await planned(line(300))).plan.stages.length).toBe(1);
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
    await here.refuses(`${MODEL} --stages 0`, /--stages is 0; it must be at least 1/);
    await here.refuses(`${MODEL} --stages 3`, /--stages is 3; it must be a divisor of the 4 NPUs of ring:4/);
    await here.refuses(`${MODEL} --stages 2 --mesh 4`, /it must be of 2 NPUs, as a stage has/);
    const deep = "plan gpt2-small ring:16 --accelerator a100 --batch 16 --seq 256 --algorithms ring";
    await here.refuses(`${deep} --stages 16`, /--stages is 16; it must be at most 14, the parts of gpt2-small/);
    const [networks, lookups] = ["resnet-50", "gnmt-16"].map(
      (name) => `plan ${name} ring:4 --accelerator a100 --batch 8`,
    );
    await here.refuses(`${networks} --seq 9`, /must be left out beside resnet-50, which takes images/);
    await here.refuses(`${lookups}`, /a transformer, a ResNet, or a graph/);
    const onnx = `plan ${FIXTURES}/block.onnx ring:4 --accelerator a100`;
    await here.refuses(`${onnx} --dims batch`, /NAME=SIZE, such as batch=8/);
    await here.refuses(`${MODEL} --dims batch=8`, /must be left out beside gpt2-small/);
  });
});
