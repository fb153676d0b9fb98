import { readFileSync } from "node:fs";
import { tensorGraphToJson } from "../../../src/export/tensor-graphs/json.ts";
import { readTensorGraph } from "../../../src/import/tensor-graphs/tensor-graph-formats.ts";
import { printedGraph } from "../../../src/model/tensor-graph/print.ts";
import { bytesOf, type FuzzTarget, letters, same } from "./target.ts";

/** Readers of tensor graphs: torch's, ONNX models, our own JSON. */

const fixture = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`../../fixtures/tensor-graph/${name}`, import.meta.url)));

/** Reads a graph, prints it, and writes and reads it once more. */
function check(input: string): string {
  const graph = readTensorGraph(bytesOf(input), "file", { batch: 2 });
  const written = tensorGraphToJson(graph);
  const again = tensorGraphToJson(readTensorGraph(new TextEncoder().encode(written), "file"));
  same(written, again, "a tensor graph");
  return printedGraph(graph);
}

const own = (name: string): string =>
  letters(new TextEncoder().encode(tensorGraphToJson(readTensorGraph(fixture(name), name, { batch: 2 }))));

export const tensorGraphTargets = (): FuzzTarget[] => [
  {
    name: "torch-graph",
    seeds: () => ["torch-linear.json", "torch-block.json"].map((name) => letters(fixture(name))),
    check,
  },
  { name: "onnx", seeds: () => ["block.onnx", "block-old.onnx"].map((name) => letters(fixture(name))), check },
  { name: "tensor-graph-json", seeds: () => ["torch-linear.json", "block.onnx"].map(own), check },
];
