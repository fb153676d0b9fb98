import { signal } from "@preact/signals";
import type { Comparison } from "../../../report/comparison.ts";
import type { MakeWish } from "../../protocol.ts";
import { fingerprintOf } from "../../state/address-file.ts";
import { detached, keepWork, keptWork } from "../../state/keep.ts";
import type { Words } from "../../state/words.ts";

/** Comparisons that were made in this browser, to be shown again and beside each other. */

export interface KeptComparison {
  /** What it was made from: alike for the same request of the same network. */
  readonly key: string;
  /** As they stood: they name the network, what failed of it, and the request. */
  readonly words: Words;
  readonly comparison: Comparison;
}

const NAME = "comparisons";
/** More are not kept. */
const MOST = 8;

/** The newest first. */
export const before = signal<readonly KeptComparison[]>([]);

let reading: Promise<void> | null = null;

/** Reads what was kept, the first time; until then there is none. Never rejects. */
export function readBefore(): Promise<void> {
  reading ??= keptWork<readonly KeptComparison[]>(NAME).then((kept) => {
    if (Array.isArray(kept)) before.value = [...before.value, ...kept].slice(0, MOST);
  });
  return reading;
}

/** Returns the key of a request; files count by their bytes. O(bytes of the file). */
export async function keyOf({ network: { file, ...network }, options }: MakeWish): Promise<string> {
  return JSON.stringify([network, file === null ? null : await fingerprintOf(file.content), options]);
}

/** Keeps a comparison, instead of one of the same key. */
export async function keepComparison({ key, words, comparison }: KeptComparison): Promise<void> {
  await readBefore();
  const file = words.file === null ? null : await detached(words.file).catch(() => null);
  const own = { key, words: { ...words, file }, comparison };
  await keepAll([own, ...before.value.filter((one) => one.key !== key)].slice(0, MOST));
}

/** Keeps all comparisons but one. */
export const forgetComparison = (key: string): Promise<void> => keepAll(before.value.filter((one) => one.key !== key));

async function keepAll(all: readonly KeptComparison[]): Promise<void> {
  before.value = all;
  await keepWork(NAME, all);
}
