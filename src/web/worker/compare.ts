import { formatSize, parseSize } from "../../model/numbers/units.ts";
import type { Comparison } from "../../report/comparison.ts";
import { membershipOf } from "../../request/collective-options.ts";
import { synthesisOptions, withoutAuto } from "../../request/synthesis-options.ts";
import { listOf, namedCollective, textOf } from "../../request/values.ts";
import { compare as compareOn } from "../../run/compare.ts";
import { algorithmNamed } from "../../synthesize/catalog.ts";
import type { MakeWish } from "../protocol.ts";
import type { Tools } from "./handlers.ts";
import { networkOf } from "./networks.ts";

/** Answers "compare": all that apply, or `algorithms` of the options, at each size; what there is after each size on the way. */
export async function compare(
  { wish: { network, options }, sizes }: { readonly wish: MakeWish; readonly sizes: readonly string[] },
  { engine, signal, progress, partial }: Tools,
): Promise<Comparison> {
  const names = textOf(options, "algorithms");
  const algorithms = names === undefined ? {} : { algorithms: listOf(names, "--algorithms", "names").map(known) };
  // what one algorithm is told means nothing to the others
  const { seed, chunks, switching } = options;
  const topology = await networkOf(network);
  return compareOn(engine, topology, {
    collective: namedCollective(textOf(options, "collective") ?? "allgather"),
    sizesBytes: sizes.map((size) => parseSize(size, "--sizes")),
    ...algorithms,
    ...membershipOf(withoutAuto(options)),
    ...synthesisOptions({ seed, chunks, switching }),
    signal,
    onSize: partial,
    onLine: ({ sizeBytes, algorithm, done, total }) =>
      progress({ what: `comparing ${algorithm} at ${formatSize(sizeBytes)}`, done, total, unit: "lines" }),
  });
}

const known = (name: string): string => algorithmNamed(name, [], "--algorithms").name;
