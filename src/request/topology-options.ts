import { InputError } from "../base/errors.ts";
import { parseProfileSize } from "../import/networks/taccl-topology.ts";
import { LINK_KINDS, type LinkKind, type TopologyOptions } from "../import/networks/topology-options.ts";
import { parseBandwidth, parseTime } from "../model/numbers/units.ts";
import { didYouMean } from "../model/topology/closest.ts";
import type { Options } from "./option-texts.ts";
import { listOf, textOf, wholeNumber } from "./values.ts";

/** Returns the figures of `--assume nvlink=25GB/s,latency=1us`. Throws InputError. */
function assumptions(text: string): Pick<TopologyOptions, "bandwidth" | "latencyPs"> {
  const bandwidth: Partial<Record<LinkKind, number>> = {};
  let latencyPs: number | undefined;
  for (const part of listOf(text, "--assume", "KIND=VALUE such as nvlink=25GB/s")) {
    const cut = part.indexOf("=");
    const name = part.slice(0, cut < 0 ? part.length : cut).trim();
    const value = cut < 0 ? "" : part.slice(cut + 1).trim();
    const kind = LINK_KINDS.find((known) => known === name);
    if (kind === undefined && name !== "latency") {
      const names = [...LINK_KINDS, "latency"];
      throw new InputError("--assume", `KIND=VALUE with one of ${names.join(", ")}${didYouMean(name, names)}`, part);
    }
    if (value === "")
      throw new InputError("--assume", `a value, as in ${name}=${kind === undefined ? "1us" : "25GB/s"},`, part);
    if (kind === undefined) latencyPs = parseTime(value, "--assume latency");
    else bandwidth[kind] = parseBandwidth(value, `--assume ${kind}`);
  }
  return {
    ...(Object.keys(bandwidth).length === 0 ? {} : { bandwidth }),
    ...(latencyPs === undefined ? {} : { latencyPs }),
  };
}

/** Returns what the command line says of a network that its file leaves open. Throws InputError. */
export function topologyOptions(options: Options): TopologyOptions {
  const nodes = wholeNumber(textOf(options, "nodes"), "--nodes", 1);
  const usualNodes = wholeNumber(textOf(options, "usualNodes"), "nnodes of the sketch", 1);
  const profileScale = wholeNumber(textOf(options, "profileScale"), "--profile-scale", 1);
  const size = textOf(options, "profileSize");
  const gpu = textOf(options, "gpu");
  const assumed = textOf(options, "assume");
  return {
    ...(nodes === undefined ? {} : { nodes }),
    ...(usualNodes === undefined ? {} : { usualNodes }),
    ...(profileScale === undefined ? {} : { profileScale }),
    ...(size === undefined ? {} : { profileSizeBytes: parseProfileSize(size) }),
    ...(gpu === undefined ? {} : { gpu }),
    ...(assumed === undefined ? {} : assumptions(assumed)),
  };
}
