import type { LoggedPrograms } from "../model/calibration/debug-log.ts";
import { formatSize } from "../model/numbers/units.ts";
import type { Program } from "../model/program/program.ts";
import type { RuntimeName } from "../model/program/runtimes.ts";
import { selectionOf } from "./selection.ts";

/** Averages and scaled sums: no program of the kind runs them. */
const FIRST_AVERAGE = 4;
const SHOWN = 20;

/** Returns whether a program was selected in a log, call by call, and if not why, in words. `file` is its name. */
export function explainLog(program: Program, runtime: RuntimeName, log: LoggedPrograms, file: string): string[] {
  const lines = [`log of ${log.version ?? "an unknown version"}`];
  if (!log.hasRuntime && runtime !== "mscclpp") {
    lines.push(
      "no line of it comes from an MSCCL runtime: this library does not run such programs, or NCCL_DEBUG_SUBSYS leaves INIT out",
    );
  }
  const base = (path: string): string => path.split(/[\\/]/).at(-1) as string;
  const isIt = (path: string): boolean => base(path) === base(file);
  if (log.parsed.some(isIt)) lines.push(`${base(file)} was read`);
  else if (log.parsed.length > 0) lines.push(`${log.parsed.map(base).join(", ")} were read, but no ${base(file)}`);
  if (log.failed.some(isIt))
    lines.push(`${base(file)} was refused (\`banyan verify ${file} --target ${runtime}\` says what is wrong)`);
  if (log.folder !== null) lines.push(`programs are taken from ${log.folder}`);
  if (log.connected !== null) lines.push(`${log.connected} programs were connected`);
  for (const { line, text } of log.problems) lines.push(`line ${line}: ${text}`);
  const calls = log.calls.filter(({ collective }) => collective === program.collective);
  if (log.calls.length === 0) lines.push("it shows no calls (they need NCCL_DEBUG_SUBSYS=INIT,COLL)");
  else if (calls.length === 0) lines.push(`it shows no ${program.collective}`);
  for (const call of calls.slice(0, SHOWN)) lines.push(callLine(program, runtime, log, call));
  if (calls.length > SHOWN) lines.push(`... and ${calls.length - SHOWN} more kinds of calls`);
  return lines;
}

function callLine(
  program: Program,
  runtime: RuntimeName,
  log: LoggedPrograms,
  call: LoggedPrograms["calls"][number],
): string {
  const placement = call.inPlace ? "in place" : "out of place";
  const what = `line ${call.line}: ${call.times} x ${formatSize(call.sizeBytes)} ${placement}`;
  const { selected, reasons } = selectionOf(program, runtime, call);
  const why = [
    ...reasons,
    ...(call.reduction >= FIRST_AVERAGE ? ["averages and scaled sums are not run by programs"] : []),
  ];
  if (!selected || why.length > 0) {
    const ran = call.ranBy === "library" ? "" : ` (another program was: ${call.ranBy})`;
    return `${what}: not this program${ran}, for ${why.join("; ")}`;
  }
  if (call.ranBy === "msccl") return `${what}: run by an MSCCL program, and this one fits`;
  if (call.ranBy === "mscclpp") return `${what}: run by MSCCL++, before MSCCL is asked`;
  if (log.tellsCalls)
    return `${what}: this program fits, but the library's own algorithm ran: another file came first, or it is disabled`;
  return `${what}: this program fits; the log does not tell whether it ran`;
}
