import { parseSize } from "../../model/numbers/units.ts";
import {
  boxCount,
  checkSketch,
  type HyperedgePolicy,
  type InternodeSketch,
  type IntranodeSketch,
  type Sketch,
  type SymmetryOffset,
  whyNoBoxes,
} from "../../model/sketch/sketch.ts";
import { didYouMean } from "../../model/topology/closest.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { asFlag, asInteger, asList, asObject, asText, parseJson, placeIn, refuse } from "../text/json.ts";

const FIELDS = ["nnodes", "intranode_sketch", "internode_sketch", "symmetry_offsets", "hyperparameters"] as const;
const HYPERPARAMETERS = ["input_chunkup", "input_size"] as const;

/**
 * Returns the communication sketch of a TACCL file for a network (TACCL, appendix A, listing 1; the fields of its public
 * examples). A file says how many nodes there are, not how many GPUs they have: that is the network's. Without `nnodes`, which
 * the listing leaves out, the nodes are the network's boxes. `topology`: the whole network; the sketch can be used where parts of
 * it failed. Lines may end in `//` comments, as the listing's do.
 *
 * Throws InputError with the place in the file: for text that is no JSON, fields that are unknown (with the one that was perhaps
 * meant), wrong types, and parts that contradict each other (`checkSketch`). Whether the network has what the sketch names is
 * for `sketchNetwork`. O(text).
 */
export function readSketch(text: string, fileName: string, topology: Topology): Sketch {
  const fields = fieldsOf(parseJson(withoutComments(text), fileName), fileName, "", FIELDS);
  const { npuCount } = topology;
  const known = boxCount(topology);
  const told = known ?? (fields.internode_sketch === undefined ? 1 : undefined);
  if (fields.nnodes === undefined && told === undefined)
    refuse(
      placeIn(fileName, "nnodes"),
      "how many nodes there are, which only networks of equal boxes tell,",
      `${topology.name}, ${whyNoBoxes(topology)}`,
    );
  const boxes = nodesOf(fields.nnodes ?? told, fileName);
  if (known !== null && boxes !== known)
    refuse(placeIn(fileName, "nnodes"), `${known}, the boxes of ${topology.name},`, boxes);
  if (npuCount % boxes !== 0)
    refuse(
      placeIn(fileName, "nnodes"),
      `a number of nodes that divides the ${npuCount} NPUs of ${topology.name}`,
      boxes,
    );
  const npusPerBox = npuCount / boxes;
  const hyper = fieldsOf(fields.hyperparameters ?? {}, fileName, "hyperparameters", HYPERPARAMETERS);
  const sketch: Sketch = {
    name: fileName,
    boxes,
    npusPerBox,
    intranode: readIntranode(fields.intranode_sketch, fileName, npusPerBox),
    internode: internodeOf(fields.internode_sketch, fileName, npusPerBox),
    symmetries: rotationsOf(fields.symmetry_offsets, fileName),
    chunksPerNpu:
      hyper.input_chunkup === undefined
        ? 1
        : asInteger(hyper.input_chunkup, placeIn(fileName, "hyperparameters.input_chunkup"), 1),
    inputBytes: inputBytesOf(hyper.input_size, placeIn(fileName, "hyperparameters.input_size")),
    madeFor: topology,
  };
  checkSketch(sketch);
  return sketch;
}

/** Returns the number of nodes that a sketch file asks for, null where it does not say. Throws InputError as `readSketch`. */
export function readSketchNodes(text: string, fileName: string): number | null {
  const { nnodes } = fieldsOf(parseJson(withoutComments(text), fileName), fileName, "", FIELDS);
  return nnodes === undefined ? null : nodesOf(nnodes, fileName);
}

const nodesOf = (value: unknown, fileName: string): number => asInteger(value, placeIn(fileName, "nnodes"), 1, 65536);

const internodeOf = (value: unknown, fileName: string, npusPerBox: number): InternodeSketch | null =>
  value === undefined ? null : readInternode(value, fileName, npusPerBox);

function inputBytesOf(value: unknown, place: string): number | null {
  return value === undefined ? null : parseSize(asText(value, place, 'a size such as "1M"'), place);
}

function rotationsOf(value: unknown, fileName: string): SymmetryOffset[] {
  if (value === undefined) return [];
  const place = placeIn(fileName, "symmetry_offsets");
  return asList(value, place, "a list of [offset, group size]").map((pair, i) => {
    const at = `${place}[${i}]`;
    const numbers = asList(pair, at, "[offset, group size]");
    if (numbers.length !== 2) refuse(at, "[offset, group size]", pair);
    return { offset: asInteger(numbers[0], `${at}[0]`, 0), period: asInteger(numbers[1], `${at}[1]`, 0) };
  });
}

