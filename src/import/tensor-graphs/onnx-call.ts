import type { Assembly, Made } from "./assembly.ts";
import type { OnnxAttribute } from "./onnx-file.ts";
import type { Given } from "./operators.ts";

/** A node of an ONNX graph. */
export interface OnnxCall {
  readonly assembly: Assembly;
  readonly made: Made;
  readonly operator: string;
  /** null: one that is left out. */
  readonly inputs: readonly (Given | null)[];
  readonly outputCount: number;
  readonly attributes: ReadonlyMap<string, OnnxAttribute>;
  /** Of an element of the result. */
  readonly bytes: number;
  /** The TensorProto.DataType of its first input. */
  readonly type: number;
  /** Of the default operators. */
  readonly version: number;
}
