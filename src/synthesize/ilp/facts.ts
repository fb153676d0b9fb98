import type { Bound } from "../../model/bounds/witness.ts";
import { unitedRoutes } from "../../model/joint/joint-schedule.ts";
import { rational } from "../../model/numbers/rational.ts";
import { type RouteSet, routeCount } from "../../model/routes/routes.ts";
import type { Trying } from "./search.ts";
import type { Proof } from "./shorten.ts";

/** Larger schedules are left as they are: their programs have more columns than any solver takes. */
export const MOST_TRANSFERS = 20_000;

/** What is proved where a schedule meets its bound, without a program. */
export const WHOLE_CHUNKS = "whole chunks, each sent by itself, over these routes";

/** Which programs a policy tries; all without one. */
export const TRYING: Readonly<Record<string, Trying>> = { exact: "whole", symmetric: "symmetric" };

/** Returns whether all of the second routes are among the first. */
export function contains(all: RouteSet, some: RouteSet): boolean {
  return all === some || routeCount(unitedRoutes([all, some]).routes) === routeCount(all);
}

/** Returns the bound that a program proved. */
export const boundBy = ({ ps, slots, refutation }: Proof, model: string): Bound => {
  const { columns, rows, nodes } = refutation;
  return { ps: rational(ps), witness: { kind: "program", model, slots, columns, rows, nodes } };
};

/** Returns which program had no room, in words: the first. */
export const skipped = (list: readonly { readonly name: string; readonly note?: string }[]): string[] => {
  const first = list.find(({ note }) => note !== undefined);
  return first === undefined ? [] : [`the program for ${first.name} was not built: ${first.note}`];
};

/** Returns how far from the bound a schedule is, in words; nothing where it meets it. */
export const gap = (endPs: number, leastPs: number, describesAll: boolean): string[] => {
  if (endPs <= leastPs) return [];
  const percent = Number((100 * (endPs / leastPs - 1)).toPrecision(3));
  const why = describesAll
    ? ""
    : "; programs of all-reduce cannot raise it, as they are of trees through one place or two neighbours";
  return [`not proved optimal: at most ${percent} % longer than the bound${why}`];
};
