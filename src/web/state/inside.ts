import { InputError } from "../../base/errors.ts";
import type { GivenFile } from "../protocol.ts";

/** Files that come with the page: within it, or offered by its server. */

/** Files that a server offers stand in this folder, beside the page. */
const FOLDER = "inside/";

/** Returns the file within the page, as `banyan export --to html` puts it there; null where there is none. Throws InputError. */
export function fileWithin(): GivenFile | null {
  const text = document.getElementById("banyan-inside")?.textContent?.trim() ?? "";
  if (text === "" || text === "null") return null;
  const place = "what this page has inside";
  let inside: unknown;
  try {
    inside = JSON.parse(text);
  } catch {
    throw new InputError(place, "the text of a file, undamaged,", text);
  }
  const { name, text: content } = (inside ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof name !== "string" || typeof content !== "string")
    throw new InputError(place, "a file's name and text", inside);
  return { name, content: new Blob([content], { type: "application/json" }) };
}

/** Returns a file that the page's server offers. Throws InputError where it does not, or cannot be asked. */
export async function fileOffered(name: string): Promise<GivenFile> {
  const place = "the file that the address names";
  if (name === "." || name === "..") throw new InputError(place, "a name", name);
  if (!location.protocol.startsWith("http"))
    throw new InputError(place, "a page that a server gave, not a file,", name);
  let response: Response;
  try {
    response = await fetch(new URL(FOLDER + encodeURIComponent(name), document.baseURI));
  } catch {
    throw new InputError(place, "a server that answers (is banyan serve still running?)", name);
  }
  if (!response.ok) throw new InputError(place, "a file that this page's server offers (banyan serve FILE)", name);
  try {
    return { name, content: await response.blob() };
  } catch {
    throw new InputError(place, "a file that arrives whole (can banyan serve still read it?)", name);
  }
}