/**
 * Returns a JSON text with `//` comments, outside strings, turned into spaces, so that lines and columns stay. TACCL's listing 1
 * has them. O(text).
 */
function withoutComments(text: string): string {
  const parts: string[] = [];
  let kept = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const c = text[at];
    if (c === '"' || c === "\n") inString = c === '"' && !inString;
    else if (c === "\\" && inString) at++;
    else if (c === "/" && !inString && text[at + 1] === "/") {
      const end = text.indexOf("\n", at);
      const stop = end < 0 ? text.length : end;
      parts.push(text.slice(kept, at), " ".repeat(stop - at));
      kept = stop;
      at = stop - 1;
    }
  }
  return parts.length === 0 ? text : parts.join("") + text.slice(kept);
}

const INTERNODE_FIELDS = [
  "strategy",
  "internode_conn",
  "beta_split",
  "gpus_to_sender_rev_map",
  "chunk_to_relay_map",
  "enforce_ordering",
] as const;

type Relays = ReadonlyMap<number, readonly number[]>;

/**
 * Returns `internode_sketch`. The strategy "none" restricts nothing, so all GPUs are connected to all. Either of the two ways
 * to name relays may be used: `gpus_to_sender_rev_map` has a sender and the GPUs whose chunks it carries out of the node, as
 * TACCL's examples (sk1-dgx2-n2: sender 1 has the chunks of 0 and 1); `chunk_to_relay_map` [r1, r2] has the chunks of GPU g leave
 * through floor(g / r1) * r1 + r2. Throws InputError.
 */
function readInternode(value: unknown, fileName: string, npusPerBox: number): InternodeSketch {
  const fields = fieldsOf(value, fileName, "internode_sketch", INTERNODE_FIELDS);
  const at = (key: string): string => placeIn(fileName, `internode_sketch.${key}`);
  const strategy = asText(fields.strategy, at("strategy"), '"relay" or "none"');
  if (strategy !== "relay" && strategy !== "none") refuse(at("strategy"), '"relay" or "none"', strategy);
  if (strategy === "none" && fields.internode_conn !== undefined)
    refuse(at("internode_conn"), 'nothing with the strategy "none"', fields.internode_conn);
  const split = byRank(fields.beta_split ?? {}, at("beta_split"), npusPerBox);
  return {
    connections: strategy === "none" ? "fully-connected" : connected(fields.internode_conn, at, npusPerBox),
    betaSplit: new Map(split.map(([rank, parts]) => [rank, asInteger(parts, at(`beta_split.${rank}`), 1)])),
    relays: relaysOf(fields.gpus_to_sender_rev_map, fields.chunk_to_relay_map, at, npusPerBox),
    enforceOrdering: asFlag(fields.enforce_ordering, at("enforce_ordering")),
  };
}

function connected(value: unknown, at: (key: string) => string, npusPerBox: number): InternodeSketch["connections"] {
  if (value === "direct-map" || value === "fully-connected") return value;
  const place = at("internode_conn");
  if (typeof value !== "object" || value === null || Array.isArray(value))
    refuse(place, '"direct-map", "fully-connected" or receivers by sender, such as {"1": [0]}', value);
  return connectionsOf(value, place, npusPerBox);
}

function relaysOf(bySender: unknown, formula: unknown, at: (key: string) => string, npusPerBox: number): Relays | null {
  if (bySender !== undefined && formula !== undefined)
    refuse(at("chunk_to_relay_map"), "nothing beside gpus_to_sender_rev_map", formula);
  if (formula !== undefined) return relaysByFormula(formula, at("chunk_to_relay_map"), npusPerBox);
  if (bySender === undefined) return null;
  const place = at("gpus_to_sender_rev_map");
  const senders: number[][] = Array.from({ length: npusPerBox }, () => []);
  for (const [sender, owners] of byRank(bySender, place, npusPerBox)) {
    for (const owner of ranksOf(owners, `${place}.${sender}`)) {
      if (owner >= npusPerBox) refuse(`${place}.${sender}`, `GPUs of a node, 0 to ${npusPerBox - 1},`, owner);
      senders[owner].push(sender);
    }
  }
  return new Map(senders.flatMap((list, owner) => (list.length === 0 ? [] : [[owner, list] as const])));
}

