import { batch } from "@preact/signals";
import type { Options } from "../../words/options.ts";
import type { NetworkView, Opened, Subject } from "../protocol.ts";
import { ask, RequestError } from "./client.ts";
import { saveFile } from "./save.ts";
import { before, busy, hovered, made, network, notes, selection, trouble, welcome, words } from "./store.ts";
import { makeWish, networkWish, type ViewName, type Words, withOptions } from "./words.ts";

/** All that changes the page's state. */

type About = NonNullable<typeof trouble.value>["about"];

let reading: AbortController | null = null;
let making: AbortController | null = null;
let noteId = 0;

/** Says a sentence that passes. */
export function say(text: string): void {
  const id = ++noteId;
  notes.value = [...notes.value, { id, text }];
  setTimeout(() => {
    notes.value = notes.value.filter((note) => note.id !== id);
  }, 6000);
}

/** Shows what went wrong, beside what caused it; nothing where it was cancelled. */
function complain(about: About, error: unknown): void {
  const failure =
    error instanceof RequestError
      ? error.failure
      : { kind: "internal" as const, place: null, message: error instanceof Error ? error.message : String(error) };
  if (failure.kind !== "cancelled") trouble.value = { about, failure };
}

/** Reads the network of the words and shows it; the last good one stays where it cannot be read. */
export async function readNetwork(): Promise<boolean> {
  reading?.abort();
  const controller = new AbortController();
  reading = controller;
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
  }
}

function showNetwork(view: NetworkView): void {
  batch(() => {
    if (view.hash !== network.value?.hash) {
      selection.value = null;
      hovered.value = null;
    }
    network.value = view;
  });
}

/** Changes options; undefined takes one away. What concerns the network is read again. */
export async function changeOptions(changes: Options): Promise<boolean> {
  return changeWords(withOptions(words.value, changes));
}

/** Changes the words, and reads the network again where it is another one. */
export async function changeWords(next: Words): Promise<boolean> {
  const isOther =
    JSON.stringify(networkWish(next)) !== JSON.stringify(networkWish(words.value)) || next.file !== words.value.file;
  words.value = next;
  return isOther ? readNetwork() : true;
}

export function showView(view: ViewName): void {
  words.value = { ...words.value, view };
}

/** Synthesizes what the words ask for. */
export async function synthesize(): Promise<boolean> {
  making?.abort();
  const controller = new AbortController();
  making = controller;
  const asked = words.value;
  busy.value = { what: "make", progress: null };
  try {
    const wish = makeWish(asked);
    // the view of the network that the schedule runs on: it may have been changed since
    const view = await ask("network", { wish: wish.network }, { signal: controller.signal });
    const schedule = await ask(
      "make",
      { wish },
      {
        signal: controller.signal,
        onProgress: (progress) => {
          busy.value = { what: "make", progress };
        },
      },
    );
    batch(() => {
      made.value = { schedule, network: view, words: asked };
      trouble.value = null;
    });
    return true;
  } catch (error) {
    if (making === controller) complain("make", error);
    return false;
  } finally {
    if (making === controller) {
      busy.value = null;
      making = null;
    }
  }
}

/** Stops what the user waits for. */
export function cancel(): void {
  making?.abort();
  making = null;
  busy.value = null;
}

/** Opens a file that was dropped, pasted or chosen: a network, a schedule or a program. */
export async function openFile(file: File): Promise<Opened | null> {
  const given = { name: file.name, content: file };
  try {
    const opened = await ask("open", { file: given, options: {} });
    batch(() => {
      trouble.value = null;
      before.value = null;
      if (opened.kind === "program") return;
      const { without: _, degrade: _d, ...options } = words.value.options;
      words.value = { ...words.value, topology: "", file: given, options, view: "network" };
      showNetwork(opened.network);
      made.value =
        opened.kind === "schedule" ? { schedule: opened.schedule, network: opened.network, words: words.value } : null;
    });
    return opened;
  } catch (error) {
    complain("open", error);
    return null;
  }
}

/** Writes a subject in a format and saves the file. */
export async function exportTo(subject: Subject, to: string, options: Options = {}): Promise<void> {
  busy.value = { what: "export", progress: null };
  try {
    const { file, what, notes: remarks } = await ask("export", { subject, to, options });
    saveFile(file);
    say([`${file.name}: ${what}`, ...remarks].join(". "));
  } catch (error) {
    complain("export", error);
  } finally {
    busy.value = null;
  }
}

/** Starts the worker and reads the first network. */
export async function begin(): Promise<void> {
  try {
    welcome.value = await ask("welcome", {});
  } catch (error) {
    complain("network", error);
  }
  await readNetwork();
}
