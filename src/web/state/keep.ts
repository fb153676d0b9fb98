import { computed, signal } from "@preact/signals";
import { clear, createStore, get, set, type UseStore } from "idb-keyval";
import { CACHE_PREFIX } from "../offline/names.ts";
import type { GivenFile } from "../protocol.ts";
import { fingerprintOf } from "./address-file.ts";

/**
 * What this browser keeps between visits: the last address in its local storage, the last file and views' work in its database. All may be
 * refused (private windows, full disks, strict settings): then it is not kept, the page says so, and nothing else changes.
 */

const PREFIX = "banyan.";
const ADDRESS = `${PREFIX}address`;
const FILE = "file";
const workKey = (name: string): string => `work ${name}`;

/** Whether anything is kept: not any more once it was forgotten, until the page is loaded again. */
export const isKeeping = signal(true);
const isAddressRefused = signal(false);
const isFileRefused = signal(false);
/** Whether the browser refused to keep the last address or file. */
export const isRefused = computed(() => isAddressRefused.value || isFileRefused.value);
let opened: UseStore | null = null;

const store = (): UseStore => {
  opened ??= createStore("banyan", "files");
  return opened;
};

/** Returns what a storage gives; `otherwise` where it refuses. */
function tried<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}

async function attempted<T>(look: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await look();
  } catch {
    return otherwise;
  }
}

/** Keeps nothing from now on, until the page is loaded again. */
export function pauseKeeping(): void {
  isKeeping.value = false;
}

/** Returns the last fragment that was kept; null: none. */
export const keptAddress = (): string | null => tried(() => localStorage.getItem(ADDRESS), null);

/** Keeps a fragment instead of the last one. */
export function keepAddress(fragment: string): void {
  if (!isKeeping.value) return;
  isAddressRefused.value = !tried(() => {
    localStorage.setItem(ADDRESS, fragment);
    return true;
  }, false);
}

/** Returns the file that was kept; null: none, or one of another fingerprint. */
export async function keptFile(fingerprint: string): Promise<GivenFile | null> {
  const kept = await attempted(() => get<GivenFile>(FILE, store()), undefined);
  if (kept === undefined || !(kept.content instanceof Blob)) return null;
  return (await attempted(() => fingerprintOf(kept.content), "")) === fingerprint ? kept : null;
}

/** Returns a file with the bytes themselves: one on a disk may change or go. Rejects where they cannot be had. */
export const detached = async ({ name, content }: GivenFile): Promise<GivenFile> => ({
  name,
  content: new Blob([await content.arrayBuffer()]),
});

/** Keeps a file instead of the last one. Returns whether it was kept. */
export async function keepFile({ name, content }: GivenFile): Promise<boolean> {
  if (!isKeeping.value) return false;
  const isKept = await attempted(async () => {
    await set(FILE, await detached({ name, content }), store());
    return true;
  }, false);
  isFileRefused.value = !isKept;
  return isKept;
}

/** Returns what a view kept under a name; undefined: nothing, or the browser does not tell. */
export const keptWork = <T>(name: string): Promise<T | undefined> =>
  attempted(() => get<T>(workKey(name), store()), undefined);

/** Keeps a view's work under a name, instead of what was kept there; where the browser refuses, it is there until the page is left. */
export async function keepWork(name: string, work: unknown): Promise<void> {
  if (isKeeping.value) await attempted(() => set(workKey(name), work, store()), undefined);
}

/**
 * Forgets the last address and file, what the page keeps besides (all of its own name), its copy for work without a network,
 * and keeps nothing more until the page is loaded again. Never rejects.
 */
export async function forgetAll(): Promise<void> {
  pauseKeeping();
  for (const storage of [() => localStorage, () => sessionStorage]) {
    tried(() => {
      const own = Object.keys(storage()).filter((key) => key.startsWith(PREFIX));
      for (const key of own) storage().removeItem(key);
    }, undefined);
  }
  await attempted(() => clear(store()), undefined);
  const scope = new URL("./", location.href).href;
  await attempted(async () => {
    for (const key of await caches.keys()) if (key.startsWith(CACHE_PREFIX + scope)) await caches.delete(key);
  }, undefined);
  await attempted(async () => {
    const registration = await navigator.serviceWorker.getRegistration(scope);
    if (registration?.scope === scope) await registration.unregister();
  }, undefined);
}
