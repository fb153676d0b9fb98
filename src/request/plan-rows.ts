import { InputError } from "../base/errors.ts";
import type { Place } from "../base/option-names.ts";
import { parseSize } from "../model/numbers/units.ts";
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
  memory: {
    part: "planning",
    value: "<size>",
    help: "of an NPU: 80GiB; default: the accelerator's, less 6 % for runtimes",
    parse: (text: string, place: Place): number => parseSize(text, place),
  },
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
  torch: {
    part: "planning",
    value: "<file>",
    help: "write where tensors lie as placements of PyTorch's DTensor (.py)",
  },
  jax: { part: "planning", value: "<file>", help: "write where tensors lie as PartitionSpecs of JAX (.py)" },
  script: {
    part: "planning",
    value: "<file>",
    help: "write the commands that make a schedule of each collective (.sh)",
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
