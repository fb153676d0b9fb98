import type { Pattern } from "../../model/tensor-plan/patterns.ts";
import {
  type Choice,
  type Chooser,
  type Copy,
  isFree,
  type PlanProblem,
  type Uses,
} from "../../model/tensor-plan/problem.ts";

/** A supply as those see it who want it; "made" are the ways in which it may be there without a copy, "wanted" the patterns asked for. */
export interface SupplyTable {
  readonly chooser: number;
  /** [choices of the chooser] number of what is made; NOTHING: it is not there, or the choice is ruled out. */
  readonly made: Int32Array;
  readonly madeCount: number;
  readonly wanted: readonly Pattern[];
  /** [made x wanted] 1: it is there for free. */
  readonly free: Uint8Array;
  /** [made + 1] first of its copies in the lists below; only those are listed that somebody may want. */
  readonly copyOffset: Int32Array;
  /** [listed] index in the problem's supply. */
  readonly copy: Int32Array;
  /** [listed] what it gives, a row of `gives`. */
  readonly target: Int32Array;
  /** [targets][..] wanted patterns, ascending; and [targets x wanted] 1 for those. */
  readonly gives: readonly Int32Array[];
  readonly isGiven: Uint8Array;
  /** [listed x resources] */
  readonly uses: Float64Array;
  /** Links of this supply. */
  readonly links: readonly number[];
}

/** A pattern of a supply that a chooser takes, or one of several that it takes of the same. */
export interface Link {
  readonly supply: number;
  readonly maker: number;
  readonly taker: number;
  /** [choices of the taker] number of a wanted pattern, or NOTHING. */
  readonly asked: Int32Array;
}

export const NOTHING = -1;

/** What is not to be considered: 1 for each choice, [choosers][choices], and copy, [supplies][copies], that is out. */
export interface Without {
  readonly choices?: readonly Uint8Array[];
  readonly copies?: readonly Uint8Array[];
}

/** A problem of states, as searches read it. */
export interface PlanTables {
  readonly problem: PlanProblem;
  readonly resourceCount: number;
  /** [choosers][choices] 0: ruled out, for it can be in no plan, or another is no worse in any. */
  readonly allowed: readonly Uint8Array[];
  /** [choosers][choices x resources] */
  readonly uses: readonly Float64Array[];
  readonly supplies: readonly SupplyTable[];
  readonly links: readonly Link[];
  /** [choosers] links by which it takes, and supplies that it makes. */
  readonly takes: readonly (readonly number[])[];
  readonly makes: readonly (readonly number[])[];
}

/**
 * Returns a problem as tables, without choices that no plan can have, choices than which another is never worse (it uses no more,
 * asks for no more, and gives no less), and copies that nobody can want; null where a chooser has no choice left: then there is no
 * plan, whatever memory there is. `without` says what is not to be considered. O(choosers x choices^2 + copies x patterns).
 */
export function planTables(problem: PlanProblem, without: Without = {}): PlanTables | null {
  const allowed = problem.choosers.map(({ choices }, v) =>
    Uint8Array.from(choices, (_, c) => (without.choices?.[v][c] === 1 ? 0 : 1)),
  );
  let tables = builtTables(problem, allowed, without.copies);
  let before: PlanTables | undefined;
  for (;;) {
    const count = countOf(allowed);
    if (!dropUnsupported(tables)) return null;
    dropDominated(tables, before);
    if (countOf(allowed) === count) return tables;
    before = tables;
    tables = builtTables(problem, allowed, without.copies, tables);
  }
}

const countOf = (allowed: readonly Uint8Array[]): number =>
  allowed.reduce((sum, one) => sum + one.reduce((a, b) => a + b, 0), 0);

/** Returns amounts of uses, [resources]. */
function spread({ resources, amounts }: Uses, into: Float64Array, at: number): void {
  for (let i = 0; i < resources.length; i++) into[at + resources[i]] += amounts[i];
}

/** Returns the patterns that a choice demands of each supply, without those that others of them give for free. */
function demandsOf({ mesh }: PlanProblem, { demands }: Choice): Map<number, Pattern[]> {
  const bySupply = new Map<number, Pattern[]>();
  for (const { supply, pattern } of demands) {
    const known = bySupply.get(supply) ?? [];
    if (known.some((one) => isFree(mesh, one, pattern))) continue;
    bySupply.set(supply, [...known.filter((one) => !isFree(mesh, pattern, one)), pattern]);
  }
  return bySupply;
}

