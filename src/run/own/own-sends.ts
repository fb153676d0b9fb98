import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import {
  chunksInSends,
  collectiveInSends,
  readSendTable,
  rowName,
  type Sends,
  type SendTable,
  sendsOn,
  topologyInSends,
} from "../../import/schedules/sends.ts";
import type { Kind } from "../../kinds/kind.ts";
import { chunkCountOf } from "../../model/collective/collective.ts";
import { formatSize } from "../../model/numbers/units.ts";
import { parseGroups } from "../../model/topology/groups.ts";
import { type Topology, topologyHash } from "../../model/topology/topology.ts";
import { count } from "../../report/amounts.ts";
import { type CollectiveOptions, problemOf } from "../../request/problem.ts";
import type { Violation } from "../../verify/violation.ts";

/** Sends that people wrote, on the network and of the collective that they, or the file itself, name. */

/** What is said beside a file of sends; what the file says itself must not be another one. */
export interface SendsAsked {
  readonly topology: Topology | null;
  /** Returns what options ask for on a network; null where they name no collective. */
  collective(topology: Topology): CollectiveOptions | null;
}

/** Sends that were read, with what the user should know of that. */
export interface OwnSends extends Sends {
  readonly notes: readonly string[];
}

/** Returns the network of a list of sends. Throws InputError where nobody says it, or two say different ones. */
function networkFor(table: SendTable, asked: Topology | null): Topology {
  const inside = topologyInSends(table);
  const topology = asked ?? inside;
  if (topology === null) {
    const option = optionName("topology");
    throw new InputError(option, `the network of ${table.name}`).saying(
      `${table.name} is a list of sends and does not say its network: ${option} mesh:3x3, or a file, does (and ${optionName("collective")} what it makes)`,
    );
  }
  if (inside !== null && topologyHash(inside) !== topologyHash(topology))
    throw new InputError(optionName("topology"), `${inside.name}, as ${table.name} says,`, topology.name).as(
      "not-together",
    );
  return topology;
}

/** Returns the collective that a list of sends makes, chunks left open where nobody says them. Throws InputError as `networkFor`. */
function requestFor(table: SendTable, topology: Topology, asked: CollectiveOptions | null): CollectiveOptions {
  const inside = collectiveInSends(table, topology);
  if (asked === null && inside === null) {
    const option = optionName("collective");
    throw new InputError(option, `the collective of ${table.name}`).saying(
      `${table.name} is a list of sends and does not say what it makes: ${option} allgather, allreduce, ... does`,
    );
  }
  if (asked === null || inside === null) return (asked ?? inside) as CollectiveOptions;
  for (const key of ["collective", "sizeBytes", "chunks", "root", "group"] as const) {
    const [own, other] = [inside[key], asked[key]];
    if (own === undefined || other === undefined || String(own) === String(other)) continue;
    const named = (value: unknown): unknown => (typeof value === "object" ? "a custom collective" : value);
    throw new InputError(optionName(key), `${named(own)}, as ${table.name} says,`, named(other)).as("not-together");
  }
  return { ...inside, ...asked };
}

/**
 * Returns the sends of a text, on the network and of the collective that the file or `asked` says; chunks per NPU, where nobody
 * says them, as many as the greatest chunk needs. Throws InputError, as readSendTable and sendsOn do.
 */
export function readSends(text: string, name: string, asked: SendsAsked): OwnSends {
  return sendsFor(readSendTable(text, name), asked);
}

/** Returns the greatest of numbers from 1 on that cells are, all of them and nothing else; null where they are others. */
function greatestFromOne(cells: readonly string[]): number | null {
  const found = new Set(cells);
  for (const cell of found) if (!/^[1-9]\d{0,9}$/.test(cell)) return null;
  for (let number = 1; number <= found.size; number++) if (!found.has(String(number))) return null;
  return found.size;
}

/**
 * Throws InputError for NPUs or chunks that are counted from 1: all numbers from 1 to as many as there are, and no 0. Without chunk 0
 * or the NPU 0 nothing would be whole, so no list that is right is refused. `blocks`: chunks where each NPU has one.
 */
