import { dirname } from "node:path";
import { inWords } from "../../base/errors.ts";
import { isPlanSelectorText } from "../../export/programs/mscclpp-select.ts";
import { looksLikeNcclLog } from "../../import/logs/nccl-log.ts";
import { isNcclTestsText } from "../../import/logs/nccl-tests.ts";
import { looksLikeProgram } from "../../import/programs/program.ts";
import { isScheduleText } from "../../import/schedules/schedule-text.ts";
import { isSendsText } from "../../import/schedules/sends.ts";

/** What files are that are not what a command reads, for sentences that say so. */

/** What a text is, and which command takes it. */
export interface Told {
  readonly kind: "network" | "collective" | "schedule" | "program" | "log" | "script";
  /** In words: "a log of nccl-tests". */
  readonly what: string;
  /** A command line that takes the file. */
  readonly command: string;
}

/** How much of a text tells what it is. */
const HEAD = 4096;

/** Returns what the text of a file is, as far as anybody can tell; null for what nobody knows. O(text). */
export async function whatItIs(text: string, file: string): Promise<Told | null> {
  if (looksLikeProgram(text)) return { kind: "program", what: "a program", command: `banyan verify ${file}` };
  if (isScheduleText(text)) return { kind: "schedule", what: "a schedule", command: `banyan verify ${file}` };
  if (isSendsText(text))
    return {
      kind: "schedule",
      what: "a list of sends",
      command: `banyan verify ${file} --topology TOPO --collective NAME`,
    };
  if (isPlanSelectorText(text))
    return {
      kind: "script",
      what: "a module in Python that registers the plans beside it with MSCCL++",
      command: `banyan verify ${dirname(file)}`,
    };
  if (/^"""|^(?:import|from) \w/.test(text))
    return { kind: "script", what: "a program in Python, which checks itself when it runs", command: `python ${file}` };
  if (isNcclTestsText(text))
    return { kind: "log", what: "a log of nccl-tests", command: `banyan calibrate TOPO ${file}` };
  if (looksLikeNcclLog(text))
    return { kind: "log", what: "a debug log of NCCL or RCCL", command: `banyan explain PROGRAM --log ${file}` };
  const [, several] = /"format"\s*:\s*"banyan-collective(s?)"/.exec(text.slice(0, HEAD)) ?? [];
  if (several !== undefined) {
    const [what, option] =
      several === "" ? ["a custom collective", "collective custom:"] : ["several collectives at once", "collectives "];
    return { kind: "collective", what, command: `banyan synth TOPO --${option}${file}` };
  }
  const format = await networkFormat(text, file);
  if (format === "") return null;
  return { kind: "network", what: `a network (${format})`, command: `banyan topology ${file}` };
}

async function networkFormat(text: string, file: string): Promise<string> {
  const { formatOf } = await import("../../import/networks/network-formats.ts");
  try {
    return formatOf(text, file);
  } catch {
    return ""; // JSON that is none
  }
}

/** What people paste of a machine that says nothing of its links, and what to paste instead. */
const OTHER_PASTES: readonly (readonly [mark: RegExp, why: string])[] = [
  [
    /\bNVIDIA-SMI \d|^GPU \d+: /m,
    "what nvidia-smi prints of the GPUs; paste what `nvidia-smi topo -m` prints, which has the links",
  ],
  [
    /ROCm System Management Interface[\s\S]*Device/,
    "what rocm-smi prints of the GPUs; paste what `rocm-smi --showtopo` prints",
  ],
  [
    /<!DOCTYPE topology|<topology\b/,
    "a topology of hwloc (lstopo), which says nothing of NVLinks; NCCL_TOPO_DUMP_FILE=topo.xml makes NCCL write one that does",
  ],
];

/** Why a file is not what was wanted, as a sentence, and what it is instead. */
interface NotWanted {
  readonly why: string;
  readonly found: unknown;
}

/** Returns why a file is not what was wanted ("a schedule or program"), and what takes it; null where nobody knows what it is. */
export async function notWanted(text: string, file: string, wanted: string): Promise<NotWanted | null> {
  if (text.trim() === "") return { why: `${file} is empty; it must be ${wanted}`, found: inWords("nothing") };
  const other = wanted === "a network" ? OTHER_PASTES.find(([mark]) => mark.test(text.slice(0, HEAD))) : undefined;
  if (other !== undefined) return { why: `${file} is ${other[1]}`, found: inWords("the output of another command") };
  const told = await whatItIs(text, file);
  if (told !== null)
    return {
      why: `${file} is ${told.what}, not ${wanted}; did you mean \`${told.command}\`?`,
      found: inWords(told.what),
    };
  const columns = headlessColumns(text);
  if (columns === null) return null;
  return {
    why: `${file} has no header; put ${columns} above its first line`,
    found: inWords("a table without a header"),
  };
}

/** Returns the header that a table of sends lacks, by the cells of its first line; null for what is no such table. */
function headlessColumns(text: string): string | null {
  const [first = ""] = text.trimStart().split(/\r?\n/, 1);
  const cells = first.split(/[,;\t]/).map((cell) => cell.trim());
  if (cells.length < 4 || cells.length > 5 || !/^\d+$/.test(cells[0] as string)) return null;
  if (!cells.slice(1, 4).every((cell) => /^[\w.:-]+$/.test(cell))) return null;
  return cells.length === 4 ? "step,src,dst,chunk" : "step,src,dst,chunk,op";
}
