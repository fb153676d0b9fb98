import { formatShare } from "../../../model/numbers/units.ts";
import type { TreesView } from "../../protocol.ts";

/** Returns why trees are not faster: the proof where they reach the bound, else the bound and which links are full. */
export function rateSentences({
  boundRate,
  share,
  because,
  fullest,
}: Pick<TreesView, "boundRate" | "share" | "because" | "fullest">): string[] {
  if (share >= 1) return [sentence(`No trees can beat this: ${because}`)];
  return [sentence(`The bound is ${boundRate} (${formatShare(share)} reached): ${because}`), heldBack(fullest)];
}

/** Returns which links hold trees back that do not reach the bound. */
export const heldBack = (fullest: string): string => sentence(`What holds these trees back: ${fullest}`);

/** Returns a text with a full stop last. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
