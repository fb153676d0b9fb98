import { nodeCount, type Topology } from "../../model/topology/topology.ts";

/** What a switch must be able to do. */
export type SwitchTrait = "multicast" | "aggregation";

/** Members that hang on the same switch, by rank. */
export interface SwitchBoxes {
  /** [members] the switch of each. */
  readonly hub: Int32Array;
  /** [members] links to it and from it. */
  readonly up: Int32Array;
  readonly down: Int32Array;
  /** [members] number of its box, in the order of the first ranks, and its place among the ranks there. */
  readonly box: Int32Array;
  readonly place: Int32Array;
  /** [boxes] ranks, ascending. */
  readonly ranks: readonly (readonly number[])[];
}

/** Returns the boxes as the reversed network has them. */
export const turnedBoxes = (boxes: SwitchBoxes): SwitchBoxes => ({ ...boxes, up: boxes.down, down: boxes.up });

/**
 * Returns the boxes of a group: each member belongs to the switch with all the traits, linked to it both ways, that its widest
 * link goes to (the first of equal ones). Null where a member has none, or no two are at the same switch. O(links + nodes).
 */
export function switchBoxes(
  topology: Topology,
  members: Int32Array,
  usable: Float64Array,
  traits: readonly SwitchTrait[],
): SwitchBoxes | null {
  const { npuCount, nodeTraits, linkSource, linkTarget } = topology;
  const isAble = (node: number): boolean =>
    node >= npuCount && traits.every((trait) => nodeTraits[node][trait] === true);
  const rankOf = new Int32Array(nodeCount(topology)).fill(-1);
  members.forEach((npu, rank) => {
    rankOf[npu] = rank;
  });
  const [ups, downs] = [new Map<string, number>(), new Map<string, number>()];
  const keepWidest = (known: Map<string, number>, npu: number, hub: number, link: number): void => {
    const key = `${rankOf[npu]} ${hub}`;
    const other = known.get(key);
    if (usable[link] > 0 && (other === undefined || usable[link] > usable[other])) known.set(key, link);
  };
  for (let link = 0; link < linkSource.length; link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    if (from < npuCount && rankOf[from] >= 0 && isAble(to)) keepWidest(ups, from, to, link);
    if (to < npuCount && rankOf[to] >= 0 && isAble(from)) keepWidest(downs, to, from, link);
  }
  const up = new Int32Array(members.length).fill(-1);
  const down = new Int32Array(members.length).fill(-1);
  for (const [key, link] of ups) {
    const back = downs.get(key);
    const rank = rankOf[linkSource[link]];
    if (back === undefined || (up[rank] >= 0 && usable[link] <= usable[up[rank]])) continue;
    up[rank] = link;
    down[rank] = back;
  }
  if (up.includes(-1)) return null;
  const hub = up.map((link) => linkTarget[link]);
  return numbered(hub, up, down);
}

function numbered(hub: Int32Array, up: Int32Array, down: Int32Array): SwitchBoxes | null {
  const boxOf = new Map<number, number>();
  const ranks: number[][] = [];
  const place = new Int32Array(hub.length);
  const box = hub.map((node, rank) => {
    const known = boxOf.get(node) ?? ranks.push([]) - 1;
    boxOf.set(node, known);
    place[rank] = ranks[known].push(rank) - 1;
    return known;
  });
  return ranks.every(({ length }) => length === 1) ? null : { hub, up, down, box, place, ranks };
}
