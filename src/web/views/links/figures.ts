import { count, percent, roundedSize } from "../../../report/amounts.ts";
import type { LoadsView, NetworkView, TrafficView } from "../../protocol.ts";

/** Figures of how busy links were. */

/** Returns the share of the time that each link was busy, 0 .. 1 [links]. */
export const sharesOf = ({ busyPs, totalPs }: Pick<LoadsView, "busyPs" | "totalPs">): Float64Array =>
  Float64Array.from(busyPs, (ps) => (totalPs > 0 ? ps / totalPs : 0));

export interface Spread {
  readonly links: number;
  readonly mean: number;
  readonly most: number;
  /** Links that carried nothing. */
  readonly idle: number;
}

/** Returns mean, greatest share and idle links; of no links all are 0. */
export function spreadOf(shares: ArrayLike<number>): Spread {
  let [sum, most, idle] = [0, 0, 0];
  for (let i = 0; i < shares.length; i++) {
    const share = shares[i];
    sum += share;
    if (share > most) most = share;
    if (share === 0) idle++;
  }
  return { links: shares.length, mean: shares.length === 0 ? 0 : sum / shares.length, most, idle };
}

/** Returns the same for each class of bandwidth of the network. O(links). */
export function spreadByClass({ wires, classes }: NetworkView, shares: Float64Array): Spread[] {
  const ofClass: number[][] = classes.map(() => []);
  for (let link = 0; link < shares.length; link++)
    ofClass[wires.bandwidthClass[wires.ofLink[link]]]?.push(shares[link]);
  return ofClass.map(spreadOf);
}

/** Returns for each wire the share of its busier direction, links side by side averaged [wires]. O(links + wires). */
export function heatOfWires({ wires, linkSource }: NetworkView, shares: Float64Array): Float32Array {
  const count = wires.a.length;
  const [sums, links] = [new Float64Array(2 * count), new Int32Array(2 * count)];
  for (let link = 0; link < shares.length; link++) {
    const wire = wires.ofLink[link];
    const way = 2 * wire + (linkSource[link] === wires.a[wire] ? 0 : 1);
    sums[way] += shares[link];
    links[way]++;
  }
  const mean = (way: number): number => (links[way] === 0 ? 0 : sums[way] / links[way]);
  return Float32Array.from({ length: count }, (_, wire) => Math.max(mean(2 * wire), mean(2 * wire + 1)));
}

/** Returns the numbers of the `most` busiest links and of as many idlest ones, equals by number, no link in both. O(links log links). */
export function extremes(
  shares: Float64Array,
  most: number,
): { readonly busiest: number[]; readonly idlest: number[] } {
  const order = [...shares.keys()].sort((a, b) => shares[b] - shares[a] || a - b);
  const busiest = order.slice(0, most);
  const idlest = order.slice(busiest.length).sort((a, b) => shares[a] - shares[b] || a - b);
  return { busiest, idlest: idlest.slice(0, most) };
}

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
