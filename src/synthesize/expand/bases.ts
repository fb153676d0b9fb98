import type { CommSchedule } from "../../model/comm-schedule.ts";
import { constructionText } from "../../model/direct/construction-text.ts";
import type { Digraph } from "../../model/direct/digraph.ts";
import { transpose } from "../../model/direct/expansions.ts";
import { graphOf } from "../../model/direct/graph-of.ts";
import type { Base } from "../../model/direct/predict.ts";
import type { Rational } from "../../model/rational.ts";
import { type Balancer, bfbLoads, bfbSchedule } from "../bfb/broadcast.ts";
import { baseSchedule } from "./base-schedules.ts";

/** Where the schedules come from that expansions start with. */
export interface Bases {
  /** Returns the all-gather that was found by search, of families that BFB does not suit; null: BFB makes it. */
  tabulated(wanted: Base): CommSchedule | null;
  /** Returns the loads of the BFB schedule, in shards, per step. Asked once per graph. */
  loads(wanted: Base): Promise<readonly Rational[]>;
  broadcast(wanted: Base, parts: number): Promise<CommSchedule>;
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
    loads(wanted) {
      const key = `${wanted.turned} ${constructionText(wanted.construction)}`;
      const loads = known.get(key) ?? bfbLoads(graphOfBase(wanted), balance);
      known.set(key, loads);
      return loads;
    },
    broadcast: (wanted, parts) => bfbSchedule(graphOfBase(wanted), parts, balance),
  };
}
