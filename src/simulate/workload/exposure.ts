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

/** Returns where the time of every actor goes: what `eachPause` tells, summed. */
export function exposureOf(tasks: StepTasks, times: StepTimes): ActorTime[] {
  const { actors } = tasks;
  const bubblePs = new Float64Array(actors.length);
  const exposedPs: Map<string, number>[] = actors.map(() => new Map());
  const pausedPs = new Float64Array(actors.length);
  eachPause(tasks, times, (actor, task, fromPs, toPs) => {
    pausedPs[actor] += toPs - fromPs;
    const group = task < 0 ? null : groupOf(tasks, task);
    if (group === null) bubblePs[actor] += toPs - fromPs;
    else exposedPs[actor].set(group, (exposedPs[actor].get(group) ?? 0) + toPs - fromPs);
  });
  // an NPU and its host may compute at the same time: what is no pause is computing
  return actors.map((actor, a) => ({
    actor,
    computePs: times.ps - pausedPs[a],
    exposedPs: exposedPs[a],
    bubblePs: bubblePs[a],
  }));
}

/** Hears of a stretch of time in which the computations of an actor pause, and the task that they wait for; -1: nothing is left to do. */
type TellPause = (actor: number, task: number, fromPs: number, toPs: number) => void;

/**
 * Tells why the computations of every actor pause, and when. It is what the next one waits for that counts, and what that waited
 * for, back to the beginning of the pause: a communication that runs or stands behind others in its lane is exposed, a computation
 * of another actor is bubble. Of an actor nothing is told twice for the same time; within a pause later times come first.
 * O(tasks + pauses x what they wait for).
 */
export function eachPause(tasks: StepTasks, times: StepTimes, tell: TellPause): void {
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
  for (let a = 0; a < actors.length; a++) {
    const told = (task: number, fromPs: number, toPs: number): void => {
      if (toPs > fromPs) tell(a, task, fromPs, toPs);
    };
    let until = 0;
    const own = (computations[a] as number[]).sort((x, y) => startPs[x] - startPs[y] || x - y);
    for (const task of own) {
      pause(tasks, times, task, until, told);
      until = Math.max(until, endPs[task]);
    }
    const last = lastOf[a];
    if (last >= 0 && endPs[last] > until) {
      const begun = Math.max(until, startPs[last]);
      told(last, begun, endPs[last]);
      if (begun > until) pause(tasks, times, last, until, told);
      until = endPs[last];
    }
    told(-1, until, ps);
  }
}

/**
 * Returns what a wait for a task is counted as: the group that communicates, of a trace the collective, or a delay; null for a
 * computation that takes its turn.
 */
export function groupOf({ works, work, lanes, lane }: StepTasks, task: number): string | null {
  if (lanes[lane[task]].computes) return null;
  const one = works[work[task]];
  if (one.kind === "computations") return "delays";
  const { among, collective, group } = one.communication;
  return among === undefined ? group : (among.name ?? collective);
}

/** Tells what a task waited for from `from` to its start. */
function pause(
  { offset, awaited }: StepTasks,
  { startPs, endPs }: StepTimes,
  task: number,
  from: number,
  tell: (task: number, fromPs: number, toPs: number) => void,
): void {
  let until = startPs[task];
  for (let now = task; until > from; ) {
    let last = -1;
    for (let k = offset[now]; k < offset[now + 1]; k++) {
      if (last < 0 || endPs[awaited[k]] > endPs[last]) last = awaited[k];
    }
    const ready = last < 0 ? 0 : endPs[last];
    // it was ready and stood behind others of its lane
    tell(now, Math.max(from, ready), until);
    until = Math.min(until, ready);
    if (last < 0 || until <= from) return;
    tell(last, Math.max(from, startPs[last]), until);
    until = startPs[last];
    now = last;
  }
}
