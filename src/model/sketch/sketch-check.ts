import { InputError } from "../../base/errors.ts";
import type { InternodeSketch, IntranodeSketch, Sketch } from "./sketch.ts";

/** Larger splits of a NIC are mistakes, and their shares would leave exact numbers. */
const MOST_SPLIT = 1024;
const MOST_CHUNKS = 65536;
const MOST_NPUS = 2 ** 20;

/** Returns how messages name a field of a sketch; `path` as in TACCL's JSON. */
export const sketchPlace = (sketch: Pick<Sketch, "name">, path: string): string => `${sketch.name}: ${path}`;

type Refuse = (path: string, expected: string, received: unknown) => never;

/**
 * Throws InputError, which names the field as TACCL's JSON does, where parts of a sketch contradict each other, whatever the
 * network: ranks out of a box or named twice, a policy too many, senders that have no connection, GPUs whose chunks nobody
 * may carry, rotations that do not divide the NPUs. O(size of the sketch).
 */
export function checkSketch(sketch: Sketch): void {
  const refuse: Refuse = (path, expected, received) => {
    throw new InputError(sketchPlace(sketch, path), expected, received);
  };
  const { boxes, npusPerBox } = sketch;
  checkWhole("nnodes", boxes, 1, MOST_NPUS, refuse);
  checkWhole("NPUs of a box", npusPerBox, 1, MOST_NPUS, refuse);
  checkWhole("NPUs", boxes * npusPerBox, 1, MOST_NPUS, refuse);
  checkIntranode(sketch.intranode, npusPerBox, refuse);
  if (sketch.internode !== null) {
    if (boxes === 1) refuse("internode_sketch", "nothing, as nnodes is 1,", "a sketch between nodes");
    checkInternode(sketch.internode, npusPerBox, refuse);
  } else if (boxes > 1) {
    refuse("internode_sketch", `connections between the ${boxes} nodes`, null);
  }
  checkRotations(sketch, refuse);
  checkWhole("hyperparameters.input_chunkup", sketch.chunksPerNpu, 1, MOST_CHUNKS, refuse);
  if (sketch.inputBytes !== null)
    checkWhole("hyperparameters.input_size", sketch.inputBytes, 1, Number.MAX_SAFE_INTEGER, refuse);
}

function checkWhole(path: string, value: number, low: number, high: number, refuse: Refuse): void {
  if (!Number.isSafeInteger(value) || value < low || value > high)
    refuse(path, `an integer in ${low} .. ${high}`, value);
}

/** Checks local ranks of a list: in range, each once, `least` or more of them. */
function checkRanks(
  path: string,
  ranks: readonly number[],
  npus: number,
  least: number,
  what: string,
  refuse: Refuse,
): void {
  if (ranks.length < least) refuse(path, `a list of ${what}, ${least} or more,`, ranks);
  const seen = new Set<number>();
  ranks.forEach((rank, i) => {
    checkWhole(`${path}[${i}]`, rank, 0, npus - 1, refuse);
    if (seen.has(rank)) refuse(path, `each of its ${what} once`, ranks);
    seen.add(rank);
  });
}

function checkIntranode(intranode: IntranodeSketch, npus: number, refuse: Refuse): void {
  const { strategy, switches, policies, connections } = intranode;
  const at = (key: string): string => `intranode_sketch.${key}`;
  if (!["none", "switch", "relay"].includes(strategy)) refuse(at("strategy"), '"none", "switch" or "relay"', strategy);
  if (strategy === "switch" && switches.length === 0) refuse(at("switches"), "at least one switch", switches);
  if (strategy !== "switch" && switches.length > 0)
    refuse(at("switches"), `no switches with the strategy "${strategy}"`, switches);
  if (policies.length !== switches.length)
    refuse(at("switch_hyperedge_strategy"), `one policy for each of the ${switches.length} switches`, policies);
  policies.forEach((policy, i) => {
    if (!["uc-min", "uc-max", "none"].includes(policy))
      refuse(at(`switch_hyperedge_strategy[${i}]`), '"uc-min", "uc-max" or "none"', policy);
  });
  switches.forEach((ranks, i) => {
    checkRanks(at(`switches[${i}]`), ranks, npus, 2, "GPUs", refuse);
  });
  checkSwitchPairs(switches, at("switches"), refuse);
  if (strategy === "relay" && connections === null) refuse(at("intranode_conn"), "connections", null);
  if (connections === null) return;
  if (strategy !== "relay") refuse(at("intranode_conn"), `nothing with the strategy "${strategy}"`, "connections");
  checkConnections(connections, at("intranode_conn"), npus, refuse);
  for (const [sender, receivers] of connections)
    if (receivers.includes(sender)) refuse(at(`intranode_conn.${sender}`), "other GPUs than the sender", receivers);
}

