import type { MilpProblem, MilpSize } from "../../engine/contract/programs.ts";
import { programDraft } from "../program-draft.ts";
import type { Standing } from "./local.ts";
import { NOTHING, type PlanTables, reachable, type SupplyTable } from "./tables.ts";

/** A plan as an integer program: what it takes is to be little. */
export interface PlanProgram {
  /** Its objective is what a plan takes, negative, in units of `unitPs`. */
  readonly problem: MilpProblem;
  /** Returns the choices, [choosers], and the listed copies, [supplies], of a point of the program. */
  planOf(primal: Float64Array): Pick<Standing, "choices" | "copies">;
}

type Entry = readonly [column: number, value: number];

/** Returns about how large the program of a problem is, before it is built. O(copies). */
export function planProgramSize({ allowed, supplies, links }: PlanTables): MilpSize {
  const choices = allowed.reduce((sum, one) => sum + one.reduce((a, b) => a + b, 0), 0);
  const copies = supplies.reduce(
    (sum, { copy, links: all }) => sum + (all.length > 1 ? all.length + 1 : 1) * copy.length,
    0,
  );
  const labels = links.reduce(
    (sum, { supply }) => sum + supplies[supply].madeCount + supplies[supply].wanted.length,
    0,
  );
  const extra = supplies.reduce(
    (sum, { copy, links: all }) => sum + (all.length > 1 ? all.length * copy.length : 0),
    0,
  );
  return {
    columns: choices + copies + 2 * labels,
    rows: 2 * labels + extra,
    entries: 6 * choices + 4 * copies + 4 * labels,
  };
}

/**
 * Returns the program of a problem (after Zheng et al. 2022, Alpa, section 4.2, whose costs between operators are pairs; here what
 * is brought somewhere is there for all who take it): a column for each choice and each copy, and for each link a flow from what
 * is made through copies to what is asked for, which says no more than a column for every pair would and is as tight. A copy
 * carries as much of every link's flow as there is of it. Times are in units of `unitPs`, memory in units of what there is.
 */
