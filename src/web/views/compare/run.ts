import { batch, computed, signal } from "@preact/signals";
import type { Comparison } from "../../../report/comparison.ts";
import { listOf } from "../../../request/values.ts";
import type { AlgorithmLine, MakeWish } from "../../protocol.ts";
import { changeWords, choose } from "../../state/actions.ts";
import { ask } from "../../state/client.ts";
import { ownWork } from "../../state/own-work.ts";
import { FIRST_RANGE, readRange, type SizeRange, sizesOf, sizeWord } from "../../state/size-range.ts";
import { welcome, words } from "../../state/store.ts";
import { makeWish, sameWish, type Words } from "../../state/words.ts";
import { before, keepComparison, keyOf, readBefore } from "./before.ts";

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

function show(found: Comparison, wish: MakeWish): void {
  batch(() => {
    comparison.value = found;
    asked.value = wish;
  });
}

/** Compares; what there is after each line is shown at once, and stays where it is stopped. What was shown before stays where it fails. */
export const runComparison = (): Promise<void> =>
  work.run(async ({ signal, onProgress, isLast }) => {
    const [wish, asIs] = [wishNow(), words.value];
    const onPartial = (found: Comparison): void => {
      if (isLast()) show(found, wish);
    };
    const sizes = sizesOf(range.value).map(sizeWord);
    const found = await ask("compare", { wish, sizes }, { signal, onProgress, onPartial });
    onPartial(found);
    await keepComparison({ key: await keyOf(wish), words: asIs, comparison: found });
  });

/** Shows what was compared before of what the words say, if it was. */
async function recall(): Promise<boolean> {
  const wish = wishNow();
  const [key] = await Promise.all([keyOf(wish), readBefore()]);
  const found = before.value.find((one) => one.key === key);
  if (found === undefined || running.value !== null || !sameWish(wish, wishNow())) return false;
  show(found.comparison, wish);
  return true;
}

/**
 * Shows a comparison where none of what the words say is shown: one that was made before, or a new one where the address says that
 * there was one. The address says so from then on, as long as it is shown.
 */
export async function followComparison(): Promise<void> {
  if (running.value !== null) return;
  if ((comparison.value === null || isOld.value) && !(await recall()) && comparison.value === null) {
    if (words.value.choices.compared === undefined || running.value !== null) return;
    // what is stopped, or fails, is not begun again
    choose({ compared: undefined });
    await runComparison();
  }
  if (comparison.value === null) return;
  const compared = isOld.value ? undefined : "1";
  if (words.value.choices.compared !== compared) choose({ compared });
}

/** Returns to the words of a comparison that was made before, and shows it. */
export async function showBefore(then: Words): Promise<void> {
  await changeWords({ ...then, view: words.value.view });
  await followComparison();
}
