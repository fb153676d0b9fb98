import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { random } from "../../base/random.ts";
import { closest } from "../../model/topology/closest.ts";
import { isBox, resolver } from "../../model/topology/modify.ts";
import { linkCount, linkNames, nodeCount, type Topology } from "../../model/topology/topology.ts";
import type { Failures } from "./classes.ts";

/** More failures than these are for nobody to read. */
const MOST_FAILURES = 1_000_000;
const POOLS = ["links", "nics", "switches", "npus", "boxes"] as const;
type Pool = (typeof POOLS)[number];

/** What else pools are called. */
const MEANT: Readonly<Record<string, Pool>> = {
  cables: "links",
  gpus: "npus",
  nodes: "npus",
  hosts: "boxes",
  servers: "boxes",
};

/** Returns the boxes that stand in a network, in the order of their first nodes. */
const boxesOf = ({ nodeTraits, nodeNames }: Topology): string[] =>
  [...new Set(nodeTraits.flatMap(({ group }) => group ?? []))].filter((name) => !nodeNames.includes(name));

/** Returns the names of cables, both ways of each as one; `only`: those of some links. */
function cables(topology: Topology, only: (link: number) => boolean = () => true): string[] {
  const { linkSource, linkTarget, nodeNames } = topology;
  const names = linkNames(topology).flatMap((link, e) => {
    const [from, to] = [linkSource[e] as number, linkTarget[e] as number];
    const [a, b] = from < to ? [from, to] : [to, from];
    return only(e) ? [`${nodeNames[a]}-${nodeNames[b]}${/#\d+$/.exec(link)?.[0] ?? ""}`] : [];
  });
  return [...new Set(names)];
}

/** Returns the cables between an NPU and what is in no box of its own, or in no box alone: switches that only one box has are in it. */
function nics(topology: Topology): string[] {
  const { linkSource, linkTarget, nodeTraits, npuCount } = topology;
  const boxOf = nodeTraits.map(({ group }) => group);
  const around: Set<string | undefined>[] = boxOf.map(() => new Set());
  for (let e = 0; e < linkCount(topology); e++) {
    const [from, to] = [linkSource[e] as number, linkTarget[e] as number];
    around[from]?.add(boxOf[to]);
    around[to]?.add(boxOf[from]);
  }
  const homeOf = (node: number): string | undefined => {
    const [only, ...others] = around[node] as Set<string | undefined>;
    return boxOf[node] ?? (node >= npuCount && others.length === 0 ? only : undefined);
  };
  return cables(topology, (e) => {
    const [from, to] = [linkSource[e] as number, linkTarget[e] as number];
    const hasNpu = from < npuCount || to < npuCount;
    return (
      hasNpu && (homeOf(from) !== homeOf(to) || (homeOf(from) === undefined && (from >= npuCount || to >= npuCount)))
    );
  });
}

function poolOf(topology: Topology, pool: Pool): string[] {
  const { nodeNames, npuCount } = topology;
  switch (pool) {
    case "links":
      return cables(topology);
    case "nics":
      return nics(topology);
    case "npus":
      return nodeNames.slice(0, npuCount);
    case "switches":
      return nodeNames.slice(npuCount, nodeCount(topology));
    case "boxes":
      return boxesOf(topology);
  }
}

const place = () => optionName("failures");

function named(topology: Topology, text: string, whole: string): string[] {
  const pool =
    POOLS.find((name) => name === text) ??
    POOLS.find((name) => name === `${text}s` || name === `${text}es`) ??
    MEANT[text];
  if (pool === undefined) {
    const near = closest(text, POOLS);
    throw new InputError(
      place(),
      `one of ${POOLS.join(", ")}${near === null ? "" : `; did you mean ${near}?`}`,
      whole,
    ).as("unknown-name");
  }
  const names = poolOf(topology, pool);
  if (names.length === 0)
    throw new InputError(place(), `what ${topology.name} has`, whole).saying(`${topology.name} has no ${pool}`);
  return names;
}

function refuseMany(count: number, whole: string): void {
  if (count <= MOST_FAILURES) return;
  throw new InputError(place(), `at most ${MOST_FAILURES} failures`, whole)
    .as("out-of-range")
    .saying(
      `${JSON.stringify(whole)} are ${count} failures; at most ${MOST_FAILURES} are looked at (random:K:POOL:N draws some)`,
    );
}

const wholeIn = (text: string | undefined, low: number, high: number, what: string, whole: string): number => {
  const value = Number(text);
  if (text !== undefined && /^\d{1,9}$/.test(text) && value >= low && value <= high) return value;
  throw new InputError(place(), `${what}, ${low} to ${high},`, whole);
};

function pairs(names: readonly string[], whole: string): string[][] {
  refuseMany((names.length * (names.length - 1)) / 2, whole);
  return names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b]));
}

/** Draws `count` different sets of `size` names, fewer where there are no more. */
function drawn(names: readonly string[], size: number, count: number, seed: number): string[][] {
  const generator = random(seed, size);
  const found = new Map<string, string[]>();
  for (let tries = 0; found.size < count && tries < 20 * count; tries++) {
    const picked = new Set<number>();
    while (picked.size < size) picked.add(generator.below(names.length));
    const places = [...picked].sort((a, b) => a - b);
    found.set(
      places.join(),
      places.map((at) => names[at] as string),
    );
  }
  return [...found.values()];
}

/** Returns the failures that one item of a list says. */
function failuresOf(topology: Topology, item: string): Failures {
  if (topology.nodeNames.includes(item)) return [[item]];
  const [form = "", ...rest] = item.split(":");
  if (form === "pairs") return pairs(named(topology, rest.join(":"), item), item);
  if (form === "random") {
    const [k, pool = "", n, seed = "1"] = rest;
    const names = named(topology, pool, item);
    const size = wholeIn(k, 1, Math.min(16, names.length), "random:K:POOL:N with so many that fail together", item);
    const count = wholeIn(n, 1, MOST_FAILURES, "random:K:POOL:N with a number of failures", item);
    return drawn(names, size, count, wholeIn(seed, 0, 999_999_999, "a seed", item));
  }
  if (item.includes("+") || /[->]/.test(item) || isBox(topology, item)) {
    const names = item.split("+");
    names.forEach(resolver(topology, place()));
    return [names];
  }
  return named(topology, item, item).map((name) => [name]);
}

/**
 * Returns the failures that a list says: links, nics, switches, npus, boxes for each of them, pairs:POOL, random:K:POOL:N[:SEED], and
 * names, with + between what fails together. Throws InputError.
 */
export function failureList(topology: Topology, items: readonly string[]): Failures {
  const all = items.flatMap((item) => failuresOf(topology, item));
  refuseMany(all.length, items.join());
  return all;
}
