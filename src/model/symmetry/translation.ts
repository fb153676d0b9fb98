import { InternalError } from "../../base/errors.ts";
import type { Collective } from "../collective/collective.ts";
import { type Grouped, groupedBy } from "../graph/graph.ts";
import { type RouteSet, routeCount } from "../routes/routes.ts";
import { type ArrivalLog, type SlotPass, type SlotSchedule, withPorts } from "../slots/slot-schedule.ts";
import { indexColumn } from "../steps/step-schedule.ts";
import type { Topology } from "../topology/topology.ts";

/**
 * Groups of translations of the NPUs: with dimensions of sizes d0, d1, ... NPU x0 + d0 * (x1 + d1 * ...) has coordinates
 * x0, x1, ...; translating by an NPU adds its coordinates, each modulo its size. Z_n is [n], the binary cube [2, 2, ...].
 */

/** Above this many candidates the search for a group gives up. */
const MOST_CANDIDATES = 4096;

/** Returns where a translation by the coordinates of `by` takes `npu`. O(dimensions). */
export function translated(sizes: readonly number[], npu: number, by: number): number {
  let image = 0;
  let stride = 1;
  for (const size of sizes) {
    image += (((Math.floor(npu / stride) % size) + (Math.floor(by / stride) % size)) % size) * stride;
    stride *= size;
  }
  return image;
}

/** Writes where a translation by `by` takes each NPU to image[0 .. npus). O(NPUs). */
export function translateAll(sizes: readonly number[], by: number, image: Int32Array): void {
  image[0] = 0;
  let stride = 1;
  for (const size of sizes) {
    const shift = Math.floor(by / stride) % size;
    // the first block last: the others are made from it
    for (let x = size - 1; x >= 0; x--) {
      const add = ((x + shift) % size) * stride;
      for (let i = 0, to = x * stride; i < stride; i++) image[to + i] = image[i] + add;
    }
    stride *= size;
  }
}

/** How the ports of other NPUs (portsOf) correspond to those of NPU 0 under a group of translations. */
interface PortTranslation {
  /** Ports of every NPU. */
  readonly ports: number;
  /**
   * Writes to port[p] the port of `npu` that port p of NPU 0 becomes; of parallel routes of equal links the k-th becomes
   * the k-th. Returns false when there is none: then routes are not invariant. O(ports x dimensions).
   */
  portsAt(npu: number, port: Int32Array): boolean;
}

/** Returns the translation of ports, or null where NPUs have different numbers of them. O(routes). */
export function portTranslation(
  topology: Topology,
  routes: RouteSet,
  sizes: readonly number[],
): PortTranslation | null {
  const columns = portColumns(topology, routes);
  return columns === null ? null : translationOfPorts(columns, topology.npuCount, sizes);
}

/**
 * Returns whether translations take routes to routes: every NPU has as many ports as NPU 0, from the translated sources, over
 * links of the same bandwidths, latencies and shares. Says nothing of links that several routes share, nor of switches.
 * O(routes x dimensions).
 */
export function isTranslationInvariant(topology: Topology, routes: RouteSet, sizes: readonly number[]): boolean {
  const columns = portColumns(topology, routes);
  return columns !== null && holdsFor(columns, topology.npuCount, sizes);
}

/**
 * Returns the sizes of the dimensions, none of them 1, of a group of translations under which routes are invariant
 * (isTranslationInvariant); null when none is found. Tried in order: the topology's own shape, one ring, all prime factors,
 * products of two factors, of three, ... A candidate costs little where NPU 1 refutes it, and O(routes x dimensions) where it holds.
 */
export function translationsOf(topology: Topology, routes: RouteSet): readonly number[] | null {
  const { npuCount } = topology;
  const columns = portColumns(topology, routes);
  if (columns === null || npuCount < 2 || routeCount(routes) === 0) return null;
  let left = MOST_CANDIDATES;
  for (const sizes of candidates(topology)) {
    if (holdsFor(columns, npuCount, sizes)) return sizes;
    if (--left === 0) return null;
  }
  return null;
}

function* candidates({ npuCount, shape }: Topology): Generator<readonly number[]> {
  const given = shape.filter((size) => size > 1);
  if (given.length > 0 && given.reduce((product, size) => product * size, 1) === npuCount) yield given;
  yield [npuCount];
  const { divisors, primes } = factorsOf(npuCount);
  yield primes;
  for (let factors = 2; factors <= primes.length; factors++) yield* factorizations(npuCount, factors, divisors);
}

