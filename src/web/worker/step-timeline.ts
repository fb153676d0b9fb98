import { PHASE_NAMES, type StepTasks } from "../../model/workload/step-tasks.ts";
import { groupText } from "../../report/training.ts";
import type { TrainedStep } from "../../run/training/train.ts";
import { eachPause, groupOf } from "../../simulate/workload/exposure.ts";
import type { Refusal, SLICE_STATES, StepTimeline } from "../protocol.ts";

/** More slices are not handed to the page. */
const MOST_SLICES = 4e6;

const [RUNS, EXPOSED, WAITS] = [0, 1, 2] satisfies (keyof typeof SLICE_STATES)[];
const [COMPUTE, BUBBLE] = [0, 1];

/** A stretch of time. */
type Span = readonly [fromPs: number, toPs: number];

/** Slices as they are found. */
interface Slice {
  readonly row: number;
  readonly startPs: number;
  readonly endPs: number;
  readonly kind: number;
  readonly state: number;
  readonly text: number;
  readonly microBatch: number;
}

/** Returns spans that may overlap as such that do not, ascending. */
function merged(spans: Span[]): Span[] {
  const found: [number, number][] = [];
  for (const [from, to] of spans.sort((a, b) => a[0] - b[0])) {
    const before = found[found.length - 1];
    if (before !== undefined && from <= before[1]) before[1] = Math.max(before[1], to);
    else found.push([from, to]);
  }
  return found;
}

/** Returns the rows of lanes: by actor, computations first; and their names. */
function rowsOf({ actors, lanes }: StepTasks): { readonly rowOfLane: Int32Array; readonly names: string[] } {
  const order = lanes
    .map((_, lane) => lane)
    .sort((a, b) => lanes[a].actor - lanes[b].actor || Number(lanes[b].computes) - Number(lanes[a].computes) || a - b);
  const rowOfLane = new Int32Array(lanes.length);
  order.forEach((lane, row) => {
    rowOfLane[lane] = row;
  });
  const names = order.map((lane) => {
    const { actor, name, computes } = lanes[lane];
    const what = computes
      ? "compute"
      : name.startsWith("activations")
        ? "pp on"
        : name.startsWith("gradients")
          ? "pp back"
          : groupText(name);
    return actors.length === 1 ? what : `${actors[actor]}, ${what}`;
  });
  return { rowOfLane, names };
}

/** Numbers given to texts. */
function texts(): { readonly of: (text: string) => number; readonly all: string[] } {
  const known = new Map<string, number>();
  const all: string[] = [];
  return {
    all,
    of(text) {
      const found = known.get(text) ?? all.push(text) - 1;
      known.set(text, found);
      return found;
    },
  };
}

/**
 * Returns when the tasks of a step run, with what is waited for: communications are cut where some computation begins or ends to
 * wait for them, and the lane of those computations says what they wait for meanwhile. O(slices log slices).
 */
export function stepTimeline({ tasks, times }: TrainedStep): StepTimeline | Refusal {
  const { lanes, lane, label, labels, phase, work, works, microBatch } = tasks;
  const { startPs, endPs, ps } = times;
  const { rowOfLane, names } = rowsOf(tasks);
  const kinds = ["compute", "bubble"];
  const kindOf = (group: string | null): number => {
    if (group === null) return COMPUTE;
    if (!kinds.includes(group)) kinds.push(group);
    return kinds.indexOf(group);
  };
  const said = texts();
  const known = new Map<number, number>();
  const textOf = (task: number): number => {
    const key = (work[task] * labels.length + label[task]) * PHASE_NAMES.length + phase[task];
    const one = works[work[task]];
    const name =
      one.kind === "communication" ? `${labels[label[task]]}: ${one.communication.name}` : labels[label[task]];
    const text = known.get(key) ?? said.of(`${name} (${PHASE_NAMES[phase[task]]})`);
    known.set(key, text);
    return text;
  };
  const slices: Slice[] = [];
  const add = (task: number, row: number, fromPs: number, toPs: number, kind: number, state: number): void => {
    if (toPs <= fromPs) return;
    const text = task < 0 ? said.of("nothing left to do") : textOf(task);
    const mb = task < 0 ? -1 : microBatch[task];
    slices.push({ row, startPs: fromPs, endPs: toPs, kind, state, text, microBatch: mb });
  };

  const computeRow = new Int32Array(tasks.actors.length).fill(-1);
  lanes.forEach(({ actor, computes }, at) => {
    if (computes) computeRow[actor] = rowOfLane[at];
  });
  const exposed = new Map<number, Span[]>();
  eachPause(tasks, times, (actor, task, fromPs, toPs) => {
    const group = task < 0 ? null : groupOf(tasks, task);
    add(task, computeRow[actor], fromPs, toPs, group === null ? BUBBLE : kindOf(group), WAITS);
    if (group === null) return;
    const span: Span = [Math.max(fromPs, startPs[task]), Math.min(toPs, endPs[task])];
    if (span[1] > span[0]) exposed.set(task, [...(exposed.get(task) ?? []), span]);
  });
  for (let t = 0; t < lane.length; t++) {
    const row = rowOfLane[lane[t]];
    const kind = kindOf(groupOf(tasks, t));
    let from = startPs[t];
    for (const [first, end] of merged(exposed.get(t) ?? [])) {
      add(t, row, from, first, kind, RUNS);
      add(t, row, first, end, kind, EXPOSED);
      from = end;
    }
    add(t, row, from, endPs[t], kind, RUNS);
    if (slices.length > MOST_SLICES) return { refusal: tooMany(lane.length) };
  }
  slices.sort((a, b) => a.row - b.row || a.startPs - b.startPs);
  return {
    rows: names,
    kinds,
    texts: said.all,
    row: Int32Array.from(slices, ({ row }) => row),
    startPs: Float64Array.from(slices, ({ startPs: start }) => start),
    lastsPs: Float64Array.from(slices, ({ startPs: start, endPs: end }) => end - start),
    kind: Uint8Array.from(slices, ({ kind }) => kind),
    state: Uint8Array.from(slices, ({ state }) => state),
    text: Int32Array.from(slices, ({ text }) => text),
    microBatch: Int32Array.from(slices, ({ microBatch: mb }) => mb),
    totalPs: ps,
  };
}

const tooMany = (tasks: number): string =>
  `The step has ${tasks} tasks, too many to be drawn; the trace for Perfetto has them all.`;
