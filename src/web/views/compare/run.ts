import { batch, computed, signal } from "@preact/signals";
import type { Comparison } from "../../../report/comparison.ts";
import { listOf } from "../../../request/values.ts";
import type { AlgorithmLine, MakeWish } from "../../protocol.ts";
import { ask } from "../../state/client.ts";
import { ownWork } from "../../state/own-work.ts";
import { FIRST_RANGE, readRange, type SizeRange, sizesOf, sizeWord } from "../../state/size-range.ts";
import { welcome, words } from "../../state/store.ts";
import { makeWish, sameWish } from "../../state/words.ts";

/** The comparison that runs or was made last; it goes on while other views are shown. */

export const range = computed<SizeRange>(() => {
  const { sizes } = words.value.choices;
  return sizes === undefined ? FIRST_RANGE : readRange(sizes);
});
/** Algorithms to try; null: all that apply and solve no integer programs. */
export const tried = computed<ReadonlySet<string> | null>(() => {
  const { algorithms } = words.value.choices;
  return algorithms === undefined ? null : new Set(listOf(algorithms, "--algorithms", "names"));
});
export const comparison = signal<Comparison | null>(null);
/** What it was made from. */
const asked = signal<MakeWish | null>(null);
const work = ownWork();
export const { running, failure, stop: stopComparison } = work;

/** What every algorithm is asked, without size and algorithm; the group and other options stay. */
function wishNow(): MakeWish {
  const { network, options } = makeWish(words.value);
  const { size: _, algorithm: _a, ...rest } = options;
  const names = tried.value === null ? {} : { algorithms: [...tried.value].join(",") };
  const { target } = words.value.choices;
  return { network, options: { ...rest, ...names, ...(target !== undefined && { target }) } };
}

/** Whether the comparison was made for another network or request than those of the words; its sizes do not count. */
export const isOld = computed(() => asked.value !== null && !sameWish(asked.value, wishNow()));

/** Returns the algorithms that make the collective of the words. */
export function makersOf(): AlgorithmLine[] {
  const collective = String(words.value.options["collective"] ?? "allgather");
  return (welcome.value?.algorithms ?? []).filter(({ collectives }) => collectives.includes(collective));
}

/** Compares; what there is after each size is shown at once, and stays where it is stopped. What was shown before stays where it fails. */
export const runComparison = (): Promise<void> =>
  work.run(async ({ signal, onProgress, isLast }) => {
    const wish = wishNow();
    const show = (found: Comparison): void => {
      if (!isLast()) return;
      batch(() => {
        comparison.value = found;
        asked.value = wish;
      });
    };
    const sizes = sizesOf(range.value).map(sizeWord);
    show(await ask("compare", { wish, sizes }, { signal, onProgress, onPartial: show }));
  });
