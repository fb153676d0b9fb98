import { type Network, readTask, type Task } from "./collectives.ts";
import {
  bad,
  ceil,
  exact,
  type Fraction,
  flagAt,
  type Json,
  LARGEST,
  listAt,
  objectAt,
  SECOND,
  wholeAt,
  wholesAt,
  wrong,
} from "./values.ts";

/** Phases within dimensions: "Phases, JSON" of FORMATS.md, and how they are replayed. */

export interface Dimension {
  readonly kind: string;
  readonly algorithm: string;
  readonly size: number;
  readonly rate: number;
  readonly stepPs: number;
  /** Ranks between neighbours. */
  readonly stride: number;
}

/** The members of all groups, group by group in rank order: their places. Ranks and places have the same coordinates. */
interface Places {
  readonly npus: readonly number[];
  readonly of: ReadonlyMap<number, number>;
}

export interface Phases {
  readonly net: Network;
  readonly task: Task;
  readonly dimensions: readonly Dimension[];
  readonly chunk: readonly number[];
  readonly dimension: readonly number[];
  readonly op: readonly number[];
  readonly start: readonly number[];
  readonly end: readonly number[];
}

const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  ring: ["ring"],
  line: ["line"],
  fc: ["direct"],
  switch: ["ring", "direct", "halving-doubling", "offload"],
};

export function readPhases(file: Json, net: Network): Phases {
  const task = readTask(file, "", net);
  let stride = 1;
  const dimensions = listAt(file["dimensions"], "dimensions").map((entry, d): Dimension => {
    const place = `dimensions[${d}]`;
    const { kind, algorithm, size, bytesPerSecond, stepPs, inNetwork } = objectAt(entry, place);
    flagAt(inNetwork, `${place}.inNetwork`);
    const fits = typeof kind === "string" && Object.hasOwn(ALGORITHMS, kind) ? ALGORITHMS[kind] : [];
    if (!fits?.includes(algorithm as string)) bad(place, "a kind with an algorithm for it", algorithm);
    const own = {
      ...{ kind: kind as string, algorithm: algorithm as string, stride, size: wholeAt(size, `${place}.size`, 2) },
      rate: wholeAt(bytesPerSecond, `${place}.bytesPerSecond`, 1),
      stepPs: wholeAt(stepPs, `${place}.stepPs`),
    };
    stride *= own.size;
    return own;
  });
  if (dimensions.length === 0 || dimensions.length > 255) bad("dimensions", "1 to 255 dimensions", file["dimensions"]);
  if (stride !== task.size) bad("dimensions", `dimensions of ${task.size} NPUs`, stride);
  const given = objectAt(file["phases"], "phases");
  const chunk = wholesAt(given["chunk"], "phases.chunk", task.chunksPerNpu - 1);
  const { length } = chunk;
  if (length < task.chunksPerNpu) bad("phases.chunk", `a phase for each of ${task.chunksPerNpu} chunks`, length);
  if (given["count"] !== undefined) wholeAt(given["count"], "phases.count", length, length);
  const column = (key: string, most = LARGEST) => wholesAt(given[key], `phases.${key}`, most, length);
  const last = dimensions.length - 1;
  return {
    ...{ net, task, dimensions, chunk, dimension: column("dimension", last), op: column("op", 1) },
    ...{ start: column("startPs"), end: column("endPs") },
  };
}

function stepsOf({ algorithm, size }: Dimension): number {
  if (algorithm === "direct" || algorithm === "offload") return 1;
  return algorithm === "halving-doubling" ? Math.ceil(Math.log2(size)) : size - 1;
}

/** Returns how long a dimension serialises: `held` N-th parts of a chunk before a reduce-scatter or after an all-gather. */
function serialOf({ task: { bytes }, dimensions }: Phases) {
  const known = new Map<number, number>();
  return (d: number, held: number): number => {
    const key = held * dimensions.length + d;
    const { size, rate, algorithm } = dimensions[d] as Dimension;
    const parts = BigInt(held) * BigInt(algorithm === "offload" ? size + 1 : size - 1);
    const ps = known.get(key) ?? exact(ceil(bytes[0] * parts * SECOND, bytes[1] * BigInt(size) * BigInt(rate)));
    known.set(key, ps);
    return ps;
  };
}

