import { InputError } from "../base/errors.ts";
import type { Place } from "../base/option-names.ts";
import type { OptionRow } from "./option-row.ts";
import { listOf, wholeNumber } from "./values.ts";

/** Returns the sizes of a mesh's axes: 16x8. */
function meshSizes(text: string, place: Place): number[] {
  if (!/^\d+(x\d+)*$/i.test(text)) throw new InputError(place, "sizes of axes such as 16x8", text);
  return text
    .toLowerCase()
    .split("x")
    .map((size) => wholeNumber(size, place, 1));
}

/** Options of plans of tensor states. */
export const PLAN_ROWS = {
  mesh: {
    part: "planning",
    value: "<sizes>",
    help: "axes of NPUs, neighbours last: 16x8; several to try: 16x8,128; default: all NPUs as one axis, and boxes x NPUs of a box or the network's dimensions",
    parse: (text: string, place: Place): number[][] =>
      listOf(text, place, "sizes such as 16x8").map((one) => meshSizes(one, place)),
  },
  passes: {
    part: "planning",
    value: "<n>",
    help: "micro batches of a step, one after the other; several to try: 1,4; default 1, 2, 4 and 8 as they divide the batch",
    parse: (text: string, place: Place): number[] =>
      listOf(text, place, "numbers such as 1,4").map((one) => wholeNumber(one, place, 1)),
  },
  stages: {
    part: "planning",
    value: "<n>",
    help: "pipeline stages of as many NPUs each, whose mesh --mesh then is; several to try: 1,4; default 1, and 2, 4 .. as they divide the boxes",
    parse: (text: string, place: Place): number[] =>
      listOf(text, place, "numbers such as 1,4").map((one) => wholeNumber(one, place, 1)),
  },
  dims: {
    part: "planning",
    value: "<name=n>",
    help: "sizes of dimensions that an ONNX model leaves open: batch=8,sequence=128",
    parse: (text: string, place: Place): Record<string, number> =>
      Object.fromEntries(
        listOf(text, place, "NAME=SIZE").map((one): [string, number] => {
          const [, name, size] = /^([^=]+)=(.+)$/.exec(one) ?? [];
          if (name === undefined || size === undefined) throw new InputError(place, "NAME=SIZE, such as batch=8", one);
          return [name, wholeNumber(size, place, 1)];
        }),
      ),
  },
  torch: {
    part: "planning",
    value: "<file>",
    help: "write where tensors lie as placements of PyTorch's DTensor (.py)",
  },
  jax: { part: "planning", value: "<file>", help: "write where tensors lie as PartitionSpecs of JAX (.py)" },
  commands: {
    part: "planning",
    value: "<file>",
    help: "write the commands that make a schedule of each collective (.sh)",
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
