import type { Random } from "../../base/random.ts";
import type { PlanChoice } from "../../model/tensor-plan/problem.ts";
import { type Costs, cheapestCopies, needsOf, numbered } from "./covers.ts";
import type { Stopped } from "./effort.ts";
import { NOTHING, type PlanTables } from "./tables.ts";

/** A plan that is being improved, with what it uses. */
export interface Standing {
  readonly choices: Int32Array;
  /** [supplies] listed copies. */
  readonly copies: (readonly number[])[];
  /** [resources] */
  readonly totals: Float64Array;
}

/** How good totals are: less is better. */
export type Score = (totals: Float64Array) => number;

/** What it takes to find a supply's copies, as work is counted. */
const COVER_MS = 5e-4;
/** A gain of less is none: sums of doubles differ by their order. */
const LEAST_GAIN = 1e-12;

/** Returns the plan of a standing. */
export const planAt = (
  { supplies }: PlanTables,
  { choices, copies }: Pick<Standing, "choices" | "copies">,
): PlanChoice => ({
  choices: Int32Array.from(choices),
  copies: copies.map((listed, s) => numbered(supplies[s], listed)),
});

/** Returns where some choices stand, their copies the cheapest under costs, supply by supply; null where a demand cannot be met. */
export function standingAt(tables: PlanTables, choices: Int32Array, costs: Costs): Standing | null {
  const { problem, supplies, uses, resourceCount } = tables;
  const totals = Float64Array.from(problem.base);
  const copies: (readonly number[])[] = [];
  for (let s = 0; s < supplies.length; s++) {
    const { chooser, made } = supplies[s];
    const listed = cheapestCopies(
      supplies[s],
      costs.copy[s],
      costs.pair[s],
      made[choices[chooser]],
      needsOf(tables, choices, s),
    );
    if (listed === null) return null;
    copies.push(listed);
    addCopies(tables, totals, s, listed, 1);
  }
  for (let v = 0; v < choices.length; v++) {
    for (let r = 0; r < resourceCount; r++) totals[r] += uses[v][choices[v] * resourceCount + r];
  }
  return { choices: Int32Array.from(choices), copies, totals };
}

function addCopies(
  { supplies, resourceCount }: PlanTables,
  totals: Float64Array,
  s: number,
  listed: readonly number[],
  sign: number,
): void {
  for (const i of listed) {
    for (let r = 0; r < resourceCount; r++) totals[r] += sign * supplies[s].uses[i * resourceCount + r];
  }
}

/** Moves from plan to plan. */
export interface Moves {
  /** Returns the standing behind changes of one chooser at a time, each the best for it, until none makes the plan better. */
  descend(from: Standing): Standing;
  /** Returns the standing in which one chooser has another choice, and those around it, `reach` of them or more, follow it; null where no one can. */
  wave(from: Standing, chooser: number, choice: number, reach: number): Standing | null;
}

/**
 * Returns moves under costs, which say what copies are taken, and a score, which says what is better. A descent takes O(choices x
 * copies of a supply) a round.
 */