export function planProgram(tables: PlanTables, unitPs: number, start: Standing | null): PlanProgram {
  const { problem, allowed, uses, supplies, links, resourceCount } = tables;
  const { resources, base } = problem;
  const draft = programDraft();
  const known: Entry[] = [];
  const used: Entry[][] = resources.map(() => []);
  const pay = (column: number, amounts: Float64Array, at: number): void => {
    for (let r = 0; r < resourceCount; r++) if (amounts[at + r] > 0) used[r].push([column, amounts[at + r]]);
  };
  const columns = allowed.map((one, v) => {
    const own = Int32Array.from(one, (is, c) => {
      if (is === 0) return NOTHING;
      const column = draft.column(0, 1, true);
      pay(column, uses[v], c * resourceCount);
      if (start !== null) known.push([column, start.choices[v] === c ? 1 : 0]);
      return column;
    });
    draft.row(
      1,
      1,
      [...own].filter((column) => column !== NOTHING).map((column): Entry => [column, 1]),
    );
    return own;
  });
  /** Returns a column for each label of a chooser's choices, by label: how much of it is chosen. */
  const labelled = (v: number, labels: Int32Array): Map<number, number> => {
    const by = new Map<number, number[]>();
    columns[v].forEach((column, c) => {
      if (column === NOTHING) return;
      const list = by.get(labels[c]);
      if (list === undefined) by.set(labels[c], [column]);
      else list.push(column);
    });
    return new Map(
      [...by].map(([label, list]) => {
        if (list.length === 1) return [label, list[0]];
        const sum = draft.column(0, 1, false);
        draft.row(0, 0, [[sum, -1], ...list.map((column): Entry => [column, 1])]);
        return [label, sum];
      }),
    );
  };
  const copyColumns = supplies.map(({ copy }) => new Int32Array(copy.length));
  supplies.forEach((supply, s) => {
    if (supply.links.length === 0) return;
    const isMade = labelled(supply.chooser, supply.made);
    const taken = start?.copies[s] ?? [];
    const copies = copyColumns[s];
    supply.copy.forEach((_, i) => {
      const column = draft.column(0, 1, true);
      pay(column, supply.uses, i * resourceCount);
      if (start !== null) known.push([column, taken.includes(i) ? 1 : 0]);
      copies[i] = column;
    });
    for (const e of supply.links) {
      const { maker, taker, asked } = links[e];
      if (maker === taker) selfRows(supply, asked, columns[taker], copies);
      else flowRows(supply, isMade, labelled(taker, asked), copies);
    }
  });

  function selfRows(supply: SupplyTable, asked: Int32Array, own: Int32Array, copies: Int32Array): void {
    const can = reachable(supply);
    const by = new Map<number, Entry[]>();
    asked.forEach((q, c) => {
      if (own[c] === NOTHING || q === NOTHING) return;
      const pair = supply.made[c] * supply.wanted.length + q;
      if (supply.made[c] === NOTHING || can[pair] === 0) draft.forbid(own[c]);
      else if (supply.free[pair] === 0) by.set(pair, [...(by.get(pair) ?? []), [own[c], 1]]);
    });
    for (const [pair, list] of by) {
      const p = Math.floor(pair / supply.wanted.length);
      for (let i = supply.copyOffset[p]; i < supply.copyOffset[p + 1]; i++) {
        if (supply.isGiven[supply.target[i] * supply.wanted.length + (pair % supply.wanted.length)] === 1)
          list.push([copies[i], -1]);
      }
      draft.row(Number.NEGATIVE_INFINITY, 0, list);
    }
  }

  function flowRows(
    { wanted, free, copyOffset, target, gives, links: all }: SupplyTable,
    isMade: ReadonlyMap<number, number>,
    isAsked: ReadonlyMap<number, number>,
    copies: Int32Array,
  ): void {
    const arriving = new Map<number, Entry[]>([...isAsked].map(([q, column]) => [q, [[column, -1]]]));
    const stops = new Map<string, { readonly asks: readonly number[]; readonly entries: Entry[] }>();
    const arrive = (column: number, asks: readonly number[]): void => {
      if (asks.length === 1) {
        arriving.get(asks[0])?.push([column, 1]);
        return;
      }
      const key = asks.join();
      const stop = stops.get(key) ?? { asks, entries: [] };
      stop.entries.push([column, 1]);
      stops.set(key, stop);
    };
    const asksOf = gives.map((list) => [...list].filter((q) => isAsked.has(q)));
    for (const [p, column] of isMade) {
      const leaving: Entry[] = [[column, -1]];
      const leave = (asks: readonly number[], flow = draft.column(0, 1, false)): void => {
        leaving.push([flow, 1]);
        arrive(flow, asks);
      };
      if (isAsked.has(NOTHING)) leave([NOTHING]);
      if (p !== NOTHING) {
        const here = [...isAsked.keys()].filter((q) => q !== NOTHING && free[p * wanted.length + q] === 1);
        if (here.length > 0) leave(here);
        for (let i = copyOffset[p]; i < copyOffset[p + 1]; i++) {
          const asks = asksOf[target[i]].filter((q) => !here.includes(q));
          if (asks.length === 0) continue;
          if (all.length === 1) leave(asks, copies[i]);
          else {
            const flow = draft.column(0, 1, false);
            draft.row(Number.NEGATIVE_INFINITY, 0, [
              [flow, 1],
              [copies[i], -1],
            ]);
            leave(asks, flow);
          }
        }
      }
      draft.row(0, 0, leaving);
    }
    for (const { asks, entries } of stops.values()) {
      for (const q of asks) {
        const flow = draft.column(0, 1, false);
        entries.push([flow, -1]);
        arriving.get(q)?.push([flow, 1]);
      }
      draft.row(0, 0, entries);
    }
    for (const entries of arriving.values()) draft.row(0, 0, entries);
  }

  const time = draft.column(0, Number.POSITIVE_INFINITY, false);
  resources.forEach(({ kind, limit }, r) => {
    const unit = kind === "time" ? unitPs : limit > 0 ? limit : 1;
    const entries = used[r].map(([column, amount]): Entry => [column, amount / unit]);
    if (kind === "time") draft.row(Number.NEGATIVE_INFINITY, -base[r] / unit, [[time, -1], ...entries]);
    else if (limit < Number.POSITIVE_INFINITY) draft.row(Number.NEGATIVE_INFINITY, (limit - base[r]) / unit, entries);
  });
  const objective = new Float64Array(draft.count());
  objective[time] = -1;
  const point = new Float64Array(draft.count()).fill(Number.NaN);
  for (const [column, value] of known) point[column] = value;
  const milp = draft.problem(objective);
  return {
    problem: start === null ? milp : { ...milp, start: point },
    planOf: (primal) => {
      const choices = Int32Array.from(columns, (own) => {
        let best = NOTHING;
        own.forEach((column, c) => {
          if (column !== NOTHING && (best === NOTHING || primal[column] > primal[own[best]])) best = c;
        });
        return best;
      });
      const copies = supplies.map(({ chooser, made, copyOffset }, s) => {
        const p = made[choices[chooser]];
        if (p === NOTHING) return [];
        const own = Array.from({ length: copyOffset[p + 1] - copyOffset[p] }, (_, i) => copyOffset[p] + i);
        return own.filter((i) => primal[copyColumns[s][i]] > 0.5);
      });
      return { choices, copies };
    },
  };
}
