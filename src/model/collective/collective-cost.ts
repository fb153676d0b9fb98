import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { doubleBinaryTree } from "../graph/double-binary-tree.ts";
import { messages } from "../messages/messages.ts";
import { addTo, indicesBelow } from "../numbers/ordering.ts";
import { shortestRoutes } from "../routes/list-routes.ts";
import { type Boxes, boxesWithRings, channelRings, channelTrees } from "../routes/rings.ts";
import type { RouteSet } from "../routes/routes.ts";
import type { LinkClasses } from "../topology/link-classes.ts";
import { isNpu, linkCount, outLinks, type Topology } from "../topology/topology.ts";
import type { NamedCollective } from "./collective.ts";
import { MPI_ALGORITHMS, type MpiAlgorithm, mpiRounds } from "./mpi-rounds.ts";

/** What MPI libraries run that nothing here makes schedules of. */
const OF_MPI = MPI_ALGORITHMS.filter((name) => name !== "ring" && name !== "bruck" && name !== "pairwise");

/** What a library may have run: NCCL, and MPI libraries. */
export const FITTED_ALGORITHMS = ["ring", "tree", "nvls", ...OF_MPI] as const;
export type FittedAlgorithm = (typeof FITTED_ALGORITHMS)[number];

export const isFitted = (algorithm: string): algorithm is FittedAlgorithm =>
  FITTED_ALGORITHMS.some((name) => name === algorithm);

/** Time of a collective: the sum over classes of hops x latency, and size x load of the bottleneck / its bandwidth. */
export interface CostTerms {
  /** [classes] links of the class that follow each other on the longest way of a message. */
  readonly hops: Float64Array;
  /** [classes] bytes over its most loaded link for a byte of size; 0 where it is not used. */
  readonly load: Float64Array;
}

export interface CostRequest {
  readonly algorithm: FittedAlgorithm;
  readonly collective: NamedCollective;
  readonly ranks: number;
  /** Boxes that the ranks are in; null: as few as hold them. A network without boxes may have any number of hosts. */
  readonly hosts: number | null;
  /** For errors. */
  readonly source: string;
}

/** Which NPUs took part: [boxes][GPUs of the box]. */
type Placed = readonly (readonly number[])[];

const count = (many: number, what: string): string => `${many} ${what}${many === 1 ? "" : "s"}`;

/** Returns the network with as many boxes as the ranks are on, where its name says their number: "; try dgx-a100:4". */
function otherBoxes({ name }: Topology, size: number, ranks: number, hosts: number | null): string {
  const [, box] = /^([a-z][\w-]*):\d+$/.exec(name) ?? [];
  const boxes = hosts ?? Math.ceil(ranks / size);
  return box === undefined || boxes * size !== ranks ? "" : `; try ${box}:${boxes}`;
}

/**
 * Returns the ranks in boxes (NodeTraits.group), the same number in each; where no NPU is in a box the first ranks, however many
 * hosts they are on. Throws InputError.
 */
export function placedRanks(
  topology: Topology,
  { ranks, hosts, source }: Pick<CostRequest, "ranks" | "hosts" | "source">,
): Placed {
  const boxes = new Map<string, number[]>();
  for (let npu = 0; npu < topology.npuCount; npu++) {
    const group = topology.nodeTraits[npu]?.group ?? "";
    addTo(boxes, group, npu);
  }
  const all = [...boxes.values()];
  const size = all.reduce((least, { length }) => Math.min(least, length), Number.POSITIVE_INFINITY);
  const isBoxed = boxes.size > 1 || !boxes.has("");
  const used = (isBoxed ? hosts : null) ?? Math.ceil(ranks / size);
  const perBox = ranks / used;
  if (ranks < 2 || used > all.length || !Number.isInteger(perBox) || perBox > size) {
    const received = `${ranks} ranks on ${hosts ?? "some"} hosts`;
    const of = `${size} GPU${size === 1 ? "" : "s"}`;
    const has = isBoxed ? `${all.length} box${all.length === 1 ? "" : "es"} of ${of}` : of;
    throw new InputError(source, `ranks that ${topology.name} has (${has})`, received).saying(
      `${source} has ${count(ranks, "rank")}${hosts === null ? "" : ` on ${count(hosts, "host")}`}; ${topology.name} has ${has}${otherBoxes(topology, size, ranks, hosts)}`,
    );
  }
  return all.slice(0, used).map((members) => members.slice(0, perBox));
}

