import { jsonText } from "../../../base/visible.ts";
import type { Comparison } from "../../../report/comparison.ts";
import { plainName } from "../../../report/file-name.ts";

/** Returns a comparison as `banyan compare --json` prints it. */
export const jsonOf = (comparison: Comparison): string => `${jsonText(comparison, 2)}\n`;

/** Returns a file's name without its ending: "dgx-a100-2.allgather.comparison". */
export const fileStem = ({ topology: { name }, collective }: Pick<Comparison, "topology" | "collective">): string =>
  `${plainName(name) || "network"}.${plainName(collective)}.comparison`;
