import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { PlanNode, PlanPart, PlanView } from "../../../src/web/plan-protocol.ts";
import type { PlanWish } from "../../../src/web/protocol.ts";
import { TINY_LLAMA } from "../../support/tiny-llama.ts";
import { ask, fileOf, networkWish, shown } from "../../support/worker-asks.ts";

const CONFIG = fileOf("config.json", JSON.stringify({ ...TINY_LLAMA, vocab_size: 1024, num_hidden_layers: 3 }));
const WISH: PlanWish = {
  network: networkWish("ring:4"),
  model: CONFIG,
  options: {
    batch: "4",
    seq: "64",
    passes: "1",
    accelerator: "a100",
    mesh: "2x2",
    algorithms: "ring",
    timeLimit: "3s",
  },
};
const view: PlanView = await ask("plan", { wish: WISH });

const partOf = (phase: PlanPart["phase"], count: number): PlanPart =>
  view.parts.find((part) => part.phase === phase && part.count === count) as PlanPart;
const made = ({ nodes }: PlanPart): Extract<PlanNode, { kind: "made" }>[] =>
  nodes.filter((node) => node.kind === "made");
const nameOf = (node: PlanNode): string => ("tensor" in node ? (view.tensors[node.tensor]?.name ?? "") : "");

describe("a plan for the page", () => {
  it("draws one layer for all of them, without its name, and what is done once before and behind", () => {
    const layer = partOf("forward", 3);
    expect(layer.name).toBe("layer 2");
    expect(made(layer).map(nameOf)).toEqual(expect.arrayContaining(["attention norm", "queries", "shares", "down"]));
    expect(partOf("backward", 3).name).toBe("layer 2");
    const once = view.parts.filter(({ phase, count }) => phase === "forward" && count === 1);
    expect(once.flatMap(made).map(nameOf)).toEqual(expect.arrayContaining(["embedded", "logits", "loss"]));
    // every forward class is drawn once, and every one that is made again once more
    const drawn = view.parts.filter(({ phase }) => phase === "forward").flatMap(made);
    const forward = view.report.tensors.filter(
      ({ phase, kind }) => phase === "forward" && !["parameter", "input", "tangent"].includes(kind),
    );
    expect(drawn).toHaveLength(forward.length);
  });

  it("has edges between what is made and who takes it, and every node but what comes from elsewhere is led to", () => {
    for (const part of view.parts) {
      const { nodes, edges } = part;
      const targets = new Set(edges.map(([, to]) => to));
      for (const [from, to] of edges) {
        const [source, target] = [nodes[from] as PlanNode, nodes[to] as PlanNode];
        if (source.kind !== "made" || target.kind !== "made") continue;
        const taken = view.tensors[target.tensor]?.madeOf as readonly string[];
        expect(taken).toContain(nameOf(source));
      }
      nodes.forEach((node, i) => {
        const isLed = targets.has(i);
        if (node.kind === "from") expect(isLed).toBe(false);
        else if (node.kind !== "made") expect(isLed).toBe(true);
        else if (!isLed) expect(node.given.length).toBeGreaterThan(0);
      });
    }
  });

  it("tells where tensors lie as the report does, and prices their collectives as its list does", () => {
    const words = new Map(view.report.tensors.map((row) => [row.name, row]));
    const prices = new Set(view.report.collectives.map(({ bytes, us, axes }) => `${axes} ${bytes} ${us}`));
    let compared = 0;
    for (const { name, lies, dims, copies, ownBytes, retention } of view.tensors) {
      for (const { moves } of copies)
        for (const { axes, bytes, us } of moves) expect(prices).toContain(`${axes} ${bytes} ${us}`);
      const row = words.get(name);
      if (row === undefined) continue;
      compared++;
      expect(lies.map((lie) => (typeof lie === "number" ? dims[lie]?.name : lie)).join(" | ")).toBe(row.pattern);
      expect(ownBytes).toBe(row.ownBytes);
      if (retention !== null) expect(retention).toBe(row.retention);
    }
    expect(compared).toBeGreaterThan(5);
  });

  it("says of gradients what they update and where they are summed to", () => {
    const updating = made(partOf("backward", 3)).filter(({ updates }) => updates !== null);
    const layer = view.report.tensors.filter(({ kind, count }) => kind === "parameter" && count === 3);
    expect(updating).toHaveLength(layer.length);
    for (const node of updating) expect(nameOf(node)).toContain(view.tensors[node.updates?.tensor as number]?.name);
  });

  it("has a timeline with a row for computing and one for each set of axes, as long as the step", async () => {
    const timeline = shown(await ask("planTimeline", { wish: WISH }));
    expect(timeline.totalPs / 1e6).toBeCloseTo(view.report.plan.us, 6);
    expect(timeline.rows[0]).toBe("compute");
    const axes = new Set(view.report.collectives.map((one) => one.axes));
    expect(new Set(timeline.rows.slice(1))).toEqual(axes);
  });

  it("is written as the files of the command line, and says its command", async () => {
    expect(view.command).toBe(
      "banyan plan config.json ring:4 --batch 4 --seq 64 --passes 1 --accelerator a100 --mesh 2x2 --algorithms ring --time-limit 3s",
    );
    for (const [to, name, says] of [
      ["torch", "config.ring-4.torch.py", "Shard("],
      ["jax", "config.ring-4.jax.py", "PartitionSpec"],
      ["commands", "config.ring-4.collectives.sh", "banyan synth ring:4"],
      ["trace", "config.ring-4.step.trace.json", "traceEvents"],
    ] as const) {
      const file = await ask("planFile", { wish: WISH, to });
      expect(file.name.endsWith(name.slice(name.indexOf(".")))).toBe(true);
      expect(await file.content.text()).toContain(says);
    }
    const traces = await ask("planFile", { wish: WISH, to: "chakra" });
    expect(traces.name).toMatch(/\.chakra\.zip$/);
    expect(new Uint8Array(await traces.content.slice(0, 2).arrayBuffer())).toEqual(new Uint8Array([0x50, 0x4b]));
  });

  it("takes a graph in place of a model, whose own sizes count, and refuses what is neither", async () => {
    const path = new URL("../../fixtures/tensor-graph/torch-block.json", import.meta.url);
    const graph = fileOf("torch-block.json", readFileSync(path, "utf8"));
    const { report, parts, tensors } = await ask("plan", {
      wish: { ...WISH, network: networkWish("ring:2"), model: graph, options: { ...WISH.options, mesh: "2" } },
    });
    expect(report.model.source).toBe("torch-block.json");
    expect(report.plan.passes).toBe(1);
    expect(parts.flatMap(({ nodes }) => nodes).length).toBeGreaterThan(tensors.length / 4);
    const bad = { ...WISH, model: fileOf("notes.txt", "no graph") };
    await expect(ask("plan", { wish: bad })).rejects.toThrow(/notes\.txt/);
  });
});