function builtTables(
  problem: PlanProblem,
  allowed: readonly Uint8Array[],
  noCopies: readonly Uint8Array[] | undefined,
  before?: PlanTables,
): PlanTables {
  const { choosers, supplies: given, resources } = problem;
  const resourceCount = resources.length;
  const usesOf = ({ choices }: Chooser): Float64Array => {
    const all = new Float64Array(choices.length * resourceCount);
    choices.forEach((choice, c) => {
      spread(choice.uses, all, c * resourceCount);
    });
    return all;
  };
  const uses = before?.uses ?? choosers.map(usesOf);
  const links: Link[] = [];
  const wanted: Map<Pattern, number>[] = given.map(() => new Map());
  const takes: number[][] = choosers.map(() => []);
  choosers.forEach(({ choices }, taker) => {
    const slots = new Map<string, number>();
    choices.forEach((choice, c) => {
      if (allowed[taker][c] === 0) return;
      for (const [supply, patterns] of demandsOf(problem, choice)) {
        patterns.forEach((pattern, slot) => {
          const key = `${supply},${slot}`;
          let link = slots.get(key);
          if (link === undefined) {
            link =
              links.push({
                supply,
                maker: given[supply].chooser,
                taker,
                asked: new Int32Array(choices.length).fill(NOTHING),
              }) - 1;
            slots.set(key, link);
            takes[taker].push(link);
          }
          const known = wanted[supply];
          let at = known.get(pattern);
          if (at === undefined) {
            at = known.size;
            known.set(pattern, at);
          }
          links[link].asked[c] = at;
        });
      }
    });
  });
  const supplies = given.map((_, s) =>
    supplyTable(
      problem,
      s,
      [...wanted[s].keys()],
      allowed[given[s].chooser],
      [...links.keys()].filter((e) => links[e].supply === s),
      noCopies?.[s],
      before?.supplies[s],
    ),
  );
  const makes: number[][] = choosers.map(() => []);
  supplies.forEach((supply, s) => {
    if (supply.links.length > 0) makes[supply.chooser].push(s);
  });
  return { problem, resourceCount, allowed, uses, supplies, links, takes, makes };
}

function supplyTable(
  problem: PlanProblem,
  s: number,
  wanted: readonly Pattern[],
  allowed: Uint8Array,
  links: readonly number[],
  isOut: Uint8Array | undefined,
  before: SupplyTable | undefined,
): SupplyTable {
  const { mesh, choosers, supplies, resources } = problem;
  const { chooser, wantsKept, copies } = supplies[s];
  const madeAt = new Map<Pattern, number>();
  const made = Int32Array.from(choosers[chooser].choices, ({ pattern, isKept }, c) => {
    if (allowed[c] === 0 || (wantsKept && !isKept)) return NOTHING;
    const at = madeAt.get(pattern) ?? madeAt.size;
    madeAt.set(pattern, at);
    return at;
  });
  const isSame = (a: ArrayLike<number>, b: ArrayLike<number>): boolean => {
    for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
    return a.length === b.length;
  };
  if (before !== undefined && isSame(before.made, made) && isSame(before.wanted, wanted)) return { ...before, links };
  const free = Uint8Array.from(
    [...madeAt.keys()].flatMap((from) => wanted.map((to) => (isFree(mesh, from, to) ? 1 : 0))),
  );
  const targetAt = new Map<Pattern, number>();
  const gives: Int32Array[] = [];
  const byMade: number[][] = [...madeAt].map(() => []);
  const targets = new Int32Array(copies.length).fill(NOTHING);
  for (let k = 0; k < copies.length; k++) {
    const { from, to } = copies[k];
    const at = madeAt.get(from);
    if (at === undefined || isOut?.[k] === 1) continue;
    let target = targetAt.get(to);
    if (target === undefined) {
      target = gives.push(Int32Array.from([...wanted.keys()].filter((q) => isFree(mesh, to, wanted[q])))) - 1;
      targetAt.set(to, target);
    }
    byMade[at].push(k);
    targets[k] = target;
  }
  const count = resources.length;
  const priced = pricedUses(copies, count);
  const width = wanted.length;
  const isGiven = new Uint8Array(gives.length * width);
  gives.forEach((given, target) => {
    for (const q of given) isGiven[target * width + q] = 1;
  });
  const coversAll = (a: number, b: number): boolean => {
    if (gives[b].length > gives[a].length) return false;
    for (const q of gives[b]) if (isGiven[a * width + q] === 0) return false;
    return true;
  };
  /** [targets] those that give no less, and [targets x targets] 1 where the second does. */
  const covering = gives.map((_, b) => Int32Array.from(gives.keys()).filter((a) => coversAll(a, b)));
  const isCovered = new Uint8Array(gives.length * gives.length);
  covering.forEach((all, b) => {
    for (const a of all) isCovered[b * gives.length + a] = 1;
  });
  const offset = [0];
  const listed: number[] = [];
  const isWorse = (k: number, other: number): boolean => {
    if (other === k || !priced.isNoMore(other, k)) return false;
    const isSame = isCovered[targets[other] * gives.length + targets[k]] === 1 && priced.isNoMore(k, other);
    return !isSame || other < k;
  };
  const byTarget: number[][] = gives.map(() => []);
  const isWorseThanAny = (k: number): boolean => {
    for (const target of covering[targets[k]]) {
      for (const other of byTarget[target]) if (isWorse(k, other)) return true;
    }
    return false;
  };
  const isUseful = (at: number, target: number): boolean => {
    for (const q of gives[target]) if (free[at * width + q] === 0) return true;
    return false;
  };
  byMade.forEach((all, at) => {
    const useful = all.filter((k) => isUseful(at, targets[k]));
    for (const own of byTarget) own.length = 0;
    for (const k of useful) byTarget[targets[k]].push(k);
    for (const k of useful) if (!isWorseThanAny(k)) listed.push(k);
    offset.push(listed.length);
  });
  const kept = new Float64Array(listed.length * count);
  listed.forEach((k, i) => {
    priced.write(k, kept, i * count);
  });
  return {
    chooser,
    made,
    madeCount: madeAt.size,
    wanted,
    free,
    copyOffset: Int32Array.from(offset),
    copy: Int32Array.from(listed),
    target: Int32Array.from(listed, (k) => targets[k]),
    gives,
    isGiven,
    uses: kept,
    links,
  };
}