function relaysByFormula(value: unknown, place: string, npusPerBox: number): Relays {
  const pair = asList(value, place, "[r1, r2]");
  if (pair.length !== 2) refuse(place, "[r1, r2]", value);
  const size = asInteger(pair[0], `${place}[0]`, 1, npusPerBox);
  const rank = asInteger(pair[1], `${place}[1]`, 0, size - 1);
  if (npusPerBox % size !== 0) refuse(`${place}[0]`, `a divisor of the ${npusPerBox} GPUs of a node`, size);
  const owners = Array.from({ length: npusPerBox }, (_, owner) => owner);
  return new Map(owners.map((owner) => [owner, [owner - (owner % size) + rank]]));
}

const INTRANODE_FIELDS = ["strategy", "switches", "switch_hyperedge_strategy", "intranode_conn"] as const;
const STRATEGIES = ["none", "switch", "relay"] as const;
const POLICIES: readonly HyperedgePolicy[] = ["uc-min", "uc-max", "none"];

/** Returns `intranode_sketch`; a switch without a policy has "none". Throws InputError. */
function readIntranode(value: unknown, fileName: string, npusPerBox: number): IntranodeSketch {
  const fields = fieldsOf(value, fileName, "intranode_sketch", INTRANODE_FIELDS);
  const at = (key: string): string => placeIn(fileName, `intranode_sketch.${key}`);
  const strategy = oneOf(fields.strategy, at("strategy"), STRATEGIES);
  const switches = listOf(fields.switches, at("switches"), ranksOf);
  const policies = listOf(fields.switch_hyperedge_strategy, at("switch_hyperedge_strategy"), (policy, place) =>
    oneOf(policy, place, POLICIES),
  );
  const connections =
    fields.intranode_conn === undefined ? null : connectionsOf(fields.intranode_conn, at("intranode_conn"), npusPerBox);
  return {
    strategy,
    switches,
    policies: fields.switch_hyperedge_strategy === undefined ? switches.map(() => "none" as const) : policies,
    connections,
  };
}

function listOf<T>(value: unknown, place: string, one: (item: unknown, place: string) => T): T[] {
  if (value === undefined) return [];
  return asList(value, place).map((item, i) => one(item, `${place}[${i}]`));
}

function oneOf<Word extends string>(value: unknown, place: string, words: readonly Word[]): Word {
  const expected = words.map((word) => `"${word}"`).join(", ");
  const text = asText(value, place, `one of ${expected}`);
  const word = words.find((known) => known === text);
  return word ?? refuse(place, `one of ${expected}`, value);
}

/**
 * Returns an object of which only these fields are known, at `path` of a file. Throws InputError that names the first other
 * field, and the known one that it resembles.
 */
function fieldsOf<Field extends string>(
  value: unknown,
  fileName: string,
  path: string,
  known: readonly Field[],
): Readonly<Partial<Record<Field, unknown>>> {
  const fields = asObject<Partial<Record<Field, unknown>>>(value, placeIn(fileName, path));
  for (const key of Object.keys(fields)) {
    if (!(known as readonly string[]).includes(key))
      refuse(placeIn(fileName, path), `fields among ${known.join(", ")}${didYouMean(key, known)}`, key);
  }
  return fields;
}

/** Returns a list of local ranks, ascending. Throws InputError for anything else; ranges are checkSketch's. */
function ranksOf(value: unknown, place: string): number[] {
  return asList(value, place, "a list of GPUs")
    .map((rank, i) => asInteger(rank, `${place}[${i}]`, 0))
    .sort((a, b) => a - b);
}

/** Returns an object of GPUs, such as {"1": ...}, as pairs in ascending order. Throws InputError for other keys. */
function byRank(value: unknown, place: string, npusPerBox: number): (readonly [rank: number, value: unknown])[] {
  const object = asObject<Record<string, unknown>>(value, place);
  return Object.entries(object)
    .map(([key, entry]) => {
      if (!/^(0|[1-9]\d{0,8})$/.test(key) || Number(key) >= npusPerBox)
        refuse(place, `GPUs of a node, "0" to "${npusPerBox - 1}", as keys`, key);
      return [Number(key), entry] as const;
    })
    .sort((a, b) => a[0] - b[0]);
}

/** Returns {"1": [0], ...} as a map of GPUs, both ascending. Throws InputError. */
function connectionsOf(value: unknown, place: string, npusPerBox: number): ReadonlyMap<number, readonly number[]> {
  return new Map(byRank(value, place, npusPerBox).map(([rank, list]) => [rank, ranksOf(list, `${place}.${rank}`)]));
}
