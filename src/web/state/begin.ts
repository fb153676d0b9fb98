import { batch } from "@preact/signals";
import { InputError } from "../../base/errors.ts";
import type { Options } from "../../request/option-table.ts";
import { goOffline } from "../offline/register.ts";
import type { GivenFile } from "../protocol.ts";
import { cancelOnly, changeWords, complain, openFile, readNetwork, synthesize } from "./actions.ts";
import { type Address, namesNetwork, readAddress, saysNothing } from "./address.ts";
import { fingerprintOf, packFile, unpackFile } from "./address-file.ts";
import { ask } from "./client.ts";
import { followWords, hasSchedule, hearBench, holdAddress, lastAddress, noteAddress, recall } from "./history.ts";
import { keptAddress, keptFile, pauseKeeping } from "./keep.ts";
import {
  beginsAtOnce,
  isArriving,
  type Made,
  made,
  network,
  program,
  trouble,
  wantedExample,
  welcome,
  words,
} from "./store.ts";
import { FIRST_EXAMPLE, FIRST_WORDS, networkWish, type Words } from "./words.ts";

/** How the page begins and follows its address: what is inside the page, what the address says, what was kept, a first visit. */

let turns = 0;
/** The file within the page. */
let within: GivenFile | null = null;

/** Returns the words of an address but for its file; what it does not say is taken from a first visit's. */
export function wordsOf({ topology, options, view, choices }: Address): Words {
  return {
    topology: topology ?? FIRST_WORDS.topology,
    file: null,
    // an address of ours names the collective, and then says all; one by hand may say a little
    options: options["collective"] === undefined ? { ...FIRST_WORDS.options, ...options } : options,
    view: view ?? FIRST_WORDS.view,
    choices,
  };
}

/** Says what of the address cannot be used, unless something else went wrong since. */
function complainOf(sentences: readonly string[]): void {
  if (sentences.length === 0 || trouble.value !== null) return;
  const message = `not all of the address could be used: ${sentences.join("; ")}`;
  trouble.value = { about: "address", failure: { kind: "input", place: null, message } };
}

/** Returns the file that is shown, or was with the schedule of the address, where the address means that. */
async function fileAtHand(packed: string): Promise<GivenFile | null> {
  const shown = program.value?.file ?? words.value.file;
  for (const file of [shown, recall(lastAddress())?.words.file ?? null]) {
    if (file !== null && (await packFile(file)) === packed) return file;
  }
  return null;
}

/** Returns the file of an address; null where it names none. Throws InputError where it cannot be had. */
async function fileOf({ file: packed, open }: Address): Promise<GivenFile | null> {
  if (open !== null) return fileOffered(open);
  if (packed === null) return null;
  const atHand = await fileAtHand(packed);
  if (atHand !== null) return atHand;
  const mention = await unpackFile(packed);
  if ("given" in mention) return mention.given;
  const { name, fingerprint } = mention;
  if (within !== null && (await fingerprintOf(within.content)) === fingerprint) return { ...within, name };
  const kept = await keptFile(fingerprint);
  if (kept !== null) return kept;
  throw new InputError("the file of the address", "a file that this browser has kept (open it again)", name);
}

/**
 * Opens a file with the options, the view and the choices of words; without success there is at least a network. `said`: the
 * address's options; what it leaves open a schedule's file says.
 */
async function openWith(
  file: GivenFile,
  { options, view, choices }: Words,
  said: Options,
  turn: number,
): Promise<void> {
  const asFile = file.content instanceof File ? file.content : new File([file.content], file.name);
  words.value = { ...words.value, options };
  const opened = await openFile(asFile, networkWish({ topology: "", file, options, view, choices }, true).options);
  if (turn !== turns) return;
  if (opened === null || opened.kind === "program") {
    if (network.value === null) await readNetwork();
    words.value = { ...words.value, view, choices };
    return;
  }
  const saysAll = said["collective"] !== undefined;
  await changeWords({
    ...words.value,
    options: saysAll ? options : { ...words.value.options, ...said },
    view,
    choices,
  });
}

/** Shows a network where the one of the words cannot be: without its changes, or a first visit's; words and what is wrong stay. */
async function showOtherNetwork(asked: Words): Promise<void> {
  for (const wish of [networkWish(asked, true), networkWish(FIRST_WORDS)]) {
    try {
      network.value = await ask("network", { wish });
      return;
    } catch (error) {
      if (trouble.value === null) complain("network", error);
    }
  }
}

