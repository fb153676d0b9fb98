import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { type Collective, collective, membersOf, type NamedCollective } from "../../model/collective/collective.ts";
import type { GivenSchedule } from "../../model/joint/joint-schedule.ts";
import { addTo } from "../../model/numbers/ordering.ts";
import { timedSends } from "../../model/sends/send-list.ts";
import { waysOf } from "../../model/sends/ways.ts";
import { OP_COPY, type StepSchedule } from "../../model/steps/step-schedule.ts";
import { topologyHash } from "../../model/topology/topology.ts";
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
 * sends before it on its links are through. The collective, which must move
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
  const list = {
    // a send may pass on what one before it in its step has brought
    step: Float64Array.from(sends, (_, i) => i),
    source: Int32Array.from(sends, ({ from }) => from),
    target: Int32Array.from(sends, ({ to }) => to),
    chunk: Int32Array.from(sends, ({ chunk }) => chunk),
    op: new Uint8Array(sends.length).fill(OP_COPY),
  };
  const ways = waysOf(topology, list.source, list.target);
  const placeOf = (send: number): string => (sends[send] as Send).place;
  const apart = list.source.findIndex((_, i) => ways.offset[ways.pairOf[i]] === ways.offset[ways.pairOf[i] + 1]);
  if (apart >= 0) {
    const { place, from, to } = sends[apart] as Send;
    throw new InputError(place, "ranks with a link or switches between them", inWords(`${from} to ${to}`));
  }
  const { schedule, early } = timedSends(topology, task, ways, list, placeOf);
  const [first] = early;
  if (first === undefined) return schedule;
  throw new InputError(placeOf(first), "a chunk that its source has by then", sends[first]?.chunk);
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
  throw new InputError(place, `the chunks of one of ${KINDS.join(", ")}`, inWords(`${count} chunks elsewhere`));
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