/** Returns the divisors of n but 1 and n, and its prime factors: ascending. */
export function factorsOf(n: number): { readonly divisors: readonly number[]; readonly primes: readonly number[] } {
  const divisors: number[] = [];
  for (let d = 2; d < n; d++) if (n % d === 0) divisors.push(d);
  const primes: number[] = [];
  for (let rest = n; rest > 1; rest /= primes[primes.length - 1]) {
    primes.push(divisors.find((d) => rest % d === 0) ?? rest);
  }
  return { divisors, primes };
}

/** Yields the ways to write n as an ordered product of this many of its divisors above 1. */
export function* factorizations(n: number, factors: number, divisors: readonly number[]): Generator<readonly number[]> {
  if (factors === 1) {
    yield [n];
    return;
  }
  for (const d of divisors) {
    if (d >= n || n % d !== 0) continue;
    for (const rest of factorizations(n / d, factors - 1, divisors)) yield [d, ...rest];
  }
}

/** Sources and classes of the routes into each NPU. */
interface PortColumns {
  readonly ports: number;
  /** [NPUs * ports] */
  readonly source: Int32Array;
  /** [NPUs * ports] equal for routes over links of equal bandwidths, latencies and shares. */
  readonly kind: Int32Array;
  /** [NPUs] scratch. */
  readonly first: Int32Array;
}

function portColumns(topology: Topology, routes: RouteSet): PortColumns | null {
  const { npuCount } = topology;
  const { offset, items }: Grouped = groupedBy(routes.target, npuCount);
  const ports = offset[1];
  for (let v = 0; v < npuCount; v++) if (offset[v + 1] - offset[v] !== ports) return null;
  const kinds = kindsOfRoutes(topology, routes);
  const source = new Int32Array(items.length);
  const kind = new Int32Array(items.length);
  for (let i = 0; i < items.length; i++) {
    source[i] = routes.source[items[i]];
    kind[i] = kinds[items[i]];
  }
  return { ports, source, kind, first: new Int32Array(npuCount) };
}

/** Returns the class of each route: routes of a class have links of equal figures in the same order. O(route links). */
function kindsOfRoutes(topology: Topology, { linkOffset, links, shareNum, shareDen }: RouteSet): Int32Array {
  const { linkBytesPerSecond, linkLatencyPs } = topology;
  const known = new Map<string, number>();
  const kinds = new Int32Array(linkOffset.length - 1);
  const sameUse = (i: number, j: number): boolean =>
    linkBytesPerSecond[links[i]] === linkBytesPerSecond[links[j]] &&
    linkLatencyPs[links[i]] === linkLatencyPs[links[j]] &&
    shareNum[i] === shareNum[j] &&
    shareDen[i] === shareDen[j];
  for (let route = 0; route < kinds.length; route++) {
    const from = linkOffset[route];
    const to = linkOffset[route + 1];
    if (route > 0 && to - from === 1 && from - linkOffset[route - 1] === 1 && sameUse(from, from - 1)) {
      kinds[route] = kinds[route - 1];
      continue;
    }
    let key = "";
    for (let i = from; i < to; i++) {
      key += `${linkBytesPerSecond[links[i]]}:${linkLatencyPs[links[i]]}:${shareNum[i]}:${shareDen[i]} `;
    }
    const kind = known.get(key) ?? known.size;
    known.set(key, kind);
    kinds[route] = kind;
  }
  return kinds;
}

function holdsFor(columns: PortColumns, npuCount: number, sizes: readonly number[]): boolean {
  if (sizes.some((size) => size < 1) || sizes.reduce((product, size) => product * size, 1) !== npuCount) return false;
  const { portsAt } = translationOfPorts(columns, npuCount, sizes);
  const port = new Int32Array(columns.ports);
  for (let v = 1; v < npuCount; v++) if (!portsAt(v, port)) return false;
  return true;
}

