import { signal } from "@preact/signals";
import { isCovered } from "../parts/covered.ts";
import { cancel, openFile, say, synthesize } from "../state/actions.ts";
import { busy, network } from "../state/store.ts";
import { fileOfText, looksLikeFile } from "./given-text.ts";

/** Keys, pastes and drops that the whole page listens to. */

export const isHelpShown = signal(false);
/** Files are held over the page. */
export const isDropping = signal(false);

/** The network's field is to be typed into. */
export const isNetworkWanted = signal(false);

/** Returns whether an event is meant for something that takes text. */
const isTyping = ({ target }: Event): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented) return;
  const { key, ctrlKey, metaKey, altKey } = event;
  if (isCovered()) return;
  if (key === "Enter" && (ctrlKey || metaKey)) {
    event.preventDefault();
    if (network.value !== null) void synthesize();
  } else if (key === "Escape" && busy.value !== null) {
    event.preventDefault();
    cancel();
  } else if (!isTyping(event) && !ctrlKey && !metaKey && !altKey) {
    if (key === "?") isHelpShown.value = true;
    else if (key === "/") isNetworkWanted.value = true;
    else return;
    event.preventDefault();
  }
}

function onPaste(event: ClipboardEvent): void {
  if (isTyping(event) || isCovered()) return;
  const [file] = event.clipboardData?.files ?? [];
  const text = event.clipboardData?.getData("text/plain") ?? "";
  // what is pasted beside all fields falls into the middle of the window
  const at = { x: innerWidth / 2, y: innerHeight / 2 };
  if (file !== undefined) void openFile(file, {}, at);
  else if (looksLikeFile(text)) void openFile(fileOfText(text), {}, at);
  else return;
  event.preventDefault();
}

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes("Files") === true;

function onDragOver(event: DragEvent): void {
  if (!hasFiles(event)) return;
  event.preventDefault();
  isDropping.value = true;
}

function onDragLeave({ relatedTarget }: DragEvent): void {
  if (relatedTarget === null) isDropping.value = false;
}

function onDrop(event: DragEvent): void {
  isDropping.value = false;
  if (!hasFiles(event)) return;
  event.preventDefault();
  const [file, ...more] = event.dataTransfer?.files ?? [];
  if (more.length > 0) say(`Only the first of ${more.length + 1} files was opened: ${file?.name}.`);
  if (file !== undefined) void openFile(file, {}, { x: event.clientX, y: event.clientY });
}

/** Listens; returns what ends that. */
export function listen(): () => void {
  const heard = [
    ["keydown", onKey],
    ["paste", onPaste],
    ["dragover", onDragOver],
    ["dragleave", onDragLeave],
    ["drop", onDrop],
  ] as const;
  for (const [name, handle] of heard) addEventListener(name, handle as EventListener);
  return () => {
    for (const [name, handle] of heard) removeEventListener(name, handle as EventListener);
  };
}
