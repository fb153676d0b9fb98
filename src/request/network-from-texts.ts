import { InputError } from "../base/errors.ts";
import { optionName } from "../base/option-names.ts";
import { parseProfileSize } from "../import/networks/taccl-topology.ts";
import { LINK_KINDS, type LinkKind, type TopologyOptions } from "../import/networks/topology-options.ts";
import { parseBandwidth, parseTime } from "../model/numbers/units.ts";
import { didYouMean } from "../model/topology/closest.ts";
import { degrade, without } from "../model/topology/modify.ts";
import type { Topology } from "../model/topology/topology.ts";
import { type Options, optionValue, placeOf, requestOf, textOf } from "./option-table.ts";
import { listOf } from "./values.ts";

/** What options say of a network, apart from the other requests: a page that shows a network needs no algorithms. */

/** Returns the figures of `--assume nvlink=25GB/s,latency=1us`. Throws InputError. */
function assumptions(text: string): Pick<TopologyOptions, "bandwidth" | "latencyPs"> {
  const bandwidth: Partial<Record<LinkKind, number>> = {};
  let latencyPs: number | undefined;
  const place = placeOf("assume");
  for (const part of listOf(text, place, "KIND=VALUE such as nvlink=25GB/s")) {
    const cut = part.indexOf("=");
    const name = part.slice(0, cut < 0 ? part.length : cut).trim();
    const value = cut < 0 ? "" : part.slice(cut + 1).trim();
    const kind = LINK_KINDS.find((known) => known === name);
    if (kind === undefined && name !== "latency") {
      const names = [...LINK_KINDS, "latency"];
      throw new InputError(place, `KIND=VALUE with one of ${names.join(", ")}${didYouMean(name, names)}`, part);
    }
    if (value === "")
      throw new InputError(place, `a value, as in ${name}=${kind === undefined ? "1us" : "25GB/s"},`, part);
    if (kind === undefined) latencyPs = parseTime(value, optionName("assume", " latency"));
    else bandwidth[kind] = parseBandwidth(value, optionName("assume", ` ${kind}`));
  }
  return {
    ...(Object.keys(bandwidth).length === 0 ? {} : { bandwidth }),
    ...(latencyPs === undefined ? {} : { latencyPs }),
  };
}

/** Returns what options say of a network that its file leaves open. Throws InputError. */
export function topologyOptions(options: Options): TopologyOptions {
  const [size, assumed] = [textOf(options, "profileSize"), textOf(options, "assume")];
  return {
    ...requestOf(options, ["nodes", "profileScale", "gpu"]),
    ...(size === undefined ? {} : { profileSizeBytes: parseProfileSize(size) }),
    ...(assumed === undefined ? {} : assumptions(assumed)),
  };
}

/**
 * Returns the network that `given` reads, without what options leave out and slowed down as they say, and whole. Throws InputError,
 * for those options before anything is read.
 */
export async function changedNetwork(
  options: Options,
  given: () => Promise<Topology>,
): Promise<{ readonly topology: Topology; readonly whole: Topology }> {
  const change = changeOf(options);
  const whole = await given();
  return { topology: change(whole), whole };
}

/** Returns a network without what options leave out and slowed down as they say. Throws InputError. */
export const changedFrom = (whole: Topology, options: Options): Topology => changeOf(options)(whole);

function changeOf(options: Options): (whole: Topology) => Topology {
  const gone = optionValue(options, "without");
  const slow = optionValue(options, "degrade");
  return (whole) => {
    const rest = gone === undefined ? whole : without(whole, gone);
    return slow === undefined ? rest : degrade(rest, slow);
  };
}