function translationOfPorts(columns: PortColumns, npuCount: number, sizes: readonly number[]): PortTranslation {
  const { ports, source, kind, first } = columns;
  const dimensions = sizes.length;
  const stride = sizes.map((_, d) => sizes.slice(0, d).reduce((product, size) => product * size, 1));
  /** [ports * dimensions] coordinates of the sources of NPU 0. */
  const step = new Int32Array(ports * dimensions);
  for (let p = 0; p < ports; p++) {
    for (let d = 0; d < dimensions; d++) step[p * dimensions + d] = Math.floor(source[p] / stride[d]) % sizes[d];
  }
  const at = new Int32Array(dimensions);
  const next = new Int32Array(ports);
  first.fill(-1, 0, npuCount);

  const portsAt = (npu: number, port: Int32Array): boolean => {
    for (let d = 0; d < dimensions; d++) at[d] = Math.floor(npu / stride[d]) % sizes[d];
    const base = npu * ports;
    // the ports of each source, ascending, as a list
    for (let p = ports - 1; p >= 0; p--) {
      next[p] = first[source[base + p]];
      first[source[base + p]] = p;
    }
    let found = 0;
    for (; found < ports; found++) {
      let from = 0;
      for (let d = 0, i = found * dimensions; d < dimensions; d++, i++) {
        const x = at[d] + step[i];
        from += (x < sizes[d] ? x : x - sizes[d]) * stride[d];
      }
      let before = -1;
      let p = first[from];
      while (p >= 0 && kind[base + p] !== kind[found]) {
        before = p;
        p = next[p];
      }
      if (p < 0) break;
      if (before < 0) first[from] = next[p];
      else next[before] = next[p];
      port[found] = p;
    }
    for (let p = 0; p < ports; p++) first[source[base + p]] = -1;
    return found === ports;
  };
  return { ports, portsAt };
}

/** Above this many bytes of logs with reordered ports, those kept are dropped. */
const MOST_BYTES = 1 << 26;

/** The arrival log of NPU 0 and the translations that give those of the others. */
interface TranslatedRows {
  readonly topology: Topology;
  readonly routes: RouteSet;
  /** Sizes of the dimensions (translation.ts) under which the routes are invariant. */
  readonly sizes: readonly number[];
  /** NPU v owns chunks v * chunksPerNpu onwards. */
  readonly chunksPerNpu: number;
  readonly row: ArrivalLog;
}

/**
 * Returns the function that gives the log of any NPU: chunks and ports translated, the arrivals of a slot again in order of
 * port. O(chunks) a call; NPUs whose ports lie in the same order share the `ports` column. Throws InternalError when the
 * routes are not invariant.
 */
export function translatedRows({
  topology,
  routes,
  sizes,
  chunksPerNpu,
  row,
}: TranslatedRows): (npu: number) => ArrivalLog {
  const { npuCount } = topology;
  const chunkCount = npuCount * chunksPerNpu;
  const translation = portTranslation(topology, routes, sizes);
  if (translation === null) throw new InternalError("translated rows over routes that are not invariant");
  const port = new Int32Array(translation.ports);
  const image = new Int32Array(npuCount);
  const reordered = new Map<string, ArrivalLog>();
  let bytes = 0;

  const inOrderOf = (npu: number): ArrivalLog => {
    if (!translation.portsAt(npu, port)) throw new InternalError("translated rows over routes that are not invariant");
    const key = port.join();
    const kept = reordered.get(key);
    if (kept !== undefined) return kept;
    if (bytes > MOST_BYTES) {
      reordered.clear();
      bytes = 0;
    }
    const log = withPorts(row, port, chunksPerNpu);
    bytes += log.chunk.byteLength + log.ports.byteLength;
    reordered.set(key, log);
    return log;
  };

  return (npu) => {
    const { chunk, ports } = inOrderOf(npu);
    translateAll(sizes, npu, image);
    const moved = indexColumn(chunk.length, chunkCount);
    if (chunksPerNpu === 1) {
      for (let i = 0; i < moved.length; i++) moved[i] = image[chunk[i]];
    } else {
      for (let i = 0; i < moved.length; i++) {
        const owner = Math.floor(chunk[i] / chunksPerNpu);
        moved[i] = chunk[i] + (image[owner] - owner) * chunksPerNpu;
      }
    }
    return { chunk: moved, ports };
  };
}

/**
 * Returns the schedule of one log and its translations. The collective is one among all NPUs in order of id, chunks in order
 * of owner (all-gather, reduce-scatter, all-reduce). Throws InternalError as translatedRows does.
 */
export function translatedSchedule(
  rows: TranslatedRows,
  collective: Collective,
  time: { readonly slotPs: number; readonly slots: number; readonly passes: readonly SlotPass[] },
): SlotSchedule {
  const { topology, routes, sizes, chunksPerNpu } = rows;
  const origin = new Int32Array(topology.npuCount * chunksPerNpu);
  for (let c = 0; c < origin.length; c++) origin[c] = Math.floor(c / chunksPerNpu);
  return { kind: "slots", topology, collective, routes, ...time, origin, symmetry: sizes, row: translatedRows(rows) };
}
