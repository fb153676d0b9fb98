import { ATLAS_SCHEMA, type AtlasIndex } from "../../model/atlas/atlas-index.ts";
import { asInteger, asList, asObject, asText, type JsonFields, parseJson, refuse } from "../text/json.ts";

type Unknown = Readonly<Record<string, unknown>>;

const number = (value: unknown, place: string): void => {
  if (typeof value !== "number") refuse(place, "a number", value);
};

/** Throws InputError where a value is neither null nor passes a check. */
function orNull(value: unknown, place: string, check: (value: unknown, place: string) => unknown): void {
  if (value !== null) check(value, place);
}

function checkSchedule(value: unknown, place: string): void {
  const one = asObject<Unknown>(value, place);
  for (const key of ["file", "sha256", "algorithm", "because"]) asText(one[key], `${place}.${key}`);
  for (const key of ["us", "algbwGBps", "throughputGBps", "ofLimit"]) orNull(one[key], `${place}.${key}`, number);
  number(one["limitUs"], `${place}.limitUs`);
  asInteger(one["bytes"], `${place}.bytes`, 0);
  // a file that leads out of the folder is none of the atlas
  const file = one["file"] as string;
  if (file.startsWith("/") || file.includes("\\") || file.split("/").includes(".."))
    refuse(`${place}.file`, "a file in the folder of the atlas", file);
}

function checkClass(value: unknown, place: string): void {
  const one = asObject<Unknown>(value, place);
  for (const key of ["failed", "on"])
    for (const name of asList(one[key], `${place}.${key}`)) asText(name, `${place}.${key}`);
  if (!["done", "impossible", "refused", "open"].includes(one["status"] as string))
    refuse(`${place}.status`, "done, impossible, refused or open", one["status"]);
  orNull(one["schedule"], `${place}.schedule`, checkSchedule);
  if (one["status"] === "done" && one["schedule"] === null) refuse(`${place}.schedule`, "a schedule", null);
  for (const key of ["slower", "limitRose"]) orNull(one[key], `${place}.${key}`, number);
  for (const key of ["why", "keptNote"]) orNull(one[key], `${place}.${key}`, asText);
  orNull(one["kept"], `${place}.kept`, (kept, at) => {
    const { what, kept: count, of } = asObject<Unknown>(kept, at);
    asText(what, `${at}.what`);
    asInteger(count, `${at}.kept`, 0);
    asInteger(of, `${at}.of`, 0);
  });
}

function checkTable(value: unknown, place: string, classes: number): void {
  for (const [name, at] of Object.entries(asObject<Unknown>(value, place)))
    asInteger(at, `${place}[${JSON.stringify(name)}]`, 0, classes - 1);
}

function checkOptions(value: unknown, place: string): void {
  for (const [id, text] of Object.entries(asObject<Unknown>(value, place)))
    if (text !== true) asText(text, `${place}.${id}`);
}

/** Returns the index of an atlas that a text is. Throws InputError with the place in the file. O(text). */
export function readAtlasIndex(text: string, fileName: string): AtlasIndex {
  const at = (path: string): string => `${fileName}: ${path}`;
  type Fields = JsonFields<"schema" | "version" | "network" | "making" | "collectives">;
  const index = asObject<Fields>(parseJson(text, fileName), fileName);
  if (index.schema !== ATLAS_SCHEMA) refuse(at("schema"), JSON.stringify(ATLAS_SCHEMA), index.schema);
  asText(index.version, at("version"));
  const network = asObject<Unknown>(index.network, at("network"));
  for (const key of ["name", "hash", "file", "given"]) asText(network[key], at(`network.${key}`));
  for (const key of ["npus", "switches", "links"]) asInteger(network[key], at(`network.${key}`), 0);
  checkOptions(network["options"], at("network.options"));
  checkOptions(index.making, at("making"));
  for (const [kind, value] of Object.entries(asObject<Unknown>(index.collectives, at("collectives")))) {
    const place = at(`collectives.${kind}`);
    const one = asObject<Unknown>(value, place);
    checkSchedule(one["healthy"], `${place}.healthy`);
    const classes = asList(one["classes"], `${place}.classes`);
    for (const [i, each] of classes.entries()) checkClass(each, `${place}.classes[${i}]`);
    checkTable(one["failures"], `${place}.failures`, classes.length);
    for (const [key, table] of Object.entries(asObject<Unknown>(one["further"], `${place}.further`)))
      checkTable(table, `${place}.further[${JSON.stringify(key)}]`, classes.length);
  }
  return index as unknown as AtlasIndex;
}
