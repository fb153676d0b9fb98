import { shown } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { count } from "../../report/amounts.ts";
import { textOf } from "../../request/option-table.ts";
import {
  compareRecords,
  type Difference,
  type ProgramRecord,
  readVerificationRecord,
  type VerificationRecord,
} from "../../run/record.ts";
import type { Context } from "../context.ts";
import { nameOf, readText } from "./input-file.ts";
import { outputFile } from "./output-file.ts";

/** What --record and --record-of came to. */
export interface Recorded {
  /** Fields of --json. */
  readonly json: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
  /** False where a record is of something else. */
  readonly same: boolean;
}

/** Writes and compares records once something was judged; the record is made of what is correct only. */
export type Recording = (correct: boolean, make: () => VerificationRecord | ProgramRecord) => Recorded;

/** The first few differences are shown; --json has all. */
const SHOWN = 20;

/** Returns what --record and --record-of ask for. Call it before long work, so that it does not end in a surprise. Throws InputError. */
export function recording(context: Context): Recording {
  const { options, style } = context;
  const [path, of] = [textOf(options, "record"), textOf(options, "recordOf")];
  const output = path === undefined ? undefined : outputFile(context, path, optionName("record"));
  const recorded =
    of === undefined ? undefined : readVerificationRecord(readText(of, optionName("recordOf")), nameOf(of));
  return (correct, make) => {
    if (output === undefined && recorded === undefined) return { json: {}, lines: [], same: true };
    if (!correct) {
      const json = {
        ...(output === undefined ? {} : { record: null }),
        ...(recorded === undefined ? {} : { same: false }),
      };
      return { json, lines: output === undefined ? [] : ["  no record is written of what is wrong"], same: false };
    }
    context.progress({ what: "recording" });
    const now = make();
    output?.write([`${JSON.stringify(now, null, 2)}\n`]);
    const written = output === undefined ? [] : [`  record: ${output.path}`];
    if (recorded === undefined) return { json: { record: output?.path }, lines: written, same: true };
    const wrongKind = "program" in recorded !== "program" in now;
    const { differences, notes } = wrongKind
      ? { differences: [{ path: "what was verified", recorded: kindOf(recorded), now: kindOf(now) }], notes: [] }
      : compareRecords(recorded, now);
    const same = differences.length === 0;
    const verdict = same
      ? `${style.good("same")}: what ${nameOf(of as string)} records`
      : `${style.bad("different")}: ${count(differences.length, "difference")} from ${nameOf(of as string)}`;
    const rest = differences.length - SHOWN;
    return {
      json: { ...(output === undefined ? {} : { record: output.path }), same, differences, notes },
      lines: [
        ...written,
        verdict,
        ...differences.slice(0, SHOWN).map(differenceText),
        ...(rest > 0 ? [`  ... and ${rest} more (--json has them all)`] : []),
        ...notes.slice(0, SHOWN).map((note) => `  note:${differenceText(note)}`),
      ],
      same,
    };
  };
}

const kindOf = (record: object): string => ("program" in record ? "a program" : "a schedule");
const valueText = (value: unknown): string => (value === undefined ? "nothing" : shown(value));
const differenceText = ({ path, recorded, now }: Difference): string =>
  `  ${path} was ${valueText(recorded)}, is ${valueText(now)}`;
