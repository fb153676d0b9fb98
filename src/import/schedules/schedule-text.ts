import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { type Collective, collective, membersOf, type NamedCollective } from "../../model/collective/collective.ts";
import type { GivenSchedule } from "../../model/joint/joint-schedule.ts";
import { addTo } from "../../model/numbers/ordering.ts";
import { type RouteSet, routeTimes } from "../../model/routes/routes.ts";
import { indexColumn, OP_COPY, type StepSchedule } from "../../model/steps/step-schedule.ts";
import { outLinks, type Topology, topologyHash } from "../../model/topology/topology.ts";
import { readMscclTools } from "../networks/msccl-tools.ts";
import type { TopologyOptions } from "../networks/topology-options.ts";
import { asInteger, asList, asObject, type JsonFields, parseJson, placeIn } from "../text/json.ts";
import type { ReadScheduleOptions } from "./schedule-header.ts";
import { readAnySchedule } from "./schedule-json.ts";

/** Where files of schedules say what they are. */
const HEAD = 4096;
const SCCL_ALGORITHM = /"sccl_type"\s*:\s*"algorithm"/;

/** Returns whether a text seems to be a schedule rather than a network. */
export const isScheduleText = (text: string): boolean => {
  const head = text.slice(0, HEAD);
  return /"format"\s*:\s*"banyan-(schedule|phases)"/.test(head) || SCCL_ALGORITHM.test(head);
};

/**
 * Returns the schedule of a text: Banyan's JSON of transfers, trees, phases or several collectives at once, or an algorithm of
 * SCCL, which brings its network. Throws InputError with the place in the file. O(text).
 */
export function readScheduleText(text: string, name: string, options: ReadScheduleOptions = {}): GivenSchedule {
  if (!SCCL_ALGORITHM.test(text.slice(0, HEAD))) return readAnySchedule(text, name, options);
  const value = parseJson(text, name);
  if (!looksLikeScclAlgorithm(value)) throw new InputError(name, "an algorithm with steps", value);
  const schedule = readScclAlgorithm(value, name);
  const { topology } = options;
  if (topology !== undefined && topologyHash(topology) !== topologyHash(schedule.topology))
    throw new InputError(
      optionName("topology"),
      "nothing beside an algorithm that brings its network",
      topology.name,
    ).as("not-together");
  return schedule;
}

type Fields = JsonFields<"sccl_type" | "collective" | "steps">;
interface Send {
  readonly chunk: number;
  readonly from: number;
  readonly to: number;
  readonly place: string;
}

const MAX_SENDS = 1e7;
/** Kinds that move chunks without adding, in the order in which they are tried; roots are found from the chunks. */
const KINDS: readonly NamedCollective[] = ["allgather", "alltoall", "broadcast", "gather", "scatter"];

/** Returns true where a parsed JSON value is an algorithm of msccl-tools or TACCL. */
export function looksLikeScclAlgorithm(value: unknown): boolean {
  return typeof value === "object" && value !== null && (value as Fields).sccl_type === "algorithm" && "steps" in value;
}

/**
 * Returns the schedule in an algorithm file of msccl-tools or TACCL, on the file's own network: its sends (address of the
 * chunk, source, destination, further numbers ignored) in the order of its steps, each as early as its data is there, the
 * sends before it on its links are through, and the sends before it from its source began. The collective, which must move
 * chunks without adding, is found by the chunks' places, and has `sizeBytes` (else 1 MiB for each chunk of a rank). Throws
 * InputError with the place. O(sends log sends).
 */
export function readScclAlgorithm(
  value: unknown,
  fileName: string,
  options: TopologyOptions & { readonly sizeBytes?: number } = {},
): StepSchedule {
  const topology = readMscclTools(value, fileName, options);
  const fields = asObject<Fields>(value, fileName);
  const { task, chunkAt } = collectiveIn(fields, fileName, topology.npuCount, options.sizeBytes);
  const sends = sendsIn(fields, fileName, topology.npuCount, chunkAt);
  const { routes, routeOf } = routesFor(topology, sends);
  const { slotPs } = routeTimes(topology, routes, task.chunkBytes);
  return timed({ topology, collective: task, routes }, sends, routeOf, slotPs);
}

