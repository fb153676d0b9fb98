import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { didYouMean } from "../../model/topology/closest.ts";
import { everyOf, type FailureSets, POOLS, type Pool, poolOf, randomOf } from "../../model/topology/failure-sets.ts";
import { isBox, resolver } from "../../model/topology/modify.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Failures } from "./classes.ts";

/** More failures than these are for nobody to read. */
const MOST_FAILURES = 1_000_000;
/** Most that fail together by chance. */
const MOST_TOGETHER = 16;
const MOST_SEED = 2 ** 32 - 1;

/** What else pools are called. */
const MEANT: Readonly<Record<string, Pool>> = {
  link: "links",
  cable: "links",
  cables: "links",
  nic: "nics",
  switch: "switches",
  npu: "npus",
  gpu: "npus",
  gpus: "npus",
  nodes: "npus",
  box: "boxes",
  hosts: "boxes",
  servers: "boxes",
};

const place = () => optionName("failures");

function poolNamed(topology: Topology, text: string, whole: string): readonly string[] {
  const pool = POOLS.find((name) => name === text) ?? MEANT[text.toLowerCase()];
  if (pool !== undefined) return poolOf(topology, pool, place());
  const known = [...POOLS, "pairs:nics", "random:2:links:1000"];
  const expected = `${known.join(", ")}, or names of ${topology.name}${didYouMean(text, POOLS)}`;
  throw new InputError(place(), expected, whole).as("unknown-name");
}

function listed({ count, at }: FailureSets, whole: string): Failures {
  if (count > MOST_FAILURES)
    throw new InputError(place(), `at most ${MOST_FAILURES} failures`, whole)
      .as("out-of-range")
      .saying(
        `${place()} ${whole} are ${count} failures, more than ${MOST_FAILURES}; random:K:POOL:N draws some of them`,
      );
  return Array.from({ length: count }, (_, index) => at(index));
}

function wholeIn(text: string | undefined, low: number, high: number, what: string, whole: string): number {
  const value = Number(text);
  if (text !== undefined && /^\d{1,10}$/.test(text) && value >= low && value <= high) return value;
  throw new InputError(place(), `random:K:POOL:N or random:K:POOL:N:SEED, ${what} from ${low} to ${high},`, whole);
}

/** Returns the failures that one item of a list says. */
function failuresOf(topology: Topology, item: string): Failures {
  if (topology.nodeNames.includes(item)) return [[item]];
  const [form = "", ...rest] = item.split(":");
  if (form === "pairs" && rest.length === 1)
    return listed(everyOf(poolNamed(topology, rest[0] as string, item), 2, place()), item);
  if (form === "random") {
    const [k, pool = "", n, seed = "1"] = rest;
    const names = poolNamed(topology, pool, item);
    const size = wholeIn(k, 1, Math.min(MOST_TOGETHER, names.length), "K", item);
    const times = wholeIn(n, 1, MOST_FAILURES, "N", item);
    const drawn = { times, seed: wholeIn(seed, 0, MOST_SEED, "SEED", item), place: place() };
    return listed(randomOf(names, size, drawn), item);
  }
  if (item.includes("+") || /[->]/.test(item) || isBox(topology, item)) {
    const names = item.split("+");
    names.forEach(resolver(topology, place()));
    return [names];
  }
  return poolNamed(topology, item, item).map((name) => [name]);
}

/**
 * Returns the failures that a list says: links, nics, switches, npus, boxes for each of them, pairs:POOL, random:K:POOL:N[:SEED], and
 * names, with + between what fails together. Throws InputError.
 */
export function failureList(topology: Topology, items: readonly string[]): Failures {
  return items.flatMap((item) => failuresOf(topology, item));
}
