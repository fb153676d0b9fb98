import type { HyperedgePolicy, IntranodeSketch } from "../../model/sketch/sketch.ts";
import { asList, asText, placeIn, refuse } from "../text/json-value.ts";
import { connectionsOf, fieldsOf, ranksOf } from "./taccl-sketch-fields.ts";

const FIELDS = ["strategy", "switches", "switch_hyperedge_strategy", "intranode_conn"] as const;
const STRATEGIES = ["none", "switch", "relay"] as const;
const POLICIES: readonly HyperedgePolicy[] = ["uc-min", "uc-max", "none"];

/** Returns `intranode_sketch`; a switch without a policy has "none". Throws InputError. */
export function readIntranode(value: unknown, fileName: string, npusPerBox: number): IntranodeSketch {
  const fields = fieldsOf(value, fileName, "intranode_sketch", FIELDS);
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