/** Throws Wrong for the first rule of phases that is broken. O(phases + links x dimensions). */
export function checkPhases(phases: Phases): void {
  const { task, dimensions, chunk, dimension, op, start, end } = phases;
  const { kind, groups, chunksPerNpu, chunks } = task;
  const [scatters, gathers] = [kind !== "allgather", kind !== "reducescatter"];
  if (scatters && gathers && kind !== "allreduce") wrong(`phases do not make ${kind}`);
  const npus = groups.flatMap(({ members }) => members);
  const places = { npus, of: new Map(npus.map((npu, place) => [npu, place])) };
  if (places.of.size !== npus.length) wrong("an NPU is in two groups, whose phases run at once");
  if (chunks !== npus.length * chunksPerNpu) wrong("an NPU's part does not have that many chunks");
  checkDimensions(phases, places);
  const serial = serialOf(phases);
  const held = new Array<number>(chunksPerNpu).fill(scatters ? task.size : 1);
  const ended = new Array<number>(chunksPerNpu).fill(0);
  const left = new Array<number>(chunksPerNpu).fill(scatters ? dimensions.length : 0);
  const done = new Set<number>();
  const busy = new Array<number>(2 * dimensions.length).fill(0);
  for (let i = 0; i < chunk.length; i++) {
    const [c, d, ps, until] = [chunk[i], dimension[i], start[i], end[i]] as [number, number, number, number];
    const { size, algorithm, stepPs } = dimensions[d] as Dimension;
    const isScatter = op[i] === 0;
    const order = i === 0 ? 1 : ps - start[i - 1] || d - dimension[i - 1] || c - chunk[i - 1];
    if (order < 0) wrong(`phase ${i} stands behind one that is carried out after it`);
    const key = (c * dimensions.length + d) * 2 + (isScatter ? 0 : 1);
    if (!(isScatter ? scatters : gathers) || done.has(key)) wrong(`phase ${i} has no place in ${kind}`);
    done.add(key);
    if (isScatter) left[c] = left[c] - 1;
    else if (left[c] > 0) wrong(`phase ${i} comes before a reduce-scatter of its chunk`);
    if (ps < ended[c]) wrong(`phase ${i} begins before its chunk is there`);
    const whole = isScatter ? held[c] : held[c] * size;
    const ms = serial(d, whole);
    if (until - ps < ms + stepsOf(dimensions[d]) * stepPs) wrong(`phase ${i} takes less than it needs`);
    const lane = algorithm === "offload" && !isScatter ? dimensions.length + d : d;
    if (ps < busy[lane]) wrong(`phase ${i} begins while its dimension is busy`);
    [busy[lane], ended[c], held[c]] = [ps + ms, until, isScatter ? whole / size : whole];
  }
  if (done.size !== chunksPerNpu * dimensions.length * (scatters && gathers ? 2 : 1)) wrong("a chunk lacks a phase");
}

/** Returns the replay dimension by dimension. */
export function phasesPs(phases: Phases): number {
  const { task, dimensions, chunk, dimension, op } = phases;
  const serial = serialOf(phases);
  const held = new Array<number>(task.chunksPerNpu).fill(task.kind === "allgather" ? 1 : task.size);
  const ready = new Array<number>(task.chunksPerNpu).fill(0);
  const free = new Array<number>(2 * dimensions.length).fill(0);
  let latest = 0;
  for (let i = 0; i < chunk.length; i++) {
    const [c, d] = [chunk[i], dimension[i]] as [number, number];
    const { size, algorithm, stepPs } = dimensions[d] as Dimension;
    const whole = op[i] === 0 ? held[c] : held[c] * size;
    const lane = algorithm === "offload" && op[i] === 1 ? dimensions.length + d : d;
    const until = Math.max(ready[c], free[lane]) + serial(d, whole);
    [free[lane], ready[c], held[c]] = [
      until,
      until + stepsOf(dimensions[d]) * stepPs,
      op[i] === 0 ? whole / size : whole,
    ];
    latest = Math.max(latest, ready[c]);
  }
  return latest;
}

/** Throws Wrong where the groups do not have the dimensions in the network. O(links x dimensions). */
function checkDimensions({ net, dimensions }: Phases, places: Places): void {
  const many = places.npus.length;
  const at = (place: number, { stride, size }: Dimension): number => Math.floor(place / stride) % size;
  const direct = dimensions.map(() => new Map<number, number>());
  for (let link = 0; link < net.from.length; link++) {
    const from = places.of.get(net.from[link] as number);
    const to = places.of.get(net.to[link] as number);
    if (from === undefined || to === undefined) continue;
    const differs = dimensions.flatMap((own, d) => (at(from, own) === at(to, own) ? [] : [d]));
    const [d] = differs as [number];
    if (differs.length !== 1 || net.latency[link] > (dimensions[d]?.stepPs as number)) continue;
    const key = from * many + to;
    direct[d]?.set(key, (direct[d]?.get(key) ?? 0) + net.rate[link]);
  }
  for (const [d, own] of dimensions.entries()) {
    const { kind, size, stride, rate } = own;
    if (own.algorithm === "halving-doubling" && !Number.isInteger(Math.log2(size)))
      wrong("halving-doubling needs a power of two");
    if (kind === "switch") continue;
    const offsets = kind === "fc" ? size - 1 : size === 2 ? 1 : 2;
    if (many * offsets > net.from.length + 2 * many) wrong(`dimension ${d} has not the links that it needs`);
    for (let place = 0; place < many; place++)
      for (let i = 1; i <= offsets; i++) {
        const step = kind === "fc" || i === 1 ? i : size - 1;
        const x = at(place, own);
        if (kind === "line" && size > 2 && x === (i === 1 ? size - 1 : 0)) continue;
        const has = direct[d]?.get(place * many + place + (((x + step) % size) - x) * stride) ?? 0;
        if (has * (kind === "line" ? 1 : offsets) < rate)
          wrong(`dimension ${d} has too little bandwidth at ${net.names[places.npus[place] as number]}`);
      }
  }
  checkHubs(net, dimensions, places, at);
}

