import { InputError, inWords } from "../../base/errors.ts";
import { addTo } from "../numbers/ordering.ts";
import { gpuModelNamedIn } from "../topology/gpu-models.ts";
import type { Topology } from "../topology/topology.ts";
import type { LoggedRank, Measurements } from "./measurements.ts";

const many = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** Returns "rank 5", "ranks 8 to 15", or the first of several runs: "ranks 0, 2, 4 and 5 more". */
function ranksText(ranks: readonly number[]): string {
  const [first, last] = [ranks[0] as number, ranks.at(-1) as number];
  if (ranks.length === 1) return `rank ${first}`;
  if (last - first === ranks.length - 1) return `ranks ${first} to ${last}`;
  const shown = ranks.slice(0, 3).join(", ");
  return ranks.length > 3 ? `ranks ${shown} and ${ranks.length - 3} more` : `ranks ${shown}`;
}

/** Returns "host b (ranks 8 to 15)". */
const hostText = (host: string, ranks: readonly number[]): string => `host ${host} (${ranksText(ranks)})`;

/** Returns the NPUs of each box, by its name; null where some are in none. */
function boxesOf({ nodeTraits, npuCount }: Topology): ReadonlyMap<string, readonly number[]> | null {
  const boxes = new Map<string, number[]>();
  for (let npu = 0; npu < npuCount; npu++) {
    const group = nodeTraits[npu]?.group;
    if (group === undefined) return null;
    addTo(boxes, group, npu);
  }
  return boxes;
}

/** Returns which listed ranks ran on other GPUs than the network has, by their model; none where names do not tell. */
function othersOf({ name }: Topology, listed: readonly LoggedRank[]): ReadonlyMap<string, readonly LoggedRank[]> {
  const own = gpuModelNamedIn(name);
  const others = new Map<string, LoggedRank[]>();
  for (const one of listed) {
    const model = gpuModelNamedIn(one.gpu);
    if (own !== null && model !== null && model !== own) addTo(others, model, one);
  }
  return others;
}

/**
 * Throws InputError with the first rank or host of a log's list that the network has no place for: a rank that is not in the list, hosts
 * without a box, with more ranks than a box has GPUs or with another number than the first host, ranks on another model of GPU
 * than the rest. Logs without a list are let through. O(ranks + NPUs).
 */
export function refuseOtherNetwork(topology: Topology, { listed, source }: Measurements): void {
  if (listed.length === 0) return;
  const { name, npuCount } = topology;
  const refuse = (expected: string, sentence: string): never => {
    throw new InputError(source, expected, inWords(many(listed.length, "listed rank"))).saying(sentence);
  };
  listed.forEach(({ rank, host }, i) => {
    if (rank === i) return;
    refuse("every rank in its list", `${source} lists no rank ${i}: the next is rank ${rank} (host ${host})`);
  });
  const hosts = new Map<string, number[]>();
  for (const { rank, host } of listed) addTo(hosts, host, rank);
  const boxes = boxesOf(topology);
  if (boxes === null) {
    const [beyond] = listed.slice(npuCount);
    if (beyond !== undefined)
      refuse(
        `${npuCount} ranks at most`,
        `rank ${beyond.rank} (host ${beyond.host}) of ${source} has no place in ${name}, which has ${many(npuCount, "NPU")}`,
      );
  } else refuseHosts(topology, boxes, hosts, source, refuse);
  const others = othersOf(topology, listed);
  const other = [...others.values()].flat();
  if (other.length === 0 || other.length === listed.length) return;
  const [[model, ranks]] = others as unknown as [[string, readonly LoggedRank[]]];
  const { host } = ranks[0] as LoggedRank;
  const there = ranks.filter((one) => one.host === host).map(({ rank }) => rank);
  refuse(
    "one model of GPUs",
    `${hostText(host, there)} of ${source} ran on ${model}, others on ${gpuModelNamedIn(name)}, which all of ${name} is of`,
  );
}

/** Throws InputError with the first host that has no box, or another number of ranks than fits one. */
function refuseHosts(
  { name }: Topology,
  boxes: ReadonlyMap<string, readonly number[]>,
  hosts: ReadonlyMap<string, readonly number[]>,
  source: string,
  refuse: (expected: string, sentence: string) => never,
): void {
  const names = [...boxes.keys()];
  const least = Math.min(...[...boxes.values()].map(({ length }) => length));
  const has = `${name} has ${boxes.size} ${boxes.size === 1 ? "box" : "boxes"} of ${many(least, "GPU")}`;
  const [[firstHost, first] = ["", []]] = hosts;
  const [, kind] = /^([a-z][\w-]*):\d+$/.exec(name) ?? [];
  const isWhole = [...hosts.values()].every(({ length }) => length === least);
  const instead = kind !== undefined && isWhole && hosts.size > boxes.size ? `; try ${kind}:${hosts.size}` : "";
  [...hosts].forEach(([host, ranks], h) => {
    const box = names[h];
    const where = `${hostText(host, ranks)} of ${source}`;
    if (box === undefined) refuse(has, `${where} has no box in ${name}: ${has}${instead}`);
    const room = (boxes.get(box as string) as readonly number[]).length;
    if (ranks.length > room)
      refuse(has, `${where} has ${many(ranks.length, "rank")}, but ${box} of ${name} has ${many(room, "GPU")}`);
    if (ranks.length !== first.length)
      refuse(
        "as many ranks on each host",
        `${where} has ${many(ranks.length, "rank")} where ${hostText(firstHost, first)} has ${first.length}: a fit is of boxes with as many each`,
      );
  });
}

/** Returns a note where all ranks ran on other GPUs than the network's name says, with the first host; none else. */
export function otherGpusNotes(topology: Topology, { listed, platform, source }: Measurements): string[] {
  const own = gpuModelNamedIn(topology.name);
  if (listed.length === 0) {
    const model = gpuModelNamedIn(platform);
    return own === null || model === null || model === own
      ? []
      : [`${source} was measured on ${model}, but ${topology.name} has ${own}`];
  }
  return [...othersOf(topology, listed)].map(([model, ranks]) => {
    const hosts = new Set(ranks.map(({ host }) => host));
    const on = hosts.size === 1 ? ` (host ${[...hosts][0]})` : ` (${hosts.size} hosts, ${[...hosts][0]} first)`;
    const which = ranksText(ranks.map(({ rank }) => rank));
    return `${source} was measured on ${model}: ${which}${on}, but ${topology.name} has ${own}`;
  });
}
