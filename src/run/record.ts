import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { InternalError } from "../base/errors.ts";
import { optionName } from "../base/option-names.ts";
import { topologyToJson } from "../export/networks/topology-json.ts";
import { asObject, parseJson, placeIn, refuse } from "../import/text/json.ts";
import type { Kind, Verdict } from "../kinds/kind.ts";
import { kindOf } from "../kinds/kinds.ts";
import type { GivenSchedule } from "../model/joint/joint-schedule.ts";
import { format } from "../model/numbers/rational.ts";
import { toExactGBps } from "../model/numbers/units.ts";
import type { Program } from "../model/program/program.ts";
import type { KindName } from "../model/steps/schedule.ts";
import { type CollectiveFacts, collectiveFacts } from "../report/collective-facts.ts";
import { type BoundReport, boundReport, topologySummary } from "../report/result.ts";
import { refuseWrong } from "./judge.ts";

const RECORD_SCHEMA = "banyan/verification-record@1";

/** What was verified, so that it can be checked later whether it is still the same. Times are picoseconds. */
export interface VerificationRecord {
  readonly schema: typeof RECORD_SCHEMA;
  /** The version of Banyan that verified it. */
  readonly version: string;
  readonly topology: { name: string; npus: number; switches: number; links: number; hash: string; sha256: string };
  readonly collectives: readonly CollectiveFacts[];
  readonly schedule: {
    readonly kind: KindName | "joint";
    /** The format whose bytes, as `banyan export FILE --to` it writes them, have this hash. */
    readonly as: "bys" | "json";
    readonly sha256: string;
  };
  readonly time: {
    /** Planned; of trees simulated, with as many pieces as are fastest. */
    readonly ps: number;
    /** Trees: exact GB/s with ever more pieces. */
    readonly throughputGBps?: string;
  };
  /** What no schedule beats, exact microseconds ("8005", "24015/3"), and why. */
  readonly limit: Pick<BoundReport, "kind" | "witness" | "because"> & { readonly exactUs: string };
}

/** Returns the SHA-256 of texts (as UTF-8) and bytes that follow each other, in hexadecimal. O(bytes). */
function sha256Of(parts: Iterable<string | Uint8Array>): string {
  const hash = sha256.create();
  const encoder = new TextEncoder();
  for (const part of parts) hash.update(typeof part === "string" ? encoder.encode(part) : part);
  return bytesToHex(hash.digest());
}

/**
 * Returns the record of a correct schedule: what it is, hashes that others can compute (`sha256sum` of what `banyan export`
 * writes), when it ends, and what no schedule beats. `version`: of the caller. Throws WrongScheduleError for one that is not
 * correct. O(transfers + links), and as `verify` and `limitOf`.
 */
export function recordOf(schedule: GivenSchedule, version: string): VerificationRecord {
  return recordOfJudged(kindOf(schedule), refuseWrong(schedule, "the schedule"), version);
}

/** Returns the same of a schedule that was found correct. */
export function recordOfJudged(kind: Kind<unknown>, verdict: Verdict, version: string): VerificationRecord {
  const { topology } = kind.schedule;
  const { collectives } = kind;
  const sizeBytes = collectives.reduce((sum, one) => sum + one.sizeBytes, 0);
  const limit = boundReport(topology, { sizeBytes }, kind.limit(verdict));
  const as = kind.keptAs;
  const form = kind.forms[as];
  if (typeof form === "string") throw new InternalError(`nothing keeps ${kind.name}`);
  const achieved = verdict.certificate?.achieved;
  return {
    schema: RECORD_SCHEMA,
    version,
    topology: { ...topologySummary(topology), sha256: sha256Of([topologyToJson(topology)]) },
    collectives: collectives.map((one) => collectiveFacts(topology, one)),
    schedule: { kind: kind.name, as, sha256: sha256Of(form.parts()) },
    time: {
      ps: kind.endPs(),
      ...(achieved === undefined ? {} : { throughputGBps: format(toExactGBps(achieved)) }),
    },
    limit: { exactUs: limit.exact, kind: limit.kind, witness: limit.witness, because: limit.because },
  };
}

/** What was verified of a program: its text, byte for byte. */
export interface ProgramRecord {
  readonly schema: typeof RECORD_SCHEMA;
  readonly version: string;
  readonly program: { name: string; machine: string; collective: string; ranks: number; chunks: number };
  /** In place, out of place, or both. */
  readonly modes: readonly string[];
  /** The runtime whose limits it was held against. */
  readonly target: string | null;
  readonly sha256: string;
}

/** Returns the record of a correct program, whose file is `text`. */
export function recordOfProgram(
  { program, text }: { readonly program: Program; readonly text: string },
  modes: readonly string[],
  target: string | null,
  version: string,
): ProgramRecord {
  const { name, machine, collective, rankCount, loopChunks } = program;
  return {
    schema: RECORD_SCHEMA,
    version,
    program: { name, machine, collective, ranks: rankCount, chunks: loopChunks },
    modes,
    target,
    sha256: sha256Of([text]),
  };
}

/**
 * Returns the record that a text is, as it stands: what it says is compared, not believed. Throws InputError where it is none.
 */
export function readVerificationRecord(text: string, fileName: string): Readonly<Record<string, unknown>> {
  const value = asObject<{ readonly schema?: unknown }>(parseJson(text, fileName), fileName);
  if (value.schema !== RECORD_SCHEMA)
    refuse(placeIn(fileName, "schema"), `"${RECORD_SCHEMA}" (\`banyan verify ${optionName("record")}\`)`, value.schema);
  return value as Readonly<Record<string, unknown>>;
}

/** One thing that a record says otherwise. */
export interface Difference {
  /** "time.ps", "collectives[0].sizeBytes". */
  readonly path: string;
  readonly recorded: unknown;
  readonly now: unknown;
}

/** Another version may prove a tighter limit of the same schedule, so these do not tell schedules apart. */
const OF_THE_VERIFIER = /^(version|limit)\b/;

/**
 * Returns in what a record and a new one differ: `differences` say that something else was verified, `notes` that another
 * version did, or proved another limit. Values are compared by what JSON keeps of them.
 */
export function compareRecords(
  recorded: unknown,
  now: VerificationRecord | ProgramRecord,
): { readonly differences: readonly Difference[]; readonly notes: readonly Difference[] } {
  const [before, after] = [leaves(recorded), leaves(now)];
  const differing: Difference[] = [];
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const [old, own] = [before.get(path), after.get(path)];
    if (old !== own) differing.push({ path, recorded: old, now: own });
  }
  const isNote = ({ path }: Difference): boolean => OF_THE_VERIFIER.test(path);
  return { differences: differing.filter((one) => !isNote(one)), notes: differing.filter(isNote) };
}

/** Returns the texts, numbers, flags and nulls inside a value by their paths, and how long its lists are. */
function leaves(value: unknown, path = "", found = new Map<string, unknown>()): Map<string, unknown> {
  if (Array.isArray(value)) {
    found.set(`${path}.length`, value.length);
    for (const [i, entry] of value.entries()) leaves(entry, `${path}[${i}]`, found);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, entry] of Object.entries(value)) leaves(entry, path === "" ? key : `${path}.${key}`, found);
  } else if (value !== undefined) found.set(path, value);
  return found;
}
