import { shellWord } from "../base/shell-word.ts";
import { type Row, type SweepTask, TASK_VERBS, type TaskVerb } from "../model/sweep/task.ts";
import { flagOf, type OptionId, ROWS } from "../request/option-table.ts";
import { cellOf } from "./rows/cells.ts";

/** Returns the command line that does a task again: "banyan synth mesh:4x4 --collective allgather". Its files are those of the task's author. */
export function taskCommand({
  verb,
  topology,
  model,
  options,
}: Pick<SweepTask, "verb" | "topology" | "model" | "options">): string {
  const words = Object.entries(options).flatMap(([id, value]) => [flagOf(id), ...(value === true ? [] : [value])]);
  return ["banyan", verb, model ?? "", topology, ...words]
    .filter((word) => word !== "")
    .map(shellWord)
    .join(" ");
}

/** Option ids by all that a sweep may call them. */
const IDS: ReadonlyMap<string, string> = new Map(
  Object.keys(ROWS).flatMap((id) => [
    [id, id],
    [flagOf(id).replace(/^--?/, ""), id],
  ]),
);

/** Of a row's columns these say which options they are, but none of a task's. */
const NO_OPTIONS: readonly string[] = ["json", "quiet", "output", "count", "cell", "value", "limit", "columns"];

/** What a sweep says of all its tasks, as far as it says so. */
export interface TaskBase {
  readonly verb: TaskVerb;
  readonly topology?: string;
  readonly model?: string;
  readonly options: Readonly<Record<string, string | true>>;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns what the text of a sweep's own file says of all its tasks: `verb`, `topology`, `model`, `options`. */
export function taskBase(text: string | null): TaskBase {
  let value: unknown = null;
  try {
    value = text === null ? null : JSON.parse(text);
  } catch {
    // it says nothing, then
  }
  const said = isRecord(value) ? value : {};
  const options = Object.entries(isRecord(said["options"]) ? said["options"] : {});
  const textAt = (name: "topology" | "model") => (typeof said[name] === "string" ? { [name]: said[name] } : {});
  return {
    verb: TASK_VERBS.find((verb) => verb === said["verb"]) ?? "synth",
    ...textAt("topology"),
    ...textAt("model"),
    options: Object.fromEntries(
      options.filter((entry): entry is [string, string | true] => typeof entry[1] === "string" || entry[1] === true),
    ),
  };
}

/** Returns what a row's cells say of its task, beside what is said of all: columns that are called as options are, up to `count`. */
export function taskOfRow(row: Row, base: TaskBase): Pick<SweepTask, "verb" | "topology" | "model" | "options"> {
  const names = Object.keys(row);
  const end = ["count", "status"].map((name) => names.indexOf(name)).filter((at) => at >= 0);
  const axes = names.slice(0, Math.min(names.length, ...end));
  const options: Record<string, string | true> = { ...base.options };
  for (const name of axes) {
    const id = IDS.get(name);
    if (id === undefined || id === "topology" || NO_OPTIONS.includes(id)) continue;
    const cell = cellOf(row, name);
    const hasValue = ROWS[id as OptionId].value !== undefined;
    if (cell === null || cell === "" || cell === false) delete options[id];
    else options[id] = hasValue ? `${cell}` : true;
  }
  const own = (name: "topology" | "model"): string | undefined => {
    const cell = axes.includes(name) ? cellOf(row, name) : null;
    return cell === null ? base[name] : `${cell}`;
  };
  const model = own("model");
  return { verb: base.verb, topology: own("topology") ?? "", ...(model === undefined ? {} : { model }), options };
}
