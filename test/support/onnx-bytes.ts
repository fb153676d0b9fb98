/** An ONNX model by hand, as bytes (onnx.proto, ONNX 1.x). */
export interface HandModel {
  readonly inputs: readonly {
    readonly name: string;
    readonly sizes: readonly (number | string)[];
    readonly type?: number;
  }[];
  readonly weights?: readonly {
    readonly name: string;
    readonly sizes: readonly number[];
    readonly ints?: readonly number[];
  }[];
  readonly nodes: readonly HandOnnxNode[];
  readonly outputs: readonly string[];
}

export interface HandOnnxNode {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes?: Readonly<Record<string, number | string | readonly number[]>>;
}

const varint = (number: number): number[] => {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(number));
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  return [...bytes, Number(left)];
};
const int = (field: number, number: number): number[] => [...varint(field * 8), ...varint(number)];
const message = (field: number, ...parts: readonly (readonly number[])[]): number[] => {
  const bytes = parts.flat();
  return [...varint(field * 8 + 2), ...varint(bytes.length), ...bytes];
};
const text = (field: number, value: string): number[] => message(field, [...new TextEncoder().encode(value)]);

const tensorType = (type: number, sizes: readonly (number | string)[]): number[] => {
  const dimensions = sizes.map((size) => message(1, typeof size === "number" ? int(1, size) : text(2, size)));
  return message(2, message(1, int(1, type), message(2, ...dimensions)));
};

function attribute([name, value]: readonly [string, number | string | readonly number[]]): number[] {
  if (typeof value === "number") return message(5, text(1, name), int(3, value), int(20, 2));
  if (typeof value === "string") return message(5, text(1, name), text(4, value), int(20, 3));
  return message(5, text(1, name), ...value.map((one) => int(8, one)), int(20, 7));
}

/** Returns the model's bytes, of version 17 of the default operators. */
export function onnxBytes({ inputs, weights = [], nodes, outputs }: HandModel): Uint8Array<ArrayBuffer> {
  const graph = [
    ...nodes.map(({ operator, inputs: takes, outputs: makes, attributes = {} }) =>
      message(
        1,
        ...takes.map((name) => text(1, name)),
        ...makes.map((name) => text(2, name)),
        text(4, operator),
        ...Object.entries(attributes).map(attribute),
      ),
    ),
    text(2, "hand"),
    ...weights.map(({ name, sizes, ints }) =>
      message(
        5,
        ...sizes.map((size) => int(1, size)),
        int(2, ints ? 7 : 1),
        ...(ints ?? []).map((one) => int(7, one)),
        text(8, name),
      ),
    ),
    ...inputs.map(({ name, sizes, type = 1 }) => message(11, text(1, name), tensorType(type, sizes))),
    ...outputs.map((name) => message(12, text(1, name))),
  ];
  return Uint8Array.from([...int(1, 8), ...text(2, "by hand"), ...message(7, ...graph), ...message(8, int(2, 17))]);
}