function refuseFromOne(table: SendTable, { nodeNames, npuCount, name }: Topology, blocks: number): void {
  const isNumbered = nodeNames.slice(0, npuCount).every((node, npu) => node === String(npu));
  const npus = isNumbered && greatestFromOne([...table.src, ...table.dst]) === npuCount;
  const most = greatestFromOne(table.chunk);
  const chunks = most !== null && most % blocks === 0;
  if (!npus && !chunks) return;
  const what = [...(npus ? ["NPUs"] : []), ...(chunks ? ["chunks"] : [])].join(" and ");
  const columns = [...(npus ? ["src", "dst"] : []), ...(chunks ? ["chunk"] : [])].join(", ");
  const right = npus
    ? `the ${npuCount} NPUs of ${name} are 0 to ${npuCount - 1}`
    : `its ${most} chunks are 0 to ${(most as number) - 1}`;
  throw new InputError(table.name, `${what} counted from 0`, inWords("ones from 1 on")).saying(
    `${table.name} counts ${what} from 1, and banyan from 0 (${right}); take 1 off ${columns}`,
  );
}

/** Returns the same of a table that was read. */
export function sendsFor(table: SendTable, asked: SendsAsked): OwnSends {
  const network = networkFor(table, asked.topology);
  const request = requestFor(table, network, asked.collective(network));
  const { collective: kind, chunks: given, group } = request;
  const groups = parseGroups(network, group);
  if (typeof kind === "string")
    refuseFromOne(table, network, chunkCountOf(kind, (groups[0] as Int32Array).length, groups.length, 1));
  const least =
    typeof kind === "string" ? chunksInSends(table, kind, (groups[0] as Int32Array).length, groups.length) : 1;
  const chunks = given ?? least;
  const { topology, collective } = problemOf(network, typeof kind === "string" ? { ...request, chunks } : request);
  const sends = sendsOn(table, topology, collective);
  const notes = [
    ...(request.sizeBytes === undefined
      ? [`times are those of ${formatSize(collective.sizeBytes)}, as nobody says a size (${optionName("sizeBytes")})`]
      : []),
    ...(given === undefined && least > 1 ? [`${least} chunks per NPU, as its greatest chunk needs (--chunks)`] : []),
    ...(sends.inferred === 0
      ? []
      : [
          `${count(sends.inferred, "send")} without op: a send adds until its source holds the whole sum, then it copies`,
        ]),
    ...(table.ignored.length === 0 ? [] : [`not read: ${table.ignored.slice(0, 8).join(", ")}`]),
  ];
  return { ...sends, notes: notes.map((note) => `${table.name}: ${note}`) };
}

/** A violation with the row of the file that it is about. */
export type RowViolation = Violation & { readonly row?: number };

/** Returns the kind of a schedule of sends whose judge speaks of the rows of the file. */
export function inRows<AReport>(kind: Kind<AReport>, sends: Sends): Kind<AReport> {
  return {
    ...kind,
    judge(options) {
      const verdict = kind.judge(options);
      const arrivalOf = verdict.violations.some(({ kind: rule }) => rule === "absent-chunk")
        ? firstArrivals(sends)
        : null;
      return { ...verdict, violations: verdict.violations.map((one) => rowViolation(one, sends, arrivalOf)) };
    },
  };
}

/** Returns the first send that brings a chunk to an NPU, by NPU times chunks plus chunk. */
function firstArrivals({ schedule, sendOf }: Sends): ReadonlyMap<number, number> {
  const { chunk, route, routes, collective } = schedule;
  const first = new Map<number, number>();
  sendOf.forEach((send, transfer) => {
    const cell = routes.target[route[transfer]] * collective.chunkCount + chunk[transfer];
    first.set(cell, Math.min(first.get(cell) ?? send, send));
  });
  return first;
}

function rowViolation(
  violation: Violation,
  { table, schedule, sendOf }: Sends,
  arrivalOf: ReadonlyMap<number, number> | null,
): RowViolation {
  const { transfer, kind, chunk = 0, npu = 0, message } = violation;
  if (transfer === undefined) return violation;
  const send = sendOf[transfer];
  const row = rowName(table, send);
  if (kind !== "absent-chunk" || arrivalOf === null)
    return { ...violation, row: table.row[send], message: `${row}: ${message.replace(/ \(transfer \d+\)/, "")}` };
  const { topology, collective } = schedule;
  const arrival = arrivalOf.get(npu * collective.chunkCount + chunk);
  const later =
    arrival === undefined
      ? "it never receives it"
      : `it receives it in step ${table.step[arrival]} (${rowName(table, arrival)})`;
  const sentence = `NPU ${topology.nodeNames[npu]} sends chunk ${table.chunk[send]} in step ${table.step[send]} before it holds it; ${later}`;
  return { ...violation, row: table.row[send], message: `${row}: ${sentence}` };
}
