import { InputError } from "../../base/errors.ts";
import type { Program } from "../../model/program/program.ts";
import { parseJson } from "../text/json-text.ts";
import { looksLikeMscclXml, readMscclXml } from "./msccl-xml.ts";
import { looksLikeMscclppJson, readMscclppJson } from "./mscclpp-json.ts";

const READABLE = "a program: MSCCL XML (its first element is <algo>) or an MSCCL++ plan in JSON";

/** Returns true where a text seems to be a program rather than a schedule or a network. */
export function looksLikeProgram(text: string): boolean {
  if (looksLikeMscclXml(text)) return true;
  return /^\ufeff?\s*\{/.test(text) && text.includes('"gpus"') && text.includes('"threadblocks"');
}

/** Returns the program in a text whose format is told by its content. Throws InputError. */
export function readProgram(text: string, fileName: string): Program {
  if (looksLikeMscclXml(text)) return readMscclXml(text, fileName);
  if (/^\ufeff?\s*[{[]/.test(text)) {
    const value = parseJson(text, fileName);
    if (looksLikeMscclppJson(value)) return readMscclppJson(text, fileName);
    throw new InputError(fileName, READABLE, Array.isArray(value) ? "a list" : value);
  }
  if (text.trim() === "") throw new InputError(fileName, READABLE);
  throw new InputError(fileName, READABLE, text.trimStart().slice(0, 40));
}