/** Returns whether no amount of the first is more than that of the second. */
function noMore(a: Float64Array, atA: number, b: Float64Array, atB: number, count: number): boolean {
  for (let r = 0; r < count; r++) if (a[atA + r] > b[atB + r]) return false;
  return true;
}

/** What copies use, of which many use the same. */
interface PricedUses {
  /** Returns whether the first copy uses no more of anything than the second. */
  isNoMore(a: number, b: number): boolean;
  /** Writes what a copy uses, [resources]. */
  write(copy: number, into: Float64Array, at: number): void;
}

const remembered = new WeakMap<readonly Copy[], PricedUses>();

/** Returns what copies use, worked out once for the copies of a supply. */
function pricedUses(copies: readonly Copy[], count: number): PricedUses {
  const found = remembered.get(copies) ?? pricedOf(copies, count);
  remembered.set(copies, found);
  return found;
}

function pricedOf(copies: readonly Copy[], count: number): PricedUses {
  const numbers = new Map<Uses, number>();
  const numberOf = new Int32Array(copies.length);
  for (let k = 0; k < copies.length; k++) {
    const { uses } = copies[k];
    let known = numbers.get(uses);
    if (known === undefined) {
      known = numbers.size;
      numbers.set(uses, known);
    }
    numberOf[k] = known;
  }
  const all = new Float64Array(numbers.size * count);
  for (const [uses, at] of numbers) spread(uses, all, at * count);
  return {
    isNoMore: (a, b) => noMore(all, numberOf[a] * count, all, numberOf[b] * count, count),
    write: (copy, into, at) => {
      const from = numberOf[copy] * count;
      for (let r = 0; r < count; r++) into[at + r] = all[from + r];
    },
  };
}

/** Returns [made x wanted] 1 where a pattern is there, or a copy gives it. */
export function reachable({ madeCount, wanted, free, copyOffset, target, gives }: SupplyTable): Uint8Array {
  const can = Uint8Array.from(free);
  for (let p = 0; p < madeCount; p++) {
    for (let i = copyOffset[p]; i < copyOffset[p + 1]; i++)
      for (const q of gives[target[i]]) can[p * wanted.length + q] = 1;
  }
  return can;
}

/** Rules out choices that ask for what nobody can give, or that nobody can use; returns whether every chooser has one left. */
function dropUnsupported({ allowed, supplies, links }: PlanTables): boolean {
  const can = supplies.map(reachable);
  for (let changed = true; changed; ) {
    changed = false;
    for (const { supply, maker, taker, asked } of links) {
      const { made, wanted, madeCount } = supplies[supply];
      const isMade = new Uint8Array(madeCount);
      let isAbsent = false;
      made.forEach((p, c) => {
        if (allowed[maker][c] === 0) return;
        if (p === NOTHING) isAbsent = true;
        else isMade[p] = 1;
      });
      const gets = (q: number): boolean => isMade.some((is, p) => is === 1 && can[supply][p * wanted.length + q] === 1);
      const isGiven = wanted.map((_, q) => gets(q));
      const isAsked = new Uint8Array(wanted.length);
      let isNothing = false;
      asked.forEach((q, c) => {
        if (allowed[taker][c] === 0) return;
        if (q !== NOTHING && !isGiven[q]) {
          allowed[taker][c] = 0;
          changed = true;
        } else if (q === NOTHING) isNothing = true;
        else isAsked[q] = 1;
      });
      if (isNothing) continue;
      const isOfUse = Array.from({ length: madeCount }, (_, p) =>
        isAsked.some((is, q) => is === 1 && can[supply][p * wanted.length + q] === 1),
      );
      if (!isAbsent && !isOfUse.includes(false)) continue;
      made.forEach((p, c) => {
        if (allowed[maker][c] === 0 || (p !== NOTHING && isOfUse[p])) return;
        allowed[maker][c] = 0;
        changed = true;
      });
    }
    if (allowed.some((one) => !one.includes(1))) return false;
  }
  return true;
}

