import { unlessRefused } from "../../base/errors.ts";
import type { CollectiveKind } from "../collective/collective.ts";
import { switchComponents } from "../routes/routing.ts";
import { inLinks, isNpu, linkCount, outLinks, type Topology } from "../topology/topology.ts";
import { rotationMaps, sketchNetwork, sketchWays } from "./network.ts";
import {
  ALL_LINKS,
  boxCount,
  type HyperedgePolicy,
  type InternodeSketch,
  type IntranodeSketch,
  metTwice,
  type Sketch,
  type SymmetryOffset,
} from "./sketch.ts";

/** With more connections from box to box, all GPUs to all is no help to a solver. */
const MOST_FULL = 4096;

/** Collectives in which all NPUs do the same, so that what one does can stand for all. */
const ALIKE: ReadonlySet<CollectiveKind> = new Set(["allgather", "reducescatter", "allreduce", "alltoall"]);
/** Collectives whose chunks start at one NPU: that all of them leave by its NIC would be a loss. */
const FROM_ROOT: ReadonlySet<CollectiveKind> = new Set(["broadcast", "scatter", "reduce", "custom"]);

/** A way to join boxes, and its name. */
interface Joint {
  readonly name: string;
  readonly internode: InternodeSketch | null;
}

/**
 * Returns sketches for a network that has none, the best guess first; each passes `sketchNetwork`. Boxes are joined by one relay
 * per NIC that GPUs share (TACCL's sk1), by each GPU's own way to its like (sk2), and, where that is not much, all to all; a
 * box's switches come with few and with many connections. A network without boxes is one box of all its links. Where all NPUs
 * do the same, the rotations that the network has are kept; the same sketches without them come last. Empty where nothing can
 * be used: a network with too many connections. Deterministic. O(sketches x (links + routes)).
 */
export function proposedSketches(topology: Topology, kind: CollectiveKind): Sketch[] {
  const wiring = boxWiring(topology, boxesOf(topology));
  const plain = jointsOf(wiring, kind).flatMap((joint, k) => withPolicies(wiring, joint, k));
  const whole: Sketch = { ...plain[0], ...oneBox(topology.npuCount), name: "automatic: all links" };
  const alike = ALIKE.has(kind);
  const usable = plain.flatMap((sketch) => turned(topology, sketch, alike));
  const pairs = usable.length > 0 ? usable : turned(topology, whole, alike);
  const symmetric = pairs.filter(({ symmetries }) => symmetries.length > 0);
  return [
    ...symmetric.map(({ sketch, symmetries }) => ({ ...sketch, name: `${sketch.name}, symmetric`, symmetries })),
    ...pairs.map(({ sketch }) => sketch),
  ];
}

/** Returns the sketch with the rotations that it has, where they are wanted; nothing where the network does not take it. */
function turned(
  topology: Topology,
  sketch: Sketch,
  wanted: boolean,
): readonly { readonly sketch: Sketch; readonly symmetries: Sketch["symmetries"] }[] {
  const symmetries = unlessRefused(() => {
    if (wanted) return rotationsOf(topology, sketch);
    sketchNetwork(topology, sketch);
    return [];
  });
  return symmetries === null ? [] : [{ sketch, symmetries }];
}

/**
 * Returns how many boxes a network has: its groups; else, where switches join NPUs that differ in the last dimensions of the
 * shape, and no link does, what the dimensions before make; else one.
 */
function boxesOf(topology: Topology): number {
  const found = boxCount(topology);
  if (found !== null) return found;
  const { shape, npuCount } = topology;
  let size = 1;
  for (const length of shape) {
    size *= length;
    if (size > 1 && size < npuCount && npuCount % size === 0 && areBoxes(topology, size)) return npuCount / size;
  }
  return 1;
}

/** Returns whether no link joins two blocks of this many NPUs, while links or switches join the NPUs of each. */
function areBoxes(topology: Topology, size: number): boolean {
  const { linkSource, linkTarget, npuCount } = topology;
  const linked = new Uint8Array(npuCount / size);
  for (let link = 0; link < linkCount(topology); link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    if (!isNpu(topology, from) || !isNpu(topology, to)) continue;
    const box = Math.floor(from / size);
    if (box !== Math.floor(to / size)) return false;
    linked[box] = 1;
  }
  return !linked.includes(0) || (boxWiring(topology, npuCount / size).switches ?? []).length > 0;
}

const oneBox = (npus: number): Pick<Sketch, "boxes" | "npusPerBox" | "intranode" | "internode"> => ({
  boxes: 1,
  npusPerBox: npus,
  intranode: ALL_LINKS,
  internode: null,
});

