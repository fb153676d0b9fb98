import { InputError } from "../../base/errors.ts";
import { presetTopology } from "../../model/presets/preset.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { changedNetwork, topologyOptions } from "../../request/network-from-texts.ts";
import type { NetworkWish } from "../protocol.ts";

/** Returns the network of a wish as it stands in its file or preset, whole. Throws InputError. */
async function wholeNetworkOf({ topology, file, options }: NetworkWish): Promise<Topology> {
  const open = topologyOptions(options);
  if (file !== null) return (await import("./network-file.ts")).networkIn(file, open);
  if (topology.trim() === "") throw new InputError("the topology", "a preset or a file");
  if (Object.keys(open).length > 0) (await import("./network-file.ts")).refuseOptions(open, topology);
  return presetTopology(topology);
}

/** A network with what failed or was degraded, and as it was before. */
export interface PartAndWhole {
  readonly topology: Topology;
  /** The same object where nothing failed. */
  readonly whole: Topology;
}

/** Returns the network of a wish, and the whole one that it is part of. Throws InputError. */
export const partAndWholeOf = (wish: NetworkWish): Promise<PartAndWhole> =>
  changedNetwork(wish.options, () => wholeNetworkOf(wish));

/** Returns the network of a wish with what failed or was degraded. Throws InputError. */
export const networkOf = async (wish: NetworkWish): Promise<Topology> => (await partAndWholeOf(wish)).topology;
