import { readTopology, refuseOptions } from "../../import/networks/network-formats.ts";
import type { TopologyOptions } from "../../import/networks/topology-options.ts";
import { bytesSource, looksLikeBys, readBysTopology } from "../../import/schedules/bys.ts";
import { utf8Text } from "../../import/text/utf8.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { GivenFile } from "../protocol.ts";
import { bytesOf } from "./given-file.ts";

/** Readers of networks, and what they say of options: not loaded for a preset without any. */

export { refuseOptions };

/** Returns the network of a file. Throws InputError. */
export async function networkIn(file: GivenFile, open: TopologyOptions): Promise<Topology> {
  const bytes = await bytesOf(file);
  if (!looksLikeBys(bytes)) return readTopology(utf8Text(bytes, file.name), file.name, open);
  refuseOptions(open, file.name);
  return readBysTopology(bytesSource(bytes), file.name);
}
