import { switchComponents } from "../routes/routing.ts";
import { inLinks, outLinks, type Topology } from "../topology/topology.ts";
import { metTwice } from "./sketch-check.ts";
import { sketchWays } from "./sketch-ways.ts";

/** How a network of boxes is wired, as far as sketches need to know; local ranks of one box, which stand for all boxes. */
export interface BoxWiring {
  readonly boxes: number;
  readonly npusPerBox: number;
  /** GPUs by the NIC that they share, in ascending order of their first; a GPU with its own link to the network's switches is alone. */
  readonly nics: readonly (readonly number[])[];
  /** What each switch inside a box joins; null where boxes differ, or GPUs meet in several of them. */
  readonly switches: readonly (readonly number[])[] | null;
}

/**
 * Returns the wiring of a network divided into boxes. A NIC is a switch on the way to other boxes that GPUs of one box share:
 * all of them together can send it more than it passes on. Boxes are taken to have the NICs of the first one; sketches that
 * follow from it are checked on the network. O(nodes + links).
 */
export function boxWiring(topology: Topology, boxes: number): BoxWiring {
  const npusPerBox = topology.npuCount / boxes;
  const boxOf = Int32Array.from({ length: topology.npuCount }, (_, npu) => Math.floor(npu / npusPerBox));
  const { insides } = sketchWays(topology, boxOf, boxes);
  return { boxes, npusPerBox, nics: nicsOf(topology, boxOf), switches: switchesOf(insides, npusPerBox) };
}

/** Returns the GPUs of the first box that have a way out of it through switches, by their NICs. */
function nicsOf(topology: Topology, boxOf: Int32Array): number[][] {
  const shared: number[][] = [];
  const placed = new Set<number>();
  const others = new Set<number>();
  for (const { senders, receivers, switches } of switchComponents(topology)) {
    const boxes = new Set([...senders, ...receivers].map(({ npu }) => boxOf[npu]));
    if (!boxes.has(0) || boxes.size === 1) continue;
    for (const { npu } of senders) if (boxOf[npu] === 0) others.add(npu);
    for (const hub of switches) {
      const npus = sharersOf(topology, boxOf, hub).filter((npu) => !placed.has(npu));
      if (npus.length > 1) shared.push(npus);
      for (const npu of npus) placed.add(npu);
    }
  }
  const alone = [...others].filter((npu) => !placed.has(npu)).map((npu) => [npu]);
  return [...shared, ...alone].sort((a, b) => a[0] - b[0]);
}

/** Returns the GPUs of the first box that share a switch as their NIC; none where it is no NIC of that box. */
function sharersOf(topology: Topology, boxOf: Int32Array, hub: number): number[] {
  const { linkSource, linkTarget, linkBytesPerSecond, npuCount } = topology;
  const npus = new Set<number>();
  let sent = 0;
  const into = inLinks(topology);
  for (let k = into.offset[hub]; k < into.offset[hub + 1]; k++) {
    const npu = linkSource[into.links[k]];
    if (npu >= npuCount) continue;
    if (boxOf[npu] !== 0) return [];
    npus.add(npu);
    sent += linkBytesPerSecond[into.links[k]];
  }
  let passed = 0;
  const out = outLinks(topology);
  for (let k = out.offset[hub]; k < out.offset[hub + 1]; k++) {
    if (linkTarget[out.links[k]] >= npuCount) passed += linkBytesPerSecond[out.links[k]];
  }
  return passed < sent ? [...npus].sort((a, b) => a - b) : [];
}

/** Returns the switches of a box as local ranks, where all boxes have the same and no two GPUs meet twice. */
function switchesOf(
  insides: readonly (readonly (readonly number[])[])[],
  npusPerBox: number,
): readonly (readonly number[])[] | null {
  const local = insides.map((sets, box) => sets.map((set) => set.map((npu) => npu - box * npusPerBox)));
  const [first] = local;
  const text = JSON.stringify(first);
  if (local.some((sets) => JSON.stringify(sets) !== text)) return null;
  const several = first.filter((set) => set.length > 1);
  return metTwice(several) === null ? several : null;
}
