import type { StepTasks } from "../../model/workload/step-tasks.ts";
import type { StepTimes } from "./step.ts";

/** Where the time of one actor (a pipeline stage, an NPU) goes; the parts sum to the step's time. Picoseconds. */
export interface ActorTime {
  readonly actor: string;
  readonly computePs: number;
  /** Waiting for communications, by the group that communicates (of a trace: by collective); sends between stages are "pipeline". */
  readonly exposedPs: ReadonlyMap<string, number>;
  /** Waiting for computations of others: the bubble of a pipeline. */
  readonly bubblePs: number;
}

/**
 * Returns where the time of every actor goes. While its computations pause, it is what the next one waits for that counts, and
 * what that waited for, back to the beginning of the pause: a communication that runs or stands behind others in its lane is
 * exposed, a computation of another actor is bubble. O(tasks + pauses x what they wait for).
 */
export function exposureOf(tasks: StepTasks, times: StepTimes): ActorTime[] {
  const { actors, lanes, lane, offset, awaited } = tasks;
  const { startPs, endPs, ps } = times;
  const computations: number[][] = actors.map(() => []);
  const lastOf = new Int32Array(actors.length).fill(-1);
  const endsWith = (actor: number, t: number): void => {
    if (lastOf[actor] < 0 || endPs[t] > endPs[lastOf[actor]]) lastOf[actor] = t;
  };
  for (let t = 0; t < lane.length; t++) {
    const { actor, computes } = lanes[lane[t]];
    endsWith(actor, t);
    if (computes) {
      (computations[actor] as number[]).push(t);
      continue;
    }
    // a collective of several actors is in the lane of one
    for (let k = offset[t]; k < offset[t + 1]; k++) {
      const before = lanes[lane[awaited[k]]];
      if (before.computes) endsWith(before.actor, t);
    }
  }
  return actors.map((actor, a) => {
    const exposedPs = new Map<string, number>();
    let bubblePs = 0;
    const count = (task: number, ps: number): void => {
      if (ps <= 0) return;
      if (lanes[lane[task]].computes) bubblePs += ps;
      else exposedPs.set(kindOf(tasks, task), (exposedPs.get(kindOf(tasks, task)) ?? 0) + ps);
    };
    let computePs = 0;
    let until = 0;
    const own = (computations[a] as number[]).sort((x, y) => startPs[x] - startPs[y] || x - y);
    for (const task of own) {
      pause(tasks, times, task, until, count);
      // an NPU and its host may compute at the same time
      computePs += Math.max(0, endPs[task] - Math.max(until, startPs[task]));
      until = Math.max(until, endPs[task]);
    }
    const last = lastOf[a];
    if (last >= 0 && endPs[last] > until) {
      const begun = Math.max(until, startPs[last]);
      count(last, endPs[last] - begun);
      if (begun > until) pause(tasks, times, last, until, count);
      until = endPs[last];
    }
    bubblePs += ps - until;
    return { actor, computePs, exposedPs, bubblePs };
  });
}

/** Returns what a wait for a task that computes nothing is counted as. */
function kindOf({ works, work }: StepTasks, task: number): string {
  const one = works[work[task]];
  if (one.kind === "computations") return "delays";
  const { among, collective, group } = one.communication;
  return among === undefined ? group : collective;
}

/** Counts the time from `from` to the start of a task by what it waited for. */
function pause(
  { offset, awaited }: StepTasks,
  { startPs, endPs }: StepTimes,
  task: number,
  from: number,
  count: (task: number, ps: number) => void,
): void {
  let until = startPs[task];
  for (let now = task; until > from; ) {
    let last = -1;
    for (let k = offset[now]; k < offset[now + 1]; k++) {
      if (last < 0 || endPs[awaited[k]] > endPs[last]) last = awaited[k];
    }
    const ready = last < 0 ? 0 : endPs[last];
    // it was ready and stood behind others of its lane
    count(now, until - Math.max(from, ready));
    until = Math.min(until, ready);
    if (last < 0 || until <= from) return;
    count(last, until - Math.max(from, startPs[last]));
    until = startPs[last];
    now = last;
  }
}