function jointsOf({ boxes, npusPerBox, nics }: BoxWiring, kind: CollectiveKind): Joint[] {
  if (boxes === 1) return [{ name: "all links", internode: null }];
  const free = FROM_ROOT.has(kind);
  const joint = (
    name: string,
    connections: InternodeSketch["connections"],
    relays: InternodeSketch["relays"],
  ): Joint => ({ name, internode: { connections, betaSplit: new Map(), relays, enforceOrdering: false } });

  const joints: Joint[] = [];
  if (nics.some((npus) => npus.length > 1)) {
    const ends = nics.map(endsOf);
    const connections = new Map(ends.map(({ sender, receiver }) => [sender, [receiver]] as const));
    const sorted = new Map([...connections].sort((a, b) => a[0] - b[0]));
    joints.push(joint("one relay per NIC", sorted, free ? null : relaysOf(npusPerBox, nics)));
  }
  if (npusPerBox === 1) return [joint("each GPU to its like", "direct-map", null)];
  const own = new Map(Array.from({ length: npusPerBox }, (_, rank) => [rank, [rank]] as const));
  if (!free) joints.push(joint("each GPU its own way", "direct-map", own));
  joints.push(joint("each GPU to its like", "direct-map", null));
  if (boxes * (boxes - 1) * npusPerBox ** 2 <= MOST_FULL) {
    const full = joint("every GPU to every GPU", "fully-connected", null);
    if (kind === "alltoall") joints.unshift(full);
    else joints.push(full);
  }
  return joints;
}

/** Two GPUs of a NIC: the second sends, the first receives, as in TACCL's sk1 for DGX-2; of more, the first sends, as for NDv2. */
function endsOf(npus: readonly number[]): { readonly sender: number; readonly receiver: number } {
  if (npus.length === 2) return { sender: npus[1], receiver: npus[0] };
  return { sender: npus[0], receiver: npus[1] ?? npus[0] };
}

/** Returns the sender for the chunks of each GPU: that of its NIC; GPUs without a NIC take turns. */
function relaysOf(npusPerBox: number, nics: readonly (readonly number[])[]): ReadonlyMap<number, readonly number[]> {
  const senderOf = new Map(nics.flatMap((npus) => npus.map((npu) => [npu, endsOf(npus).sender] as const)));
  const senders = nics.map((npus) => endsOf(npus).sender);
  return new Map(
    Array.from(
      { length: npusPerBox },
      (_, npu) => [npu, [senderOf.get(npu) ?? senders[npu % senders.length]]] as const,
    ),
  );
}

/** Few connections first where relays merge what they send, many first otherwise (TACCL, section 5.2, and its sk1 and sk2). */
function withPolicies({ boxes, npusPerBox, switches }: BoxWiring, { name, internode }: Joint, k: number): Sketch[] {
  const sketch = (intranode: IntranodeSketch, words: string): Sketch => ({
    name: `automatic: ${name}${words}`,
    boxes,
    npusPerBox,
    intranode,
    internode,
    symmetries: [],
    chunksPerNpu: 1,
    inputBytes: null,
  });
  if (switches === null || switches.length === 0) return [sketch(ALL_LINKS, "")];
  const policies: readonly HyperedgePolicy[] = k === 0 ? ["uc-min", "uc-max"] : ["uc-max", "uc-min"];
  return policies.map((policy) =>
    sketch(
      { strategy: "switch", switches, policies: switches.map(() => policy), connections: null },
      policy === "uc-min" ? ", few connections" : ", many connections",
    ),
  );
}

