import { InputError } from "../../base/errors.ts";
import type { CommSchedule } from "../../model/comm/schedule.ts";
import type { Construction } from "../../model/direct/construction.ts";
import { constructionText } from "../../model/direct/construction-text.ts";
import {
  bidirectional,
  degreeExpansion,
  lineGraph,
  power,
  transpose,
  transposedArcs,
} from "../../model/direct/expansions.ts";
import { graphOf, sizeOf } from "../../model/direct/graph-of.ts";
import type { Base } from "../../model/direct/predict.ts";
import { type Bases, graphOfBase } from "./bases.ts";
import { bidirectionalSchedule } from "./bidirectional.ts";
import { degreeSchedule } from "./degree.ts";
import { lineSchedule } from "./line.ts";
import { granularity } from "./parts.ts";
import { powerSchedule } from "./power.ts";
import { relabelled } from "./relabel.ts";

/**
 * Returns the all-gather of a construction that its expansions give (Zhao 2026, 3.5), with so many parts of a shard, on
 * `graphOfBase`. T_L and T_B are those of the theorems (`predict.ts`). Throws InputError unless the parts are a multiple of
 * the granularity; InfeasibleError where a base is not strongly connected.
 */
export async function gatherOf(wanted: Base, parts: number, bases: Bases): Promise<CommSchedule> {
  const grain = granularity(wanted, bases);
  if (parts % grain === 0) return gathered(wanted, parts, bases);
  const name = constructionText(wanted.construction);
  throw new InputError("--chunks", `a multiple of ${grain} chunks per NPU (the expansions of ${name})`, parts);
}

/** Each expansion is of the graph or of its transpose, by recursion; what is then numbered differently is relabelled. */
async function gathered(wanted: Base, parts: number, bases: Bases): Promise<CommSchedule> {
  const { construction, turned } = wanted;
  const below = (base: Construction, share = parts, turn = turned): Promise<CommSchedule> =>
    gathered({ construction: base, turned: turn }, share, bases);
  const numbered = (schedule: CommSchedule): CommSchedule =>
    turned ? relabelled(schedule, graphOfBase(wanted), null) : schedule;
  switch (construction.kind) {
    case "family":
    case "product": {
      const known = bases.tabulated(wanted);
      if (known === null) return bases.broadcast(wanted, parts);
      return finer(relabelled(known, graphOfBase(wanted), null), parts);
    }
    case "transpose":
      return numbered(await below(construction.base, parts, !turned));
    case "line": {
      // where one arc leaves and enters each node, the line graph is the graph
      if (sizeOf(construction).degree === 1) return below(construction.base);
      // L^n(G) is L of L^(n-1)(G)
      const { times } = construction;
      const base = times > 1 ? { ...construction, times: times - 1 } : construction.base;
      const schedule = await below(base);
      const line = lineSchedule(schedule, lineGraph(schedule.graph));
      if (!turned) return line;
      // arc i of the transpose is a node of its line graph; the arc that it turns round is one of the base's line graph
      const graph = graphOf(base);
      return relabelled(line, transpose(lineGraph(graph)), transposedArcs(graph));
    }
    case "degree": {
      const schedule = await below(construction.base);
      return numbered(
        degreeSchedule(schedule, construction.factor, degreeExpansion(schedule.graph, construction.factor)),
      );
    }
    case "power": {
      const { exponent } = construction;
      const schedule = await below(construction.base, parts / exponent);
      return numbered(powerSchedule(schedule, exponent, power(schedule.graph, exponent)));
    }
    case "bidirectional": {
      const forward = await below(construction.base, parts / 2, false);
      const backward = await below(construction.base, parts / 2, true);
      return numbered(bidirectionalSchedule(forward, backward, bidirectional(forward.graph)));
    }
  }
}

/** Returns the schedule with its parts cut so that shards have so many, a multiple of what they have. */
function finer(schedule: CommSchedule, parts: number): CommSchedule {
  const times = parts / schedule.parts;
  const scaled = (column: CommSchedule["from"]): Int32Array => Int32Array.from(column, (part) => part * times);
  return times === 1 ? schedule : { ...schedule, parts, from: scaled(schedule.from), to: scaled(schedule.to) };
}