/** Holds dimensions with switches against the switches whose members are whole lines of them. */
function checkHubs(
  net: Network,
  dimensions: readonly Dimension[],
  places: Places,
  at: (place: number, own: Dimension) => number,
): void {
  const ports = new Map<number, Map<number, [up: number, down: number, upPs: number, downPs: number]>>();
  for (let link = 0; link < net.from.length; link++) {
    const [from, to] = [net.from[link], net.to[link]] as [number, number];
    if (from < net.npus === to < net.npus) continue;
    const [npu, hub, way] = from < net.npus ? [from, to, 0] : [to, from, 1];
    const place = places.of.get(npu);
    if (place === undefined) continue;
    const own = ports.get(hub) ?? new Map<number, [number, number, number, number]>();
    const row = own.get(place) ?? [0, 0, 0, 0];
    row[way as 0] += net.rate[link];
    row[(2 + way) as 2] = Math.max(row[(2 + way) as 2], net.latency[link]);
    ports.set(hub, own.set(place, row));
  }
  const lineOf = (place: number, own: Dimension): number => place - at(place, own) * own.stride;
  const hubs = [...ports]
    .sort(([a], [b]) => a - b)
    .map(([hub, rows]) => {
      const attached = [...rows].filter(([, [up, down]]) => up > 0 && down > 0);
      const serves = dimensions.flatMap((own, d) => {
        if (own.kind !== "switch" || attached.length === 0) return [];
        if (own.algorithm === "offload" && !(net.copies[hub] && net.sums[hub])) return [];
        const members = new Map<number, number>();
        for (const [place] of attached) members.set(lineOf(place, own), (members.get(lineOf(place, own)) ?? 0) + 1);
        return [...members.values()].every((many) => many === own.size) ? [d] : [];
      });
      return { attached, serves, taken: false };
    });
  for (const [d, own] of dimensions.entries()) {
    if (own.kind !== "switch") continue;
    const rates = new Map<number, number>();
    const serve = (hub: (typeof hubs)[0]): void => {
      hub.taken = true;
      const lines = new Map<number, [rate: number, up: number, down: number]>();
      for (const [place, [up, down, upPs, downPs]] of hub.attached) {
        const [rate, first, second] = lines.get(lineOf(place, own)) ?? [LARGEST, 0, 0];
        lines.set(lineOf(place, own), [Math.min(rate, up, down), Math.max(first, upPs), Math.max(second, downPs)]);
      }
      for (const [line, [rate, up, down]] of lines)
        if (up + down <= own.stepPs) rates.set(line, (rates.get(line) ?? 0) + rate);
    };
    const isShort = (): boolean => {
      for (let place = 0; place < places.npus.length; place++)
        if (at(place, own) === 0 && (rates.get(place) ?? 0) < own.rate) return true;
      return false;
    };
    for (const hub of hubs) if (!hub.taken && hub.serves.length === 1 && hub.serves[0] === d) serve(hub);
    if (isShort()) for (const hub of hubs) if (!hub.taken && hub.serves.includes(d)) serve(hub);
    if (isShort()) wrong(`dimension ${d} has too little bandwidth through its switches`);
  }
}

/** Returns the time that sets of dimensions need for what an NPU sends over them, however chunks go: the greatest of the sets given. */
export function dimensionsLimit({ task, dimensions }: Phases, set: readonly number[]): Fraction {
  const product = (own: readonly number[]): bigint =>
    own.reduce((all, d) => all * BigInt(dimensions[d]?.size ?? 1), 1n);
  const twice = task.kind === "allreduce" ? set.filter((d) => dimensions[d]?.algorithm !== "offload") : [];
  const parts = product(set) + product(twice) - 2n;
  const rate = set.reduce((sum, d) => sum + BigInt(dimensions[d]?.rate ?? 0), 0n);
  return [parts * task.bytes[0] * BigInt(task.chunksPerNpu) * SECOND, task.bytes[1] * rate];
}
