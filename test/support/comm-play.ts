import { type CommSchedule, commSchedule } from "../../src/model/comm/schedule.ts";
import { arcSources, type Digraph } from "../../src/model/direct/digraph.ts";
import { type Rational, rational } from "../../src/model/numbers/rational.ts";

/** What playing an all-gather part by part, step by step, gave. */
export interface Played {
  /** The first thing that went wrong; null: every node ends with every part. */
  readonly complaint: string | null;
  /** Parts that a node got that it had already. */
  readonly repeated: number;
  readonly steps: number;
  /** T_B in M / B, by definition: the busiest arc of each step, times d / N. */
  readonly bandwidth: Rational;
}

/** Plays a schedule that lists all its rows on sets of "owner:part", knowing nothing but what its columns mean. */
export function played({ graph, ...schedule }: CommSchedule): Played {
  const tail = arcSources(graph);
  const has = Array.from({ length: graph.nodes }, (_, v) => {
    return new Set(Array.from({ length: schedule.parts }, (_, part) => `${v}:${part}`));
  });
  const count = schedule.step.length;
  let complaint: string | null = null;
  let repeated = 0;
  let busiest = 0;
  for (let step = 0, i = 0; step < schedule.steps; step++) {
    const arriving: [number, string][] = [];
    const load = new Map<number, number>();
    for (; i < count && schedule.step[i] === step; i++) {
      const arc = schedule.arc[i] as number;
      load.set(arc, (load.get(arc) ?? 0) + (schedule.to[i] as number) - (schedule.from[i] as number));
      if (tail[arc] === graph.target[arc]) complaint ??= `row ${i} uses a self-loop`;
      for (let part = schedule.from[i] as number; part < (schedule.to[i] as number); part++) {
        const name = `${schedule.source[i]}:${part}`;
        if (!has[tail[arc] as number]?.has(name))
          complaint ??= `row ${i}: node ${tail[arc]} has no ${name} in step ${step}`;
        arriving.push([graph.target[arc] as number, name]);
      }
    }
    if (load.size === 0) complaint ??= `nothing moves in step ${step}`;
    for (const [node, name] of arriving) {
      if (has[node]?.has(name)) repeated++;
      has[node]?.add(name);
    }
    busiest += Math.max(0, ...load.values());
    if (step === schedule.steps - 1 && i < count) complaint ??= `row ${i} is in no step`;
  }
  const lacking = has.findIndex((names) => names.size !== graph.nodes * schedule.parts);
  if (lacking >= 0) complaint ??= `node ${lacking} ends with ${has[lacking]?.size} parts`;
  const degree = Math.max(...Array.from(graph.offset.subarray(1), (end, v) => end - (graph.offset[v] as number)));
  return {
    complaint,
    repeated,
    steps: schedule.steps,
    bandwidth: rational(busiest * degree, schedule.parts * graph.nodes),
  };
}

/** Returns whether columns are in the order that CommSchedule demands. */
export function inOrder({ step, arc, source, from }: CommSchedule): boolean {
  for (let i = 1; i < step.length; i++) {
    const keys = [step, arc, source, from];
    const differs = keys.find((key) => key[i] !== key[i - 1]);
    if (differs === undefined || (differs[i] as number) < (differs[i - 1] as number)) return false;
  }
  return true;
}

/**
 * Returns an all-gather in which each node takes what it lacks, wherever an arc brings it: a random one, over ways of any length.
 * `draw(n)` gives 0 .. n - 1. The graph is to be strongly connected.
 */
export function anyGather(graph: Digraph, parts: number, draw: (n: number) => number): CommSchedule {
  const tail = arcSources(graph);
  const total = graph.nodes * parts;
  const has = Array.from({ length: graph.nodes }, (_, v) => {
    return new Set(Array.from({ length: parts }, (_, part) => v * parts + part));
  });
  const rows = {
    step: [] as number[],
    source: [] as number[],
    arc: [] as number[],
    from: [] as number[],
    to: [] as number[],
  };
  let steps = 0;
  for (; has.some((held) => held.size < total); steps++) {
    const coming = has.map((held) => new Set(held));
    let moved = false;
    for (let arc = 0; arc < graph.target.length; arc++) {
      const target = coming[graph.target[arc] as number] as Set<number>;
      for (const part of has[tail[arc] as number] as Set<number>) {
        if (target.has(part) || (moved && draw(3) === 0)) continue;
        target.add(part);
        moved = true;
        rows.step.push(steps);
        rows.source.push(Math.floor(part / parts));
        rows.arc.push(arc);
        rows.from.push(part % parts);
        rows.to.push((part % parts) + 1);
      }
    }
    coming.forEach((held, v) => {
      has[v] = held;
    });
  }
  return commSchedule({ graph, steps, parts, symmetry: null }, rows);
}