/** Returns the collective whose chunks stand where the file's do, and our number of the chunk at each address. */
function collectiveIn(fields: Fields, fileName: string, ranks: number, sizeBytes: number | undefined) {
  const place = placeIn(fileName, "collective.chunks");
  const { chunks } = asObject<{ readonly chunks?: unknown }>(fields.collective, placeIn(fileName, "collective"));
  const placed = asList(chunks, place).map((chunk, i) => {
    const { pre, post, addr } = asObject<{ readonly pre?: unknown; readonly post?: unknown; readonly addr?: unknown }>(
      chunk,
      `${place}[${i}]`,
    );
    const rankList = (list: unknown, key: string): number[] =>
      asList(list, `${place}[${i}].${key}`)
        .map((rank, k) => asInteger(rank, `${place}[${i}].${key}[${k}]`, 0, ranks - 1))
        .sort((a, b) => a - b);
    const address = asInteger(addr, `${place}[${i}].addr`, 0);
    const [from, into] = [rankList(pre, "pre"), rankList(post, "post")];
    return { address, key: `${from} > ${into}`, from: from[0] ?? 0, into: into[0] ?? 0 };
  });
  const count = placed.length;
  for (const kind of KINDS) {
    const blocks = kind === "alltoall" ? ranks * ranks : kind === "broadcast" ? 1 : ranks;
    if (count === 0 || count % blocks !== 0) continue;
    const perNpu = count / blocks;
    const rootRank =
      kind === "gather" ? placed[0].into : kind === "allgather" || kind === "alltoall" ? 0 : placed[0].from;
    const bytes = sizeBytes ?? 2 ** 20 * (kind === "broadcast" ? perNpu : perNpu * ranks);
    const groups = [Int32Array.from({ length: ranks }, (_, rank) => rank)];
    const task = collective({ kind, groups, sizeBytes: bytes, chunksPerNpu: perNpu, rootRank });
    const chunkAt = matched(task, placed);
    if (chunkAt !== null) return { task, chunkAt };
  }
  throw new InputError(place, `the chunks of one of ${KINDS.join(", ")}`, `${count} chunks elsewhere`);
}

function matched(task: Collective, placed: readonly { address: number; key: string }[]): Map<number, number> | null {
  const waiting = new Map<string, number[]>();
  const ranksAt = (where: Collective["pre"], chunk: number): string =>
    Array.from(membersOf(task, where, chunk))
      .sort((a, b) => a - b)
      .join();
  for (let chunk = task.chunkCount - 1; chunk >= 0; chunk--) {
    const key = `${ranksAt(task.pre, chunk)} > ${ranksAt(task.post, chunk)}`;
    addTo(waiting, key, chunk);
  }
  const chunkAt = new Map<number, number>();
  for (const { address, key } of placed) {
    const chunk = waiting.get(key)?.pop();
    if (chunk === undefined || chunkAt.has(address)) return null;
    chunkAt.set(address, chunk);
  }
  return chunkAt;
}

function sendsIn(fields: Fields, fileName: string, ranks: number, chunkAt: ReadonlyMap<number, number>): Send[] {
  const sends: Send[] = [];
  asList(fields.steps, placeIn(fileName, "steps")).forEach((step, s) => {
    const place = placeIn(fileName, `steps[${s}].sends`);
    const { sends: list } = asObject<{ readonly sends?: unknown }>(step, placeIn(fileName, `steps[${s}]`));
    asList(list, place).forEach((send, i) => {
      const [address, from, to] = asList(send, `${place}[${i}]`, "a chunk, a source and a destination");
      const chunk = chunkAt.get(asInteger(address, `${place}[${i}][0]`, 0));
      if (chunk === undefined) throw new InputError(`${place}[${i}][0]`, "the address of a chunk", address);
      const [source, target] = [from, to].map((rank, k) => asInteger(rank, `${place}[${i}][${k + 1}]`, 0, ranks - 1));
      sends.push({ chunk, from: source as number, to: target as number, place: `${place}[${i}]` });
    });
  });
  if (sends.length > MAX_SENDS)
    throw new InputError(fileName, `at most ${MAX_SENDS} sends`, sends.length).as("out-of-range");
  return sends;
}