/**
 * Rules out choices than which another of the same chooser is never worse; of equals the first stays. What is worse than one that is
 * ruled out is worse than one that stays, so each is held against those only that use no more and are left; where all that a
 * chooser makes and takes is as it was before, nothing more is worse.
 */
function dropDominated(tables: PlanTables, before: PlanTables | undefined): void {
  const { problem, allowed, uses, resourceCount, takes, makes, links, supplies } = tables;
  const { mesh, choosers } = problem;
  const gives = supplies.map(noLessGiven(resourceCount));
  const isAsBefore = (s: number): boolean => before?.supplies[s].free === supplies[s].free;
  choosers.forEach((_, v) => {
    const isSame = makes[v].every(isAsBefore) && takes[v].every((e) => isAsBefore(links[e].supply));
    if (before !== undefined && isSame) return;
    const asksNoMore = (a: number, b: number): boolean =>
      takes[v].every((e) => {
        const { asked, supply } = links[e];
        const own = asked[a];
        if (own === NOTHING || own === asked[b]) return true;
        // another slot of the same supply may ask for as much
        return takes[v].some((other) => {
          const q = links[other].asked[b];
          const { wanted } = supplies[supply];
          return links[other].supply === supply && q !== NOTHING && isFree(mesh, wanted[q], wanted[own]);
        });
      });
    const givesNoLess = (a: number, b: number): boolean =>
      makes[v].every((s) => {
        const { made } = supplies[s];
        return made[b] === NOTHING || (made[a] !== NOTHING && gives[s](made[a], made[b]));
      });
    const isNoWorse = (a: number, b: number): boolean => asksNoMore(a, b) && givesNoLess(a, b);
    const own = uses[v];
    const comparedUses = (a: number, b: number): number => {
      for (let r = 0; r < resourceCount; r++) {
        const more = own[a * resourceCount + r] - own[b * resourceCount + r];
        if (more !== 0) return more;
      }
      return 0;
    };
    const inOrder = [...allowed[v].keys()]
      .filter((c) => allowed[v][c] === 1)
      .sort((a, b) => comparedUses(a, b) || a - b);
    const left: number[] = [];
    for (const c of inOrder) {
      let isWorse = false;
      for (let i = 0; i < left.length && !isWorse; i++) {
        const other = left[i];
        isWorse = noMore(own, other * resourceCount, own, c * resourceCount, resourceCount) && isNoWorse(other, c);
      }
      if (isWorse) {
        allowed[v][c] = 0;
        continue;
      }
      let first = left.length;
      while (first > 0 && comparedUses(left[first - 1], c) === 0) first--;
      for (const other of left.splice(first)) {
        if (isNoWorse(c, other)) allowed[v][other] = 0;
        else left.push(other);
      }
      left.push(c);
    }
  });
}

/** Returns whether all that one way of making a supply gives, another gives for no more. */
function noLessGiven(resourceCount: number): (supply: SupplyTable) => (a: number, b: number) => boolean {
  return ({ madeCount, wanted, free, copyOffset, target, gives, isGiven, uses }) => {
    /** [made x made] 1: it does, 2: it does not, 0: not decided yet. */
    const known = new Uint8Array(madeCount * madeCount);
    const decided = (a: number, b: number): boolean => {
      const width = wanted.length;
      for (let q = 0; q < width; q++) if (free[b * width + q] > free[a * width + q]) return false;
      for (let i = copyOffset[b]; i < copyOffset[b + 1]; i++) {
        const given = gives[target[i]];
        if (given.every((q) => free[a * width + q] === 1)) continue;
        let isMet = false;
        for (let k = copyOffset[a]; k < copyOffset[a + 1] && !isMet; k++) {
          isMet =
            noMore(uses, k * resourceCount, uses, i * resourceCount, resourceCount) &&
            given.every((q) => free[a * width + q] === 1 || isGiven[target[k] * width + q] === 1);
        }
        if (!isMet) return false;
      }
      return true;
    };
    return (a, b) => {
      if (a === b) return true;
      const at = a * madeCount + b;
      if (known[at] === 0) known[at] = decided(a, b) ? 1 : 2;
      return known[at] === 1;
    };
  };
}
