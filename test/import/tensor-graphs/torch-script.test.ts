import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { readTensorGraph } from "../../../src/import/tensor-graphs/tensor-graph-formats.ts";
import { printedGraph } from "../../../src/model/tensor-graph/print.ts";

const SCRIPT = fileURLToPath(new URL("../../../scripts/torch-graph.py", import.meta.url));
const PROGRAM = `
import sys, torch
model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 2, bias=False))
torch.export.save(torch.export.export(model, (torch.ones(5, 4),)), sys.argv[1])
`;

const python = process.env["BANYAN_PYTHON"] ?? "python3";
const hasTorch = spawnSync(python, ["-c", "import torch"]).status === 0;

it.skipIf(!hasTorch)(
  "torch-graph.py writes what is read, of a saved program (skipped where no python has torch)",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "torch-graph-"));
    try {
      const program = join(folder, "mlp.pt2");
      const file = join(folder, "mlp.json");
      expect(spawnSync(python, ["-c", PROGRAM, program]).status).toBe(0);
      expect(spawnSync(python, [SCRIPT, program, file]).status).toBe(0);
      const graph = readTensorGraph(new Uint8Array(readFileSync(file)), "mlp.json");
      expect(printedGraph(graph).split("\n").slice(1, -1)).toEqual([
        "  p_0_weight: PLACEHOLDER [ab]",
        "  p_0_bias: PLACEHOLDER [a]",
        "  p_2_weight: PLACEHOLDER [ca]",
        "  input: PLACEHOLDER [db]",
        '  linear.product: EINSUM "db,ba->da"(input, p_0_weight) -> [da]',
        "  linear: ELEMENTWISE(linear.product[da], p_0_bias[a]) -> [da]",
        "  relu: ELEMENTWISE(linear[da]) -> [da]",
        '  linear_1: EINSUM "da,ac->dc"(relu, p_2_weight) -> [dc]',
        "  output: OUTPUT[linear_1[dc]]",
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  120_000,
);
