import type { InternodeSketch } from "../../model/sketch/sketch.ts";
import { asFlag, asInteger, asList, asText, placeIn, refuse } from "../text/json-value.ts";
import { byRank, connectionsOf, fieldsOf, ranksOf } from "./taccl-sketch-fields.ts";

const FIELDS = [
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
export function readInternode(value: unknown, fileName: string, npusPerBox: number): InternodeSketch {
  const fields = fieldsOf(value, fileName, "internode_sketch", FIELDS);
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
