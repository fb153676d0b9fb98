import { InputError } from "../../errors.ts";
import { readTopology } from "../../import/recognise.ts";
import { degrade, without } from "../../model/modify.ts";
import { presetTopology } from "../../model/presets/preset.ts";
import type { Topology } from "../../model/topology.ts";
import { topologyOptions } from "../../words/topology-options.ts";
import { degradations, listOf, textOf } from "../../words/values.ts";
import type { NetworkWish } from "../protocol.ts";

/** Returns the network of a wish as it stands in its file or preset, whole. Throws InputError. */
export async function wholeNetworkOf({ topology, file, options }: NetworkWish): Promise<Topology> {
  if (file !== null) return readTopology(await file.content.text(), file.name, topologyOptions(options));
  if (topology.trim() === "") throw new InputError("the topology", "a preset or a file");
  return presetTopology(topology);
}

/** Returns the network of a wish with what failed or was degraded. Throws InputError. */
export async function networkOf(wish: NetworkWish): Promise<Topology> {
  const gone = textOf(wish.options, "without");
  const slow = textOf(wish.options, "degrade");
  const whole = await wholeNetworkOf(wish);
  const rest =
    gone === undefined ? whole : without(whole, listOf(gone, "--without", "names of NPUs, switches and links"));
  return slow === undefined ? rest : degrade(rest, degradations(slow));
}