/** Two GPUs may meet in one switch of the sketch only: their connection belongs to one hyperedge. */
function checkSwitchPairs(switches: readonly (readonly number[])[], place: string, refuse: Refuse): void {
  const twice = metTwice(switches);
  if (twice === null) return;
  const { set, before, ranks } = twice;
  refuse(`${place}[${set}]`, `at most one GPU of switches[${before}]`, `GPUs ${ranks.join(" and ")}`);
}

/** Two sets of ranks that have two of them in common. */
interface MetTwice {
  readonly set: number;
  readonly before: number;
  readonly ranks: readonly [number, number];
}

/** Returns the first set that has two ranks in common with one before it; null where there is none. O(ranks in sets x sets of a rank). */
export function metTwice(sets: readonly (readonly number[])[]): MetTwice | null {
  const setsOf = new Map<number, number[]>();
  for (const [set, ranks] of sets.entries()) {
    const common = new Map<number, number>();
    for (const rank of ranks) {
      const others = setsOf.get(rank) ?? [];
      for (const before of others) {
        const known = common.get(before);
        if (known !== undefined) return { set, before, ranks: [known, rank] };
        common.set(before, rank);
      }
      setsOf.set(rank, [...others, set]);
    }
  }
  return null;
}

function checkConnections(
  connections: ReadonlyMap<number, readonly number[]>,
  place: string,
  npus: number,
  refuse: Refuse,
): void {
  if (connections.size === 0) refuse(place, "at least one sender", "none");
  for (const [sender, receivers] of connections) {
    checkWhole(`a sender of ${place}`, sender, 0, npus - 1, refuse);
    checkRanks(`${place}.${sender}`, receivers, npus, 1, "receivers", refuse);
  }
}

function checkInternode(internode: InternodeSketch, npus: number, refuse: Refuse): void {
  const { connections, betaSplit, relays } = internode;
  const at = (key: string): string => `internode_sketch.${key}`;
  if (typeof connections !== "string") checkConnections(connections, at("internode_conn"), npus, refuse);
  else if (connections !== "direct-map" && connections !== "fully-connected")
    refuse(at("internode_conn"), '"direct-map", "fully-connected" or receivers by sender', connections);
  const sends = (rank: number): boolean => typeof connections === "string" || connections.has(rank);
  for (const [sender, parts] of betaSplit) {
    checkWhole(`a sender of ${at("beta_split")}`, sender, 0, npus - 1, refuse);
    if (!sends(sender)) refuse(at("beta_split"), "senders that internode_conn connects", sender);
    checkWhole(at(`beta_split.${sender}`), parts, 1, MOST_SPLIT, refuse);
  }
  if (relays === null) return;
  const place = at("gpus_to_sender_rev_map (or chunk_to_relay_map)");
  for (const [owner, senders] of relays) {
    checkWhole(`a GPU of ${place}`, owner, 0, npus - 1, refuse);
    checkRanks(`the senders of GPU ${owner} in ${place}`, senders, npus, 1, "senders", refuse);
    for (const sender of senders) if (!sends(sender)) refuse(place, "senders that internode_conn connects", sender);
  }
  for (let owner = 0; owner < npus; owner++)
    if (!relays.has(owner)) refuse(place, "a sender for the chunks of every GPU", `none for GPU ${owner}`);
}

function checkRotations({ symmetries, boxes, npusPerBox }: Sketch, refuse: Refuse): void {
  const npus = boxes * npusPerBox;
  symmetries.forEach(({ offset, period }, i) => {
    const place = `symmetry_offsets[${i}]`;
    if (!Number.isSafeInteger(period) || period < 2 || npus % period !== 0)
      refuse(place, `a group size of 2 or more that divides the ${npus} NPUs`, [offset, period]);
    if (!Number.isSafeInteger(offset) || offset < 1 || offset >= period)
      refuse(place, `an offset in 1 .. ${period - 1}`, [offset, period]);
  });
}