/** How a network of boxes is wired, as far as sketches need to know; local ranks of one box, which stand for all boxes. */
interface BoxWiring {
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
function boxWiring(topology: Topology, boxes: number): BoxWiring {
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

/** A sketch that asks for less than another one. */
interface Relaxation {
  readonly sketch: Sketch;
  /** What is given up, in words with the field's name: "without gpus_to_sender_rev_map". */
  readonly what: string;
}

/** Changes to a sketch, null where there is nothing to change. */
type Step = (sketch: Sketch) => Sketch | null;

const withoutRelays: Step = (sketch) => {
  const { internode } = sketch;
  return internode === null || internode.relays === null
    ? null
    : { ...sketch, internode: { ...internode, relays: null } };
};
const withoutSymmetry: Step = (sketch) => (sketch.symmetries.length === 0 ? null : { ...sketch, symmetries: [] });
const withAllInside: Step = (sketch) =>
  sketch.intranode.strategy === "none" ? null : { ...sketch, intranode: ALL_LINKS };
const withOwnWays: Step = (sketch) => {
  const { internode, npusPerBox } = sketch;
  if (internode === null || typeof internode.connections === "string") return null;
  const { connections } = internode;
  const more = Array.from({ length: npusPerBox }, (_, rank) => {
    const receivers = connections.get(rank) ?? [];
    return [rank, receivers.includes(rank) ? receivers : [...receivers, rank].sort((a, b) => a - b)] as const;
  });
  if (more.every(([rank, receivers]) => connections.get(rank) === receivers)) return null;
  return joinedBy(sketch, internode, new Map(more));
};
const withAllWays: Step = (sketch) => {
  const { internode } = sketch;
  return internode === null || internode.connections === "fully-connected"
    ? null
    : joinedBy(sketch, internode, "fully-connected");
};

const joinedBy = (sketch: Sketch, internode: InternodeSketch, connections: InternodeSketch["connections"]): Sketch => ({
  ...sketch,
  internode: { ...internode, connections },
});

const NO_RELAYS = ["without gpus_to_sender_rev_map", withoutRelays] as const;
const NO_SYMMETRY = ["without symmetry_offsets", withoutSymmetry] as const;
const OWN_WAYS = ["internode_conn also from each GPU to its like", withOwnWays] as const;
const ALL_WAYS = ["internode_conn fully-connected", withAllWays] as const;
const ALL_INSIDE = ["intranode_sketch with all links of a node", withAllInside] as const;

/** What is given up, the least first. */
const LADDER: readonly (readonly (readonly [what: string, step: Step])[])[] = [
  [NO_RELAYS],
  [NO_SYMMETRY],
  [NO_RELAYS, NO_SYMMETRY],
  [NO_RELAYS, OWN_WAYS],
  [NO_RELAYS, ALL_WAYS],
  [ALL_INSIDE],
  [NO_RELAYS, NO_SYMMETRY, OWN_WAYS, ALL_INSIDE],
  [NO_RELAYS, NO_SYMMETRY, ALL_WAYS, ALL_INSIDE],
];

/**
 * Returns sketches that ask for less than this one, those that give up least first, each one that `sketchNetwork` takes:
 * without relays, without rotations, with more connections between boxes, with all links inside them. Rotations that no longer
 * hold are given up too, which `what` says. O(routes) for each.
 */
export function relaxations(sketch: Sketch, topology: Topology): Relaxation[] {
  const found: Relaxation[] = [];
  const seen = new Set<string>();
  for (const steps of LADDER) {
    let relaxed = sketch;
    const words: string[] = [];
    for (const [what, step] of steps) {
      const next = step(relaxed);
      if (next === null) continue;
      relaxed = next;
      words.push(what);
    }
    const key = words.join();
    if (words.length === 0 || seen.has(key)) continue;
    seen.add(key);
    const kept = unlessRefused(() => rotationsKept(topology, relaxed));
    if (kept === null) continue;
    for (const { offset, period } of relaxed.symmetries)
      if (!kept.some((one) => one.offset === offset && one.period === period))
        words.push(`without the rotation [${offset}, ${period}]`);
    const what = words.join(", ");
    found.push({ what, sketch: { ...relaxed, symmetries: kept, name: `${sketch.name}, ${what}` } });
  }
  return found;
}

/**
 * Returns rotations that a sketch has on a network: of the whole first, then of the blocks that it turns into each other, and
 * so on down to single NPUs. Of a torus these are its translations, the last dimension first. Throws InputError as
 * `sketchNetwork`. O(divisors of the NPUs squared) rotations are tried, most of which fail at once.
 */
function rotationsOf(topology: Topology, sketch: Sketch): SymmetryOffset[] {
  const mapOf = rotationMaps(sketchNetwork(topology, { ...sketch, symmetries: [] }));
  const found: SymmetryOffset[] = [];
  const divisors = divisorsOf(topology.npuCount);
  let block = topology.npuCount;
  while (block > 1) {
    const period = block;
    const offset = divisors.find(
      (divisor) => divisor < period && period % divisor === 0 && typeof mapOf({ offset: divisor, period }) !== "string",
    );
    if (offset !== undefined) found.push({ offset, period });
    block = offset ?? (divisors.findLast((divisor) => divisor < period && period % divisor === 0) as number);
  }
  return found;
}

/** Returns the given rotations that hold for a sketch on a network. Throws InputError as `sketchNetwork`. */
function rotationsKept(topology: Topology, sketch: Sketch): SymmetryOffset[] {
  const mapOf = rotationMaps(sketchNetwork(topology, { ...sketch, symmetries: [] }));
  return sketch.symmetries.filter((rotation) => typeof mapOf(rotation) !== "string");
}

function divisorsOf(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i + 1).filter((d) => n % d === 0);
}
