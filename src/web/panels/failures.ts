import { flagOf, flagOfField, PAGE_OPTIONS, READING_OPTIONS } from "../../request/option-table.ts";
import type { Failure } from "../protocol.ts";
import { trouble, unread } from "../state/store.ts";

/** Where on the page a failure is shown: beside the field that caused it, or in the alert at the top. */

/** What is on the command line only, in the words of the page. */
const HERE = [
  ["a network in a format of `banyan list formats`", "a network, a schedule or a program in a format that can be read"],
  ["(`iconv -f UTF-16 -t UTF-8` makes one)", "(save it in that encoding)"],
] as const;

/** Returns a failure as a sentence with an end, and a capital unless it begins with a name such as mesh:4x4. */
export function sentenceOf({ message }: Pick<Failure, "message">): string {
  const text = HERE.reduce((said, [there, here]) => said.replace(there, here), message.trim());
  const begun = /^(?!\S+ is not connected)[a-z]+[ ,]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?^]$/.test(begun) ? begun : `${begun}.`;
}

/** Options that have a field, as the command line writes them. */
const WITH_FIELD: ReadonlySet<string> = new Set(PAGE_OPTIONS.map(flagOf));
const OF_FILES: ReadonlySet<string> = new Set(READING_OPTIONS.map(flagOf));

export type Spot = `--${string}` | "network" | "file" | "export" | "alert";

/** Returns where a failure is shown. `hasFile`: fields that say how a file is read are there. */
export function spotOf(about: string, { kind, option }: Failure, hasFile: boolean): Spot {
  if (kind !== "input") return about === "export" ? "export" : "alert";
  const flag = option ? flagOfField(option) : "";
  if (about === "export") return "export";
  if (WITH_FIELD.has(flag) || (hasFile && OF_FILES.has(flag))) return flag as Spot;
  if (about === "open") return "file";
  return about === "network" ? "network" : "alert";
}

/** Returns where what went wrong last is shown; null where nothing did. */
export function troubleSpot(hasFile: boolean): Spot | null {
  const wrong = trouble.value;
  return wrong === null ? null : spotOf(wrong.about, wrong.failure, hasFile || unread.value !== null);
}

/** Returns what is to be said at a spot; null: nothing. */
export function failureAt(spot: Spot, hasFile = false): string | null {
  const wrong = trouble.value;
  return wrong !== null && troubleSpot(hasFile) === spot ? sentenceOf(wrong.failure) : null;
}

/** Returns what the user can do about a failure that no field caused, a sentence; null where the message says it. */
export function adviceFor({ kind }: Pick<Failure, "kind">): string | null {
  if (kind === "memory")
    return "A fresh worker has taken its place; what you set is still here. Try fewer chunks, a smaller network, or the command line.";
  if (kind === "internal")
    return "This is a mistake of Banyan, not yours. What you set is still here; other options may work. Please report it with the sentence above.";
  return null;
}
