import type { Comparison } from "../../../report/comparison.ts";
import type { Options } from "../../../request/option-table.ts";
import { sizeWord } from "../../state/size-range.ts";
import { sizesIn } from "./series.ts";

/** Returns what saves the fastest program of each size of a comparison: a format and its options; null where nothing loads programs. */
export function programsBySize(
  comparison: Comparison,
  { collective = "allgather", root }: Options,
): { readonly to: string; readonly options: Options } | null {
  const { target } = comparison;
  if (target === "nccl") return null;
  const sizes = sizesIn(comparison).map(sizeWord).join(",");
  const asked = { collective, sizes, ...(root !== undefined && { root }) };
  if (target === "mscclpp") return { to: "mscclpp-json", options: asked };
  if (target === "mpi") return { to: "mpi", options: asked };
  return { to: "msccl-xml", options: { ...asked, ...(target !== undefined && { dialect: target }) } };
}
