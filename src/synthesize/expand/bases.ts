import type { CommSchedule } from "../../model/comm/schedule.ts";
import { constructionText } from "../../model/direct/construction-text.ts";
import type { Digraph } from "../../model/direct/digraph.ts";
import { transpose } from "../../model/direct/expansions.ts";
import { graphOf } from "../../model/direct/graph-of.ts";
import type { Base } from "../../model/direct/predict.ts";
import type { Rational } from "../../model/numbers/rational.ts";
import { type Balancer, bfbLoads, bfbSchedule } from "../bfb/broadcast.ts";
import { baseSchedule } from "./base-schedules.ts";
import { refuseRows } from "./rows.ts";

/** Where the schedules come from that expansions start with. */
export interface Bases {
  /** Returns the all-gather that was found by search, of families that BFB does not suit; null: BFB makes it. */
  tabulated(base: Base): CommSchedule | null;
  /** Returns the loads of the BFB schedule, in shards, per step. Asked once per graph. */
  loads(base: Base): Promise<readonly Rational[]>;
  broadcast(base: Base, parts: number): Promise<CommSchedule>;
}

/** Returns the graph of a construction, or (turned) of its transpose: all-gathers there turn into reduce-scatters (corollary 1.2). */
export const graphOfBase = ({ construction, turned }: Base): Digraph =>
  turned ? transpose(graphOf(construction)) : graphOf(construction);

/** Returns bases whose BFB schedules are balanced by the kernel. */
export function basesOf(balance: Balancer): Bases {
  const known = new Map<string, Promise<readonly Rational[]>>();
  return {
    tabulated({ construction, turned }) {
      return construction.kind === "family" ? baseSchedule(construction.family, construction.parameters, turned) : null;
    },
    loads(base) {
      const key = `${base.turned} ${constructionText(base.construction)}`;
      const loads = known.get(key) ?? bfbLoads(graphOfBase(base), balance);
      known.set(key, loads);
      return loads;
    },
    broadcast(base, parts) {
      const graph = graphOfBase(base);
      if (graph.translations === null) refuseRows(graph.nodes * (graph.nodes - 1));
      return bfbSchedule(graph, parts, balance);
    },
  };
}
