import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { visible } from "../../base/visible.ts";
import { type Collective, chunkCountOf, hasRoot } from "../../model/collective/collective.ts";
import { sendsOf } from "../../model/sends/send-list.ts";
import { OP_COPY, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";

/** Rows per part. */
const BLOCK = 16_384;
/** Names that stand in any table as they are. */
const PLAIN_NAME = /^[A-Za-z_][\w.>:/-]*$/;

/** Returns what each NPU is called in a table: by its name where all names are plain and none could be a number, else by its number. */
function npuNames({ nodeNames, npuCount }: Topology): readonly string[] {
  const names = nodeNames.slice(0, npuCount);
  const areNumbers = names.every((name) => /^\d{1,9}$/.test(name));
  return areNumbers || names.every((name) => PLAIN_NAME.test(name)) ? names : names.map((_, npu) => String(npu));
}

/** Returns the options with which a list of sends is read as it was written. */
function optionsText(
  { topology, collective }: Pick<StepSchedule, "topology" | "collective">,
  names: readonly string[],
): string {
  const { kind, sizeBytes, chunksPerNpu, groupMembers, groupCount, groupSize, rootRank } = collective;
  const options = [`--topology ${topology.name || "FILE"}`];
  if (kind === "custom") return [...options, "--collective custom:FILE"].join(" ");
  options.push(`--collective ${kind} --size ${sizeBytes} --chunks ${chunksPerNpu}`);
  const members = Array.from(groupMembers, (npu) => names[npu]);
  if (hasRoot(kind) && rootRank > 0 && groupCount === 1) options.push(`--root ${members[rootRank]}`);
  if (groupCount > 1 || groupSize < topology.npuCount || groupMembers.some((npu, i) => npu !== i)) {
    const groups = Array.from({ length: groupCount }, (_, g) =>
      members.slice(g * groupSize, (g + 1) * groupSize).join(","),
    );
    options.push(`--group "${groups.join(";")}"`);
  }
  return options.join(" ");
}

/** Throws InputError for chunks that are no blocks of NPUs, for which a list of sends has no name. */
function refuseOtherChunks({ kind, groupSize, groupCount, chunksPerNpu, chunkCount }: Collective): void {
  if (kind === "custom" || chunkCount === chunkCountOf(kind, groupSize, groupCount, chunksPerNpu)) return;
  throw new InputError(
    optionName("to", " csv"),
    "a schedule with as many chunks for each NPU",
    inWords(`${chunkCount} chunks in all`),
  );
}

/**
 * Yields the CSV of a schedule's sends, in the fewest steps in which `readSendTable` and its kin read them back to the same sends:
 * a comment with the options for that, the header `step,src,dst,chunk,op`, a line a transfer. Shares of links, merged sends and
 * gaps in time are not said. Throws InputError where no steps say what the schedule does. O(transfers).
 */
export function* sendsCsvParts(schedule: StepSchedule): Generator<string> {
  const { topology, collective } = schedule;
  refuseOtherChunks(collective);
  const list = sendsOf(schedule);
  if (list === null)
    throw new InputError(
      optionName("to", " csv"),
      "a schedule whose transfers follow each other in steps",
      inWords("one in which they go in circles"),
    );
  const { step, source, target, chunk, op } = list;
  const names = npuNames(topology);
  yield `${visible(`# ${optionsText(schedule, names)}`)}\nstep,src,dst,chunk,op\n`;
  for (let from = 0; from < step.length; from += BLOCK) {
    let text = "";
    for (let i = from; i < Math.min(step.length, from + BLOCK); i++)
      text += `${step[i]},${names[source[i]]},${names[target[i]]},${chunk[i]},${op[i] === OP_COPY ? "copy" : "sum"}\n`;
    yield text;
  }
}
