import { batch } from "@preact/signals";
import { visible } from "../../base/visible.ts";
import { flagOf, flagOfField, type Options } from "../../request/option-table.ts";
import type { Progress } from "../../request/progress.ts";
import type { GivenFile, NetworkView, Opened, Subject } from "../protocol.ts";
import { withChoices } from "./choices.ts";
import { ask, failureOf } from "./client.ts";
import {
  before,
  busy,
  hovered,
  isReading,
  made,
  network,
  notes,
  type Point,
  program,
  type Selection,
  selection,
  trouble,
  unread,
  words,
} from "./store.ts";
import { makeWish, networkWish, sameNetwork, type ViewName, type Words, withNetwork, withOptions } from "./words.ts";

/** All that changes the page's state. */

type About = NonNullable<typeof trouble.value>["about"];

let reading: AbortController | null = null;
/** What the user waits for: one thing at a time. */
let awaited: AbortController | null = null;
let noteId = 0;

/** A sentence stays for as long as it takes to read. */
const NOTE_MS = 4000;
const NOTE_MS_PER_LETTER = 50;

/** Typing a network's name pauses for so long before it is read. */
const TYPING_MS = 300;
let typing: ReturnType<typeof setTimeout> | undefined;

/** Says a sentence that passes. */
export function say(text: string): void {
  const id = ++noteId;
  notes.value = [...notes.value, { id, text }];
  setTimeout(
    () => {
      notes.value = notes.value.filter((note) => note.id !== id);
    },
    NOTE_MS + NOTE_MS_PER_LETTER * text.length,
  );
}

/** Shows what went wrong, beside what caused it; nothing where it was cancelled. */
export function complain(about: About, error: unknown): void {
  const failure = failureOf(error);
  if (failure.kind !== "cancelled") trouble.value = { about, failure };
}

/** Reads the network of the words and shows it; the last good one stays where it cannot be read. */
export async function readNetwork(): Promise<boolean> {
  reading?.abort();
  const controller = new AbortController();
  reading = controller;
  isReading.value = true;
  const asked = words.value;
  try {
    const view = await ask("network", { wish: networkWish(asked) }, { signal: controller.signal });
    if (reading !== controller) return false;
    showNetwork(view);
    if (trouble.value?.about === "network") trouble.value = null;
    return true;
  } catch (error) {
    if (reading === controller) complain("network", error);
    return false;
  } finally {
    if (reading === controller) isReading.value = false;
  }
}

/** Lets go of the network that is read, or would be when the typing pauses: another one is there. */
function stopReading(): void {
  clearTimeout(typing);
  reading?.abort();
  reading = null;
  isReading.value = false;
}

function showNetwork(view: NetworkView): void {
  batch(() => {
    const last = network.value;
    if (last !== null && view.hash !== last.hash) {
      selection.value = selectedIn(view, last, selection.value);
      hovered.value = null;
    }
    network.value = view;
  });
}

/** Changes options; undefined takes one away. What concerns the network is read again. */
export async function changeOptions(changes: Options): Promise<boolean> {
  const option = trouble.value?.failure.option ?? null;
  if (option !== null && Object.keys(changes).some((id) => flagOf(id) === flagOfField(option))) trouble.value = null;
  return changeWords(withOptions(words.value, changes));
}

/** Changes the words, and reads the network again where it is another one. */
export async function changeWords(next: Words): Promise<boolean> {
  const isOther = !sameNetwork(networkWish(next), networkWish(words.value));
  words.value = next;
  return isOther ? readNetwork() : true;
}

export function showView(view: ViewName): void {
  words.value = { ...words.value, view };
}

/** Changes what views let one choose; undefined: what they show by themselves. */
export function choose(changes: Parameters<typeof withChoices>[1]): void {
  words.value = { ...words.value, choices: withChoices(words.value.choices, changes) };
}

/** Forgets the file that could not be read. */
export function leaveUnread(): void {
  unread.value = null;
  if (trouble.value?.about === "open") trouble.value = null;
}

/** Takes another preset for the network, as it is typed: it is read when the typing pauses, or `atOnce`. */
export function typeNetwork(topology: string, atOnce = false): void {
  cancelOnly("open");
  words.value = withNetwork(words.value, topology, null);
  leaveUnread();
  clearTimeout(typing);
  if (atOnce) void readNetwork();
  else typing = setTimeout(() => void readNetwork(), TYPING_MS);
}

/** Begins something that the user waits for, in place of what was waited for before; returns what cancels it. */
function begun(what: NonNullable<typeof busy.value>["what"]): AbortController {
  awaited?.abort();
  awaited = new AbortController();
  batch(() => {
    busy.value = { what, progress: null };
    trouble.value = null;
  });
  return awaited;
}

function ended(controller: AbortController): void {
  if (awaited !== controller) return;
  awaited = null;
  busy.value = null;
}

/** Shows how far the work of that controller is. */
const showing = (controller: AbortController) => (progress: Progress) => {
  if (awaited === controller && busy.value !== null) busy.value = { ...busy.value, progress };
};

/** Notes for whoever measures how long it took from asking to the frame that shows the answer. */
function noteShown(startTime: number): void {
  requestAnimationFrame(() => performance.measure("synthesis shown", { start: startTime }));
}

