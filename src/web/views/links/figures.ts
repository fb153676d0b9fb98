import type { LoadsView, NetworkView } from "../../protocol.ts";

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
    const share = shares[i] as number;
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