/** Returns the boxes that take part with their ways in and out; of the GPUs of a box in part, the ring is in their order. */
function partOf(topology: Topology, placed: Placed): Boxes {
  const grouped = topology.nodeTraits.slice(0, topology.npuCount).every(({ group }) => group !== undefined);
  // without boxes all is one
  const traits = topology.nodeTraits.map((other) => ({ ...other, group: "" }));
  const whole = boxesWithRings(grouped ? topology : { ...topology, nodeTraits: traits });
  const npus = placed.map((box) => Int32Array.from(box));
  const size = (npus[0] as Int32Array).length;
  if (whole !== null && (whole.npus[0] as Int32Array).length === size) return { ...whole, npus };
  const exits = (whole?.exits ?? []).filter((place) => place < size);
  return {
    npus,
    exits: exits.length > 0 ? exits : [...indicesBelow(size)],
    rings: [indicesBelow(size)],
    switched: true,
  };
}

/** Collects messages between NPUs on shortest paths: what each class adds to latency, what each link carries. */
function loadsOf(topology: Topology, classes: LinkClasses) {
  const list = messages();
  const carried: number[] = [];
  let routes: { routes: RouteSet; routeOf: Int32Array } | null = null;
  return {
    /** Adds `share` of the size from one NPU to another; returns the message's number. */
    send(from: number, to: number, share: number): number {
      list.add(0, from, to, false);
      return carried.push(share) - 1;
    },
    /** Calls `visit` with the links of a message. */
    links(message: number, visit: (link: number) => void): void {
      routes ??= shortestRoutes(topology, list);
      const route = routes.routeOf[message];
      for (let k = routes.routes.linkOffset[route]; k < routes.routes.linkOffset[route + 1]; k++)
        visit(routes.routes.links[k]);
    },
    /** [classes] */
    load(): Float64Array {
      const bytes = new Float64Array(linkCount(topology));
      carried.forEach((share, message) => {
        this.links(message, (link) => {
          bytes[link] += share;
        });
      });
      const load = new Float64Array(classes.classes.length);
      bytes.forEach((value, link) => {
        const index = classes.classOf[link];
        load[index] = Math.max(load[index], value);
      });
      return load;
    },
  };
}

const latencyOf = (hops: Float64Array, { classes }: LinkClasses): number =>
  hops.reduce((sum, count, index) => sum + count * classes[index].latencyPs, 0);

/** Returns the terms of rings: all hops of the ring twice or once, less the last ones, which nothing waits for. */
function ringTerms(topology: Topology, classes: LinkClasses, request: CostRequest): CostTerms {
  const { collective, ranks } = request;
  const rounds = collective === "allreduce" ? 2 : 1;
  const whole = collective === "broadcast" || collective === "reduce";
  const orders = channelRings(partOf(topology, placedRanks(topology, request)));
  const share = (whole ? 1 : (rounds * (ranks - 1)) / ranks) / orders.length;
  const loads = loadsOf(topology, classes);
  const rings = orders.map((order) =>
    Array.from(order, (npu, i) => loads.send(npu, order[(i + 1) % order.length], share)),
  );
  const load = loads.load();
  // 2 (N - 1) hops of an all-reduce are twice round less two hops
  let longest = -1;
  let hops = new Float64Array(classes.classes.length);
  for (const ring of rings) {
    const each = ring.map((message) => {
      const counts = new Float64Array(classes.classes.length);
      loads.links(message, (link) => {
        counts[classes.classOf[link]]++;
      });
      return counts;
    });
    const times = each.map((counts) => latencyOf(counts, classes));
    const left = (start: number): number =>
      (times[start] as number) + (rounds === 2 ? (times[(start + 1) % ranks] as number) : 0);
    let start = 0;
    for (let s = 1; s < ranks; s++) if (left(s) < left(start)) start = s;
    const counts = new Float64Array(classes.classes.length);
    each.forEach((own, i) => {
      const missing = i === start || (rounds === 2 && i === (start + 1) % ranks) ? 1 : 0;
      own.forEach((count, index) => {
        counts[index] += count * (rounds - missing);
      });
    });
    if (latencyOf(counts, classes) > longest) [longest, hops] = [latencyOf(counts, classes), counts];
  }
  return { hops, load };
}