/** Returns a route for each pair that sends: a link, or two through a switch; and the route of each send. */
function routesFor(topology: Topology, sends: readonly Send[]): { routes: RouteSet; routeOf: Int32Array } {
  const known = new Map<number, number>();
  const pairs: { from: number; to: number; path: number[] }[] = [];
  const routeOf = Int32Array.from(sends, ({ from, to, place }) => {
    const key = from * topology.npuCount + to;
    const route = known.get(key) ?? pairs.length;
    if (route === pairs.length) {
      const path = pathBetween(topology, from, to);
      if (path === null) throw new InputError(place, "ranks with a link or a switch between them", `${from} to ${to}`);
      known.set(key, route);
      pairs.push({ from, to, path });
    }
    return route;
  });
  const links = Int32Array.from(pairs.flatMap(({ path }) => path));
  let end = 0;
  const routes: RouteSet = {
    source: Int32Array.from(pairs, ({ from }) => from),
    target: Int32Array.from(pairs, ({ to }) => to),
    linkOffset: Int32Array.from([0, ...pairs.map(({ path }) => (end += path.length))]),
    links,
    shareNum: new Float64Array(links.length).fill(1),
    shareDen: new Float64Array(links.length).fill(1),
  };
  return { routes, routeOf };
}

function pathBetween(topology: Topology, from: number, to: number): number[] | null {
  const { offset, links } = outLinks(topology);
  const leaving = (node: number): Int32Array => links.subarray(offset[node], offset[node + 1]);
  const direct = leaving(from).find((link) => topology.linkTarget[link] === to);
  if (direct !== undefined) return [direct];
  for (const up of leaving(from)) {
    const hub = topology.linkTarget[up];
    const down = hub < topology.npuCount ? undefined : leaving(hub).find((link) => topology.linkTarget[link] === to);
    if (down !== undefined) return [up, down];
  }
  return null;
}

/** Returns the sends as a schedule, each as early as it can be after those before it on its links. */
function timed(
  header: Pick<StepSchedule, "topology" | "collective" | "routes">,
  sends: readonly Send[],
  routeOf: Int32Array,
  slotPs: Float64Array,
): StepSchedule {
  const { topology, collective: task, routes } = header;
  const free = new Float64Array(topology.linkSource.length);
  const arrived = new Map<number, number>();
  const keyOf = (npu: number, chunk: number): number => npu * task.chunkCount + chunk;
  for (let chunk = 0; chunk < task.chunkCount; chunk++) {
    for (const npu of membersOf(task, task.pre, chunk)) arrived.set(keyOf(npu, chunk), 0);
  }
  const rows = sends.map(({ chunk, from, to, place }, i) => {
    const route = routeOf[i];
    const there = arrived.get(keyOf(from, chunk));
    if (there === undefined) throw new InputError(place, "a chunk that its source has by then", chunk);
    const path = routes.links.subarray(routes.linkOffset[route], routes.linkOffset[route + 1]);
    const startPs = path.reduce((latest, link) => Math.max(latest, free[link]), there);
    const endPs = startPs + slotPs[route];
    for (const link of path) free[link] = endPs;
    const known = arrived.get(keyOf(to, chunk));
    arrived.set(keyOf(to, chunk), known === undefined ? endPs : Math.min(known, endPs));
    return { chunk, route, startPs, endPs };
  });
  rows.sort((a, b) => a.startPs - b.startPs || a.route - b.route || a.chunk - b.chunk);
  const chunks = indexColumn(rows.length, task.chunkCount);
  const columns = indexColumn(rows.length, routes.source.length);
  rows.forEach(({ chunk, route }, i) => {
    chunks[i] = chunk;
    columns[i] = route;
  });
  return {
    ...header,
    chunk: chunks,
    route: columns,
    startPs: Float64Array.from(rows, ({ startPs }) => startPs),
    endPs: Float64Array.from(rows, ({ endPs }) => endPs),
    op: new Uint8Array(rows.length).fill(OP_COPY),
  };
}
