import { InputError } from "../../base/errors.ts";
import { presetTopology } from "../../model/presets/preset.ts";
import { degrade, without } from "../../model/topology/modify.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { topologyOptions } from "../../request/topology-options.ts";
import { degradations, listOf, textOf } from "../../request/values.ts";
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
export async function partAndWholeOf(wish: NetworkWish): Promise<PartAndWhole> {
  const gone = textOf(wish.options, "without");
  const slow = textOf(wish.options, "degrade");
  const whole = await wholeNetworkOf(wish);
  const rest =
    gone === undefined ? whole : without(whole, listOf(gone, "--without", "names of NPUs, switches and links"));
  return { topology: slow === undefined ? rest : degrade(rest, degradations(slow)), whole };
}

/** Returns the network of a wish with what failed or was degraded. Throws InputError. */
export const networkOf = async (wish: NetworkWish): Promise<Topology> => (await partAndWholeOf(wish)).topology;