/** Returns the terms of NCCL's trees, chains within boxes and double binary trees between them: up, and down again. */
function treeTerms(topology: Topology, classes: LinkClasses, request: CostRequest): CostTerms {
  if (request.collective !== "allreduce")
    throw new InputError(optionName("algorithm"), `ring for ${request.collective}`, request.algorithm);
  const boxes = partOf(topology, placedRanks(topology, request));
  const between = boxes.npus.length > 1 ? doubleBinaryTree(boxes.npus.length) : [Int32Array.of(-1)];
  const members = boxes.npus.flatMap((box) => [...box]);
  // trees of ranks: NPUs may take part in some number only
  const ranks = boxes.npus.map((box, b) => box.map((_, i) => b * box.length + i));
  const trees = channelTrees({ ...boxes, npus: ranks }, between);
  const loads = loadsOf(topology, classes);
  const edges = trees.map((parent) =>
    members.map((npu, rank) => {
      if (parent[rank] < 0) return -1;
      const up = members[parent[rank]] as number;
      loads.send(up, npu, 1 / trees.length);
      return loads.send(npu, up, 1 / trees.length);
    }),
  );
  const load = loads.load();
  let longest = new Float64Array(classes.classes.length);
  trees.forEach((parent, t) => {
    for (let leaf = 0; leaf < members.length; leaf++) {
      const hops = new Float64Array(classes.classes.length);
      for (let rank = leaf; parent[rank] >= 0; rank = parent[rank]) {
        loads.links((edges[t] as number[])[rank] as number, (link) => {
          hops[classes.classOf[link]] += 2;
        });
      }
      if (latencyOf(hops, classes) > latencyOf(longest, classes) || longest.every((count) => count === 0))
        longest = hops;
    }
  });
  return { hops: longest, load };
}

/** Returns the terms of one switch that sums and duplicates: each rank is the root of a part. */
function nvlsTerms(topology: Topology, classes: LinkClasses, request: CostRequest): CostTerms {
  const placed = placedRanks(topology, request);
  const [box] = placed as [readonly number[]];
  const { ranks, collective } = request;
  const able = (node: number): boolean =>
    !isNpu(topology, node) &&
    topology.nodeTraits[node]?.aggregation === true &&
    topology.nodeTraits[node]?.multicast === true;
  const out = outLinks(topology);
  const up = [...out.links.subarray(out.offset[box[0] as number], out.offset[(box[0] as number) + 1])].find((link) =>
    able(topology.linkTarget[link]),
  );
  if (placed.length > 1 || up === undefined)
    throw new InputError(
      optionName("algorithm"),
      "ring or tree where no switch of one box sums and duplicates",
      "nvls",
    );
  const rounds = { allreduce: 2, allgather: 1, reducescatter: 1 }[collective as string];
  if (rounds === undefined)
    throw new InputError(optionName("algorithm"), "ring for this collective", inWords(`nvls for ${collective}`));
  const hub = topology.linkTarget[up];
  const down =
    [...out.links.subarray(out.offset[hub], out.offset[hub + 1])].find(
      (link) => topology.linkTarget[link] === box[0],
    ) ?? up;
  const hops = new Float64Array(classes.classes.length);
  const load = new Float64Array(classes.classes.length);
  const [sent, received] = { allreduce: [1, 1], allgather: [1 / ranks, 1], reducescatter: [1, 1 / ranks] }[
    collective as "allreduce"
  ];
  for (const [link, share] of [
    [up, sent],
    [down, received],
  ] as const) {
    const index = classes.classOf[link];
    hops[index] += rounds;
    load[index] = Math.max(load[index], share);
  }
  return { hops, load };
}

/** Returns the terms of what MPI libraries run among all NPUs of a torus or a switch with links of one class, round by round. */
function mpiTerms(topology: Topology, classes: LinkClasses, request: CostRequest): CostTerms {
  const algorithm = request.algorithm as MpiAlgorithm;
  const { ranks, collective, source } = request;
  if (ranks !== topology.npuCount)
    throw new InputError(source, `all ${topology.npuCount} ranks of ${topology.name}`, ranks);
  if (classes.classes.length !== 1)
    throw new InputError(optionName("algorithm"), "ring, tree or nvls where links differ", algorithm);
  const rounds = mpiRounds(topology, { algorithm, collective, unaware: !algorithm.startsWith("bine-") });
  return {
    hops: Float64Array.of(rounds.reduce((sum, { times, hops }) => sum + times * hops, 0)),
    load: Float64Array.of(rounds.reduce((sum, { times, load }) => sum + times * load, 0)),
  };
}

const OF_NCCL: ReadonlyMap<FittedAlgorithm, typeof ringTerms> = new Map([
  ["ring", ringTerms],
  ["tree", treeTerms],
  ["nvls", nvlsTerms],
]);
const OF_RINGS: readonly NamedCollective[] = ["allreduce", "allgather", "reducescatter", "broadcast", "reduce"];

/**
 * Returns what a collective of a library costs on a network, as terms by class of links. Paths are shortest; hops of the longest
 * are counted with the network's latencies. Throws InputError for ranks that the network does not have and for what the
 * algorithm does not make. O(ranks x GPUs of a box x links).
 */
export function collectiveCost(topology: Topology, classes: LinkClasses, request: CostRequest): CostTerms {
  if (!OF_RINGS.includes(request.collective))
    throw new InputError(request.source, `measurements of ${OF_RINGS.join(", ")}`, request.collective);
  return (OF_NCCL.get(request.algorithm) ?? mpiTerms)(topology, classes, request);
}
