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
  looksLike(value: unknown): boolean;
  read(value: unknown, fileName: string): TensorGraph;
}

const format = (value: unknown): unknown => headerOf(value as object).format;

/** Ours, and what scripts/torch-graph.py writes. */
const JSON_FORMATS: readonly JsonFormat[] = [
  { looksLike: isTensorGraphJson, read: readTensorGraphJson },
  { looksLike: (value) => format(value) === TORCH_FORMAT, read: readTorchGraph },
];

const isJsonText = (text: string): boolean => /^\ufeff?\s*[{[]/.test(text);

/** Returns whether a file is JSON that names no format, as configurations of models are. Throws InputError where it is damaged. */
export function isPlainJson(bytes: Uint8Array, fileName: string): boolean {
  if (looksLikeOnnx(bytes)) return false;
  const text = utf8Text(bytes, fileName);
  return isJsonText(text) && format(parseJson(text, fileName)) === undefined;
}

/**
 * Returns the tensor graph of a file whose format is recognized by its content. `symbols` are sizes of symbolic dimensions, which
 * ONNX models may have. Throws InputError where it is in no known format, and what its reader throws.
 */
export function readTensorGraph(bytes: Uint8Array, fileName: string, symbols: SymbolSizes = {}): TensorGraph {
  if (looksLikeOnnx(bytes)) return readOnnx(bytes, fileName, symbols);
  const text = utf8Text(bytes, fileName);
  const expected = "a tensor graph: ONNX, a torch graph, or one of ours";
  if (!isJsonText(text)) throw new InputError(fileName, expected, text.trimStart().slice(0, 40));
  const value = parseJson(text, fileName);
  const found = JSON_FORMATS.find(({ looksLike }) => looksLike(value));
  if (found !== undefined) return found.read(value, fileName);
  throw new InputError(fileName, expected, format(value) ?? inWords("other JSON"));
}