/** Marks an option that cannot be as the address's: it is reported at the top, too, for its field may be out of sight. */
function blameAddress(): void {
  const wrong = trouble.value;
  if (wrong !== null && typeof wrong.failure.option === "string") trouble.value = { ...wrong, isOfAddress: true };
}

/**
 * Shows what an address says, and returns whether its file could be had. `isOurs`: it was not typed or sent by anybody, so nothing
 * is said of what is missing.
 */
async function show(address: Address, isOurs = false): Promise<boolean> {
  const turn = ++turns;
  const release = holdAddress();
  const complaints = [...address.complaints];
  let hasFile = true;
  trouble.value = null;
  try {
    const next = wordsOf(address);
    let file: GivenFile | null = null;
    try {
      file = (await fileOf(address)) ?? (namesNetwork(address) ? null : within);
    } catch (error) {
      hasFile = false;
      complaints.push((error as Error).message);
    }
    if (turn !== turns) return hasFile;
    const shown = program.value?.file ?? words.value.file;
    if (file === null || address.topology !== null) {
      if (file === null) program.value = null;
      await changeWords(next);
      if (network.value === null && trouble.value === null) await readNetwork();
      if (network.value === null) await showOtherNetwork(next);
    }
    if (file !== null && file !== shown) await openWith(file, next, address.options, turn);
    else if (file !== null && program.value === null) await changeWords({ ...next, topology: "", file });
  } finally {
    release();
  }
  if (!isOurs) {
    blameAddress();
    complainOf(complaints);
  }
  return hasFile;
}

/** Shows a schedule that was shown under this address before. */
function showAgain(last: Made): void {
  batch(() => {
    // a file that was read from the address is another object
    const { file } = words.value;
    if (file !== null && program.value === null) words.value = { ...words.value, file: last.words.file };
    made.value = last;
  });
}

/** Shows what an address says, and makes or recalls its schedule; none of another network where its file is missing. */
async function follow(fragment: string): Promise<void> {
  noteAddress(fragment);
  cancelOnly("open");
  const address = readAddress(fragment);
  if (!(await show(address))) return;
  beginsAtOnce.value = fragment === wantedExample.value;
  // a schedule of another network would be out of date beside an example of something else
  if (beginsAtOnce.value && !address.run) made.value = null;
  if (!address.run || fragment !== lastAddress() || trouble.value?.about === "network") return;
  const last = recall(fragment);
  if (last !== undefined) showAgain(last);
  if (hasSchedule()) {
    cancelOnly("make");
    return;
  }
  await synthesize();
  blameAddress();
  complainOf(address.complaints);
}

/** Follows the address when the user changes it or goes back. */
function listen(): void {
  const heard = (): void => {
    if (!hearBench() && location.hash !== lastAddress()) void follow(location.hash);
  };
  addEventListener("popstate", heard);
  addEventListener("hashchange", heard);
}

/** Starts the worker and asks what there is; the copy for work without a network waits until all of that is there. */
async function meet(): Promise<void> {
  try {
    welcome.value = await ask("welcome", {});
  } catch (error) {
    complain("network", error);
  }
  await goOffline();
}

/** Starts the worker, shows what is asked for or was kept, and writes the address from then on. */
export async function begin(): Promise<void> {
  void meet();
  let broken = "";
  try {
    within = fileWithin();
  } catch (error) {
    broken = (error as Error).message;
  }
  if (within !== null) pauseKeeping();
  listen();
  followWords();
  const isBench = hearBench();
  const asked = isBench ? "" : location.hash;
  const isFree = within === null && saysNothing(readAddress(asked));
  const kept = isFree ? keptAddress() : null;
  if (kept !== null) await show(readAddress(kept), true);
  else if (!isFree || broken !== "" || isBench) await follow(asked);
  else {
    isArriving.value = true;
    wantedExample.value = FIRST_EXAMPLE;
    await follow(FIRST_EXAMPLE);
    isArriving.value = false;
  }
  if (broken !== "") trouble.value = { about: "address", failure: { kind: "input", place: null, message: broken } };
}

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
async function fileOffered(name: string): Promise<GivenFile> {
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