export function localMoves(tables: PlanTables, costs: Costs, score: Score, stopped: Stopped): Moves {
  const { allowed, supplies, links, takes, makes, uses, resourceCount } = tables;
  const choosers = allowed.map((one) => [...one.keys()].filter((c) => one[c] === 1));
  const touched = allowed.map((_, v) => [...new Set([...makes[v], ...takes[v].map((e) => links[e].supply)])]);
  const triesMs = choosers.map((own, v) => COVER_MS * own.length * touched[v].length);
  const linksOf: number[][] = allowed.map((_, v) => [...takes[v]]);
  links.forEach(({ maker, taker }, e) => {
    if (maker !== taker) linksOf[maker].push(e);
  });
  const coversOf = (choices: Int32Array, v: number): (readonly number[])[] | null => {
    const found: (readonly number[])[] = [];
    for (const s of touched[v]) {
      const supply = supplies[s];
      const made = supply.made[choices[supply.chooser]];
      const listed = cheapestCopies(supply, costs.copy[s], costs.pair[s], made, needsOf(tables, choices, s));
      if (listed === null) return null;
      found.push(listed);
    }
    return found;
  };
  const descend = (from: Standing): Standing => {
    const choices = Int32Array.from(from.choices);
    const copies = [...from.copies];
    let totals = Float64Array.from(from.totals);
    let now = score(totals);
    for (let isBetter = true; isBetter; ) {
      isBetter = false;
      for (let v = 0; v < choosers.length && !stopped(triesMs[v]); v++) {
        const old = choices[v];
        const rest = Float64Array.from(totals);
        for (let r = 0; r < resourceCount; r++) rest[r] -= uses[v][old * resourceCount + r];
        for (const s of touched[v]) addCopies(tables, rest, s, copies[s], -1);
        let best: {
          readonly choice: number;
          readonly covers: (readonly number[])[];
          readonly totals: Float64Array;
        } | null = null;
        for (const c of choosers[v]) {
          choices[v] = c;
          const covers = coversOf(choices, v);
          if (covers === null) continue;
          const then = Float64Array.from(rest);
          for (let r = 0; r < resourceCount; r++) then[r] += uses[v][c * resourceCount + r];
          touched[v].forEach((s, i) => {
            addCopies(tables, then, s, covers[i], 1);
          });
          const value = score(then);
          if (value >= now - LEAST_GAIN) continue;
          now = value;
          best = { choice: c, covers, totals: then };
        }
        choices[v] = best?.choice ?? old;
        if (best === null) continue;
        isBetter = true;
        totals = Float64Array.from(best.totals);
        for (let i = 0; i < touched[v].length; i++) copies[touched[v][i]] = best.covers[i];
      }
    }
    return { choices, copies, totals };
  };
  const wave = (from: Standing, chooser: number, choice: number, reach: number): Standing | null => {
    const choices = Int32Array.from(from.choices);
    const isSet = new Uint8Array(choices.length);
    const isQueued = new Uint8Array(choices.length);
    const queue = [chooser];
    isQueued[chooser] = 1;
    for (let at = 0; at < queue.length; at++) {
      const v = queue[at];
      let best = at === 0 ? choice : NOTHING;
      if (at > 0) {
        let least = Number.POSITIVE_INFINITY;
        for (const c of choosers[v]) {
          let sum = costs.choice[v][c];
          for (const e of linksOf[v]) {
            const { supply, maker, taker, asked } = links[e];
            const other = maker === v ? taker : maker;
            if (other !== v && isSet[other] === 0) continue;
            const q = asked[taker === v ? c : choices[taker]];
            if (q === NOTHING) continue;
            const p = supplies[supply].made[maker === v ? c : choices[maker]];
            sum += p === NOTHING ? Number.POSITIVE_INFINITY : costs.pair[supply].costOf(p, q);
          }
          if (sum < least) {
            least = sum;
            best = c;
          }
        }
      }
      if (best === NOTHING) return null;
      choices[v] = best;
      isSet[v] = 1;
      for (const e of linksOf[v]) {
        for (const other of [links[e].maker, links[e].taker]) {
          if (isQueued[other] === 1) continue;
          isQueued[other] = 1;
          queue.push(other);
        }
      }
      if (at + 1 < reach && at + 1 < queue.length) continue;
      const found = standingAt(tables, choices, costs);
      if (found !== null) return found;
    }
    return null;
  };
  return { descend, wave };
}

/**
 * Returns the best standing after so many waves from random choosers, each followed by a descent, and taken where it is better; the
 * same for the same seed.
 */
export function wander(
  tables: PlanTables,
  { descend, wave }: Moves,
  score: Score,
  from: Standing,
  { random, waves, stopped }: { readonly random: Random; readonly waves: number; readonly stopped: Stopped },
): Standing {
  const choosers = tables.allowed.map((one) => [...one.keys()].filter((c) => one[c] === 1));
  let best = descend(from);
  let least = score(best.totals);
  for (let i = 0; i < waves && !stopped(COVER_MS * tables.supplies.length); i++) {
    const v = random.below(choosers.length);
    const choice = choosers[v][random.below(choosers[v].length)];
    const far = wave(best, v, choice, 1 + random.below(choosers.length));
    if (far === null) continue;
    const next = descend(far);
    const value = score(next.totals);
    if (value >= least - LEAST_GAIN) continue;
    best = next;
    least = value;
  }
  return best;
}