/** Synthesizes what the words ask for. */
export async function synthesize(): Promise<boolean> {
  const asking = performance.now();
  const controller = begun("make");
  const { signal } = controller;
  const asked = words.value;
  let about: About = "network";
  try {
    const wish = makeWish(asked);
    // the network that was asked for: it may have been changed since
    const view = await ask("network", { wish: wish.network }, { signal });
    about = "make";
    const schedule = await ask("make", { wish }, { signal, onProgress: showing(controller) });
    batch(() => {
      made.value = { schedule, network: schedule.network ?? view, words: asked };
      program.value = null;
    });
    noteShown(asking);
    return true;
  } catch (error) {
    if (awaited === controller) complain(about, error);
    return false;
  } finally {
    ended(controller);
  }
}

/** Stops what the user waits for. */
export function cancel(): void {
  awaited?.abort();
  awaited = null;
  busy.value = null;
}

/** Stops that, where it is what the user waits for. */
export function cancelOnly(what: NonNullable<typeof busy.value>["what"]): void {
  if (busy.value?.what === what) cancel();
}

/** Returns what is to be said of a file that was opened, sentences. */
function remarksOn(opened: Opened, name: string): string[] {
  if (opened.kind === "schedule")
    return [
      ...(opened.asked === null ? [`${name} is for a custom collective, which the form cannot express.`] : []),
      ...(opened.sends?.notes ?? []).map((note) => `${note}.`),
    ];
  if (opened.kind === "program" || opened.network.sources.length < 2) return [];
  const { sizeText, sources } = opened.network;
  return [`${name}: ${sizeText}. ${sources.length} remarks below its name say how it was read and what was assumed.`];
}

/** Has what is said of the file that could not be read below the button that opens files. */
export function putUnreadAside(): void {
  if (unread.value !== null) unread.value = { ...unread.value, at: null };
}

/**
 * Opens a file that was dropped, pasted or chosen: a network, a schedule or a program. `options`: what it leaves open; `at`: where it
 * was dropped.
 */
export async function openFile(file: File, options: Options = {}, at: Point | null = null): Promise<Opened | null> {
  const controller = begun("open");
  const given = { name: file.name, content: file };
  try {
    const opened = await ask(
      "open",
      { file: given, options, wish: makeWish(words.value) },
      { signal: controller.signal, onProgress: showing(controller) },
    );
    const isForShown = opened.kind === "schedule" && opened.sends?.namesNetwork === false;
    if (opened.kind !== "program" && !isForShown) stopReading();
    batch(() => {
      before.value = null;
      unread.value = null;
      // a program runs on whatever network is shown
      if (opened.kind === "program") program.value = { ...opened, file: given };
      else if (opened.kind === "schedule") program.value = null;
      if (opened.kind === "program") return;
      const kept = isForShown ? words.value : withNetwork(words.value, "", given, options);
      const read = { ...kept, view: "network" } as const;
      words.value = opened.kind === "schedule" ? withOptions(read, opened.asked ?? {}) : read;
      showNetwork(opened.network);
      made.value =
        opened.kind === "schedule" ? { schedule: opened.schedule, network: opened.network, words: words.value } : null;
    });
    for (const text of remarksOn(opened, file.name)) say(text);
    return opened;
  } catch (error) {
    if (awaited !== controller) return null;
    unread.value = { file, options, at };
    complain("open", error);
    return null;
  } finally {
    ended(controller);
  }
}

/** Saves a file and says so; says why where it cannot be saved. */
export async function offerFile(file: GivenFile, text = `${file.name} saved`): Promise<void> {
  try {
    await saveFile(file);
    say(text);
  } catch (error) {
    say(`${file.name} could not be saved, for the browser does not give its bytes: ${(error as Error).message}`);
  }
}

/** Writes a subject in a format and saves the file. */
export async function exportTo(subject: Subject, to: string, options: Options = {}): Promise<void> {
  const controller = begun("export");
  try {
    const asked = { subject, to, options };
    const { signal } = controller;
    const { file, what, notes: remarks } = await ask("export", asked, { signal, onProgress: showing(controller) });
    await offerFile(file, [`${file.name}: ${what}`, ...remarks].join(". "));
  } catch (error) {
    if (awaited === controller) complain("export", error);
  } finally {
    ended(controller);
  }
}

/**
 * Hands a file to the browser to be saved. Rejects where its bytes cannot be had: the browser has no room for them, or a file on
 * the disk was changed or is gone. A download would end without a word in the page.
 */
export async function saveFile({ name, content }: GivenFile): Promise<void> {
  await content.slice(0, 1).arrayBuffer();
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = visible(name);
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Returns a selection of one network as it stands in another, by names; null where it is not there. O(nodes + wires). */
export function selectedIn(next: NetworkView, last: NetworkView, chosen: Selection | null): Selection | null {
  if (chosen === null) return null;
  const inNext = (node: number): number => next.nodeNames.indexOf(last.nodeNames[node]);
  if (chosen.kind === "node") {
    const node = inNext(chosen.node);
    return node < 0 ? null : { kind: "node", node };
  }
  const [one, other] = [inNext(last.wires.a[chosen.wire]), inNext(last.wires.b[chosen.wire])];
  const [a, b] = one < other ? [one, other] : [other, one];
  const wire = next.wires.a.findIndex((from, w) => from === a && next.wires.b[w] === b);
  return a < 0 || wire < 0 ? null : { kind: "wire", wire };
}
