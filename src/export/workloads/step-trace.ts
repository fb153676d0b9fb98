import { jsonText } from "../../base/visible.ts";
import { toUs } from "../../model/numbers/units.ts";
import { PHASE_NAMES, type StepTasks, type Work } from "../../model/workload/step-tasks.ts";
import { traceOf } from "../trace-events.ts";

/** Yields the names of actors and lanes. */
function* names({ actors, lanes }: StepTasks): Generator<string> {
  for (const [actor, name] of actors.entries()) {
    yield `{"ph":"M","pid":${actor + 1},"name":"process_name","args":{"name":${jsonText(name)}}}`;
    yield `{"ph":"M","pid":${actor + 1},"name":"process_sort_index","args":{"sort_index":${actor}}}`;
  }
  for (const [lane, { actor, name, computes }] of lanes.entries()) {
    const track = `"pid":${actor + 1},"tid":${lane + 1}`;
    yield `{"ph":"M",${track},"name":"thread_name","args":{"name":${jsonText(name)}}}`;
    yield `{"ph":"M",${track},"name":"thread_sort_index","args":{"sort_index":${computes ? 0 : lane + 1}}}`;
  }
}

/** Returns what a task is called, and what is said of it besides. */
function about(work: Work, label: string): { readonly name: string; readonly category: string; readonly args: string } {
  if (work.kind === "communication") {
    const { name, group, collective, bytes } = work.communication;
    return { name: `${label}: ${name}`, category: group, args: `"collective":"${collective}","bytes":${bytes}` };
  }
  const flops = work.computations.reduce((sum, one) => sum + one.flops, 0);
  const parts = work.computations.map(({ name }) => name).join(", ");
  return { name: label, category: "compute", args: `"parts":${jsonText(parts)},"flops":${flops}` };
}

/**
 * Yields the parts of a trace of a step that was simulated (Trace Event Format): a process per actor, a thread per lane, a slice
 * per task that takes time. Times in microseconds. O(tasks).
 */
export function* stepTrace(
  tasks: StepTasks,
  { startPs, endPs }: { readonly startPs: Float64Array; readonly endPs: Float64Array },
): Generator<string> {
  function* slices(): Generator<string> {
    const { lanes, works, labels, work, lane, label, phase, microBatch } = tasks;
    for (let t = 0; t < work.length; t++) {
      if (endPs[t] === startPs[t]) continue;
      const { name, category, args } = about(works[work[t]], labels[label[t]]);
      const track = `"pid":${lanes[lane[t]].actor + 1},"tid":${lane[t] + 1}`;
      const mb = microBatch[t] < 0 ? "" : `,"microBatch":${microBatch[t]}`;
      yield `{"ph":"X",${track},"ts":${toUs(startPs[t])},"dur":${toUs(endPs[t] - startPs[t])},"name":${jsonText(name)},` +
        `"cat":${jsonText(category)},"args":{"phase":"${PHASE_NAMES[phase[t]]}"${mb},${args}}}`;
    }
  }
  yield* traceOf(names(tasks), slices());
}
