import { count, percent, roundedSize } from "../../../report/amounts.ts";
import type { TrafficView } from "../../protocol.ts";

/** What a matrix tells, in words. */
export interface About {
  /** "Share of the time that links were busy". */
  readonly title: string;
  /** What the colours stand for, and what is there without any. */
  readonly colours: string;
  readonly none: string;
  /** What is walked through, "link", and what choosing it does. */
  readonly pair: string;
  readonly pick: string;
  /** Returns a value with its unit. */
  amount(value: number): string;
  /** Returns what an entry of one or more pairs has. */
  textOf(value: number, pairs: number): string;
}

export const ABOUT_LINKS: About = {
  title: "Share of the time that links were busy",
  colours: "share of the time that a link is busy",
  none: "no link",
  pair: "link",
  pick: "selects the wire",
  amount: percent,
  textOf: (value, pairs) => `${percent(value)} busy${pairs > 1 ? ` (mean of ${pairs} links)` : ""}`,
};

export const ABOUT_TRAFFIC: About = {
  title: "What NPUs send each other",
  colours: "what one sends the other",
  none: "nothing",
  pair: "pair",
  pick: "selects the NPU that sends",
  amount: roundedSize,
  textOf: (value, pairs) => `${roundedSize(value)}${pairs > 1 ? ` (${pairs} pairs)` : ""}`,
};

/** Returns how many pairs send how much, and who sends most. */
export function trafficText({ source, target, bytes }: TrafficView, names: readonly string[]): string {
  if (bytes.length === 0) return "Nothing is sent.";
  let [all, first, least] = [0, 0, 0];
  for (let pair = 0; pair < bytes.length; pair++) {
    all += bytes[pair];
    if (bytes[pair] > bytes[first]) first = pair;
    if (bytes[pair] < bytes[least]) least = pair;
  }
  const most = bytes[first];
  // sums of the same parts in another order
  const areAlike = most - bytes[least] <= 1e-9 * most;
  const each = areAlike ? "each" : `at most (from ${names[source[first]]} to ${names[target[first]]})`;
  return `${count(bytes.length, "pair")} of NPUs: ${roundedSize(all)} in all, ${roundedSize(most)} ${each}.`;
}
