import { InputError, inWords } from "../../base/errors.ts";
import type { TensorGraph } from "../../model/tensor-graph/graph.ts";
import { headerOf, parseJson } from "../text/json.ts";
import { utf8Text } from "../text/utf8.ts";
import { isTensorGraphJson, readTensorGraphJson } from "./json.ts";
import { readOnnx, type SymbolSizes } from "./onnx.ts";
import { looksLikeOnnx } from "./onnx-file.ts";
import { readTorchGraph, TORCH_FORMAT } from "./torch-export.ts";

/** A format of tensor graphs as JSON, recognized by its value. */
interface JsonFormat {
  readonly name: string;
  readonly description: string;
  looksLike(value: unknown): boolean;
  read(value: unknown, fileName: string): TensorGraph;
}

const format = (value: unknown): unknown => headerOf(value as object).format;

const JSON_FORMATS: readonly JsonFormat[] = [
  {
    name: "banyan-tensor-graph",
    description: "a tensor graph as JSON",
    looksLike: isTensorGraphJson,
    read: readTensorGraphJson,
  },
  {
    name: "torch graph",
    description: "JSON that scripts/torch-graph.py writes of a program of torch",
    looksLike: (value) => format(value) === TORCH_FORMAT,
    read: readTorchGraph,
  },
];

/** What tensor graphs are read from, for people. */
export const TENSOR_GRAPH_FORMATS: readonly Pick<JsonFormat, "name" | "description">[] = [
  ...JSON_FORMATS,
  { name: "ONNX", description: "a model of operators of the default domain; data of weights is not read" },
];

/**
 * Returns the tensor graph of a file whose format is recognized by its content. `symbols` are sizes of symbolic dimensions, which
 * ONNX models may have. Throws InputError where it is in no known format, and what its reader throws.
 */
export function readTensorGraph(bytes: Uint8Array, fileName: string, symbols: SymbolSizes = {}): TensorGraph {
  if (looksLikeOnnx(bytes)) return readOnnx(bytes, fileName, symbols);
  const text = utf8Text(bytes, fileName);
  const expected = "a tensor graph: ONNX, a torch graph, or one of ours";
  if (!/^\ufeff?\s*[{[]/.test(text)) throw new InputError(fileName, expected, text.trimStart().slice(0, 40));
  const value = parseJson(text, fileName);
  const found = JSON_FORMATS.find(({ looksLike }) => looksLike(value));
  if (found !== undefined) return found.read(value, fileName);
  throw new InputError(fileName, expected, format(value) ?? inWords("other JSON"));
}
