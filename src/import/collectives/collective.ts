import type { Collective } from "../../model/collective/collective.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type MatrixOptions, readAlltoallv } from "./alltoallv.ts";
import { readCollectiveJson } from "./collective-json.ts";

/** Whether a text is JSON, so no matrix. */
export const isCollectiveJson = (text: string): boolean => /^\ufeff?\s*[{[]/.test(text);

/**
 * Returns the collective of a file: a `banyan-collective` (JSON), else the demand matrix of an all-to-all-v, for which the
 * options are. Throws InputError.
 */
export function readCollective(
  text: string,
  fileName: string,
  topology: Topology,
  options: MatrixOptions = {},
): Collective {
  return isCollectiveJson(text)
    ? readCollectiveJson(text, fileName, topology)
    : readAlltoallv(text, fileName, topology, options);
}
