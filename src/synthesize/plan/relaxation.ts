import type { Costs } from "./covers.ts";
import { NOTHING, type PlanTables, type SupplyTable } from "./tables.ts";

/** Instead of what is impossible: more than any plan is worth, in units of the best known one. A bound stays one. */
const FORBIDDEN = 100;

/** A link whose ends are two choosers, with labels of its own: numbers of what is made, and of what is asked for; behind them "nothing", where a choice says so. */
interface Edge {
  readonly link: number;
  readonly maker: number;
  readonly taker: number;
  readonly madeCount: number;
  readonly askCount: number;
  /** Wanted patterns, by label. */
  readonly asks: Int32Array;
  /** [choices left of the maker], [choices left of the taker] */
  readonly madeOf: Int32Array;
  readonly askOf: Int32Array;
  /** [made x asks] what it costs where no copy is made: nothing, or FORBIDDEN; and what it costs. */
  readonly bare: Float64Array;
  readonly cost: Float64Array;
  /** [ways] a copy, and the pair that it gives. */
  readonly wayCopy: Int32Array;
  readonly wayPair: Int32Array;
  /** What was moved from the edge to its ends, [made], [asks]. */
  readonly toMaker: Float64Array;
  readonly toTaker: Float64Array;
  /** Part of each listed copy's cost that this link pays. */
  readonly share: Float64Array;
}

/** An edge as one of its ends sees it. */
interface Side {
  readonly edge: Edge;
  readonly other: number;
  readonly isMaker: boolean;
  /** [choices left] label, and what was moved to them, [labels]. */
  readonly of: Int32Array;
  readonly moved: Float64Array;
}

/** A bound that grows: costs are moved between choosers and links so that the sum of their least ones becomes greater. */
export interface Relaxation {
  /** Pairs of labels of all links, and ways of making copies that give one: what a pass looks at. */
  readonly size: number;
  /** Takes other costs; what was moved stays. */
  setCosts(costs: Costs): void;
  /** Moves costs forwards, then backwards; returns the choices that looked best on the way, [choosers]. */
  pass(): Int32Array;
  /** Returns a number that no plan costs less than. */
  bound(): number;
  /** Returns what is used where that bound is taken, [resources]: how it grows with each weight, nothing moved. */
  uses(): Float64Array;
  /** Lets those pay for copies that took them under some choices, and others less: by this part (0 .. 1). */
  share(choices: Int32Array, part: number): void;
  /** Returns, for each choice, a number that no plan with it costs less than, [choosers][choices]; Infinity of those ruled out. */
  withChoice(): Float64Array[];
  /** Returns the same of listed copies, [supplies][listed]. */
  withCopy(): Float64Array[];
}

/**
 * Returns the relaxation of a problem under costs: pairs of choosers that one link joins are looked at one by one, and a copy's
 * cost is dealt among its takers. It is the dual of the usual linear relaxation, and raised chooser by chooser
 * (Kolmogorov 2006 and 2015: sequential reweighted message passing). A pass takes O(sum over links of made x asked patterns).
 */
export function relaxation(tables: PlanTables, first: Costs): Relaxation {
  const { allowed, supplies, links } = tables;
  const left = allowed.map((one) => Int32Array.from([...one.keys()].filter((c) => one[c] === 1)));
  const edges: Edge[] = [];
  const selves: Edge[] = [];
  links.forEach(({ supply, maker, taker, asked }, link) => {
    const { made, madeCount, copy, links: all } = supplies[supply];
    const asks = [...new Set(Array.from(left[taker], (c) => asked[c]))].filter((q) => q !== NOTHING);
    const madeOf = left[maker].map((c) => (made[c] === NOTHING ? madeCount : made[c]));
    const askOf = left[taker].map((c) => (asked[c] === NOTHING ? asks.length : asks.indexOf(asked[c])));
    const [makes, takes] = [Math.max(...madeOf) + 1, Math.max(...askOf) + 1];
    const { bare, wayCopy, wayPair } = pricesOf(supplies[supply], asks, makes, takes);
    const edge: Edge = {
      link,
      maker,
      taker,
      madeCount: makes,
      askCount: takes,
      asks: Int32Array.from(asks),
      madeOf,
      askOf,
      bare,
      cost: Float64Array.from(bare),
      wayCopy,
      wayPair,
      toMaker: new Float64Array(makes),
      toTaker: new Float64Array(takes),
      share: new Float64Array(copy.length).fill(1 / all.length),
    };
    (maker === taker ? selves : edges).push(edge);
  });
  /** [choosers] sides of edges whose other ends come before them, and behind. */
  const below: Side[][] = left.map(() => []);
  const above: Side[][] = left.map(() => []);
  for (const edge of edges) {
    const { maker, taker, madeOf, askOf, toMaker, toTaker } = edge;
    (taker < maker ? below : above)[maker].push({ edge, other: taker, isMaker: true, of: madeOf, moved: toMaker });
    (maker < taker ? below : above)[taker].push({ edge, other: maker, isMaker: false, of: askOf, moved: toTaker });
  }
  const ofSupply: Edge[][] = supplies.map(() => []);
  for (const edge of [...edges, ...selves]) ofSupply[links[edge.link].supply].push(edge);
  const ownSelves = left.map((_, v) => selves.filter(({ taker }) => taker === v));
  let costs = first;
  let isPriced = false;
  /** Prices all edges, if costs or shares have changed. */
  const price = (): void => {
    if (isPriced) return;
    isPriced = true;
    for (const list of [edges, selves]) {
      for (const { link, bare, cost, wayCopy, wayPair, share } of list) {
        const copyCost = costs.copy[links[link].supply];
        cost.set(bare);
        for (let w = 0; w < wayCopy.length; w++) {
          const one = copyCost[wayCopy[w]] * share[wayCopy[w]];
          if (one < cost[wayPair[w]]) cost[wayPair[w]] = one;
        }
      }
    }
  };

  /** Writes what a chooser's choices cost by themselves, [choices left]. */
  const alone = (v: number, into: Float64Array): void => {
    const own = left[v];
    for (let i = 0; i < own.length; i++) into[i] = costs.choice[v][own[i]];
    for (const { madeOf, askOf, cost, askCount } of ownSelves[v])
      for (let i = 0; i < own.length; i++) into[i] += cost[madeOf[i] * askCount + askOf[i]];
  };
  const addMoved = (sides: readonly Side[], count: number, into: Float64Array): void => {
    for (const { of, moved } of sides) for (let i = 0; i < count; i++) into[i] += moved[of[i]];
  };
  /** Returns what a chooser's choices cost with all that was moved there, [choices left]. */
  const reduced = (v: number): Float64Array => {
    price();
    const sum = new Float64Array(left[v].length);
    alone(v, sum);
    addMoved(below[v], sum.length, sum);
    addMoved(above[v], sum.length, sum);
    return sum;
  };

  /** Writes, for each label of an end of an edge, the least that the edge costs with it, without what was moved to that end. */
  const writeLeast = (
    { madeCount, askCount, cost, toMaker, toTaker }: Edge,
    isMaker: boolean,
    least: Float64Array,
  ): void => {
    if (isMaker) {
      for (let p = 0; p < madeCount; p++) {
        let min = Number.POSITIVE_INFINITY;
        for (let a = 0, at = p * askCount; a < askCount; a++, at++) {
          const now = cost[at] - toTaker[a];
          if (now < min) min = now;
        }
        least[p] = min;
      }
      return;
    }
    least.fill(Number.POSITIVE_INFINITY);
    for (let p = 0; p < madeCount; p++) {
      const moved = toMaker[p];
      for (let a = 0, at = p * askCount; a < askCount; a++, at++) {
        const now = cost[at] - moved;
        if (now < least[a]) least[a] = now;
      }
    }
  };
  const leastAt = (edge: Edge, v: number): Float64Array => {
    price();
    const least = new Float64Array(edge.maker === v ? edge.madeCount : edge.askCount);
    writeLeast(edge, edge.maker === v, least);
    return least;
  };

  const chosen = new Int32Array(left.length);
  const most = left.reduce((all, own) => Math.max(all, own.length), 0);
  const [sum, single] = [new Float64Array(most), new Float64Array(most)];
  const mostLabels = edges.reduce((all, { madeCount, askCount }) => Math.max(all, madeCount, askCount), 0);
  const labelLeast = new Float64Array(mostLabels);
  const visit = (v: number, behind: readonly Side[], ahead: readonly Side[]): void => {
    const count = left[v].length;
    alone(v, sum);
    addMoved(ahead, count, sum);
    for (let i = 0; i < count; i++) single[i] = sum[i];
    for (const { edge, other, isMaker, of, moved } of behind) {
      writeLeast(edge, isMaker, moved);
      // what the edge costs where the other end has the label of its choice
      const { cost, askCount, madeOf, askOf, toMaker, toTaker } = edge;
      const label = (isMaker ? askOf : madeOf)[chosen[other]];
      const [from, by, off] = isMaker ? [label, askCount, toTaker[label]] : [label * askCount, 1, toMaker[label]];
      for (let i = 0; i < count; i++) {
        sum[i] += moved[of[i]];
        single[i] += cost[from + by * of[i]] - off;
      }
    }
    let best = 0;
    for (let i = 1; i < count; i++) if (single[i] < single[best]) best = i;
    chosen[v] = best;
    const part = 1 / Math.max(behind.length, ahead.length);
    for (const { of, moved } of ahead) {
      const labels = moved.length;
      for (let l = 0; l < labels; l++) labelLeast[l] = Number.POSITIVE_INFINITY;
      for (let i = 0; i < count; i++) if (sum[i] < labelLeast[of[i]]) labelLeast[of[i]] = sum[i];
      for (let l = 0; l < labels; l++) moved[l] -= part * labelLeast[l];
    }
  };
  const minOf = (values: Float64Array): number => {
    let min = Number.POSITIVE_INFINITY;
    for (const value of values) if (value < min) min = value;
    return min;
  };
  /** Least of an edge, what was moved taken off. */
  const edgeLeast = (edge: Edge): number => {
    const least = leastAt(edge, edge.maker);
    return minOf(least.map((value, p) => value - edge.toMaker[p]));
  };
  const bound = (): number => {
    price();
    let sum = 0;
    for (let v = 0; v < left.length; v++) sum += minOf(reduced(v));
    for (const edge of edges) sum += edgeLeast(edge);
    return sum;
  };

  /** Adds what the least labels of an edge use. */
  const addEdgeUses = (edge: Edge, made: number, ask: number, into: Float64Array): void => {
    const { supply } = links[edge.link];
    const { madeCount, wanted, free, copyOffset, target, isGiven, uses } = supplies[supply];
    const q = edge.asks[ask];
    if (made >= madeCount || ask >= edge.asks.length || free[made * wanted.length + q] === 1) return;
    let best = NOTHING;
    for (let i = copyOffset[made]; i < copyOffset[made + 1]; i++) {
      if (isGiven[target[i] * wanted.length + q] === 0) continue;
      const cost = costs.copy[supply][i] * edge.share[i];
      if (best === NOTHING || cost < costs.copy[supply][best] * edge.share[best]) best = i;
    }
    if (best === NOTHING) return;
    const { resourceCount } = tables;
    for (let r = 0; r < resourceCount; r++) into[r] += uses[best * resourceCount + r] * edge.share[best];
  };
  const indexOfLeast = (values: Float64Array): number => {
    let best = 0;
    for (let i = 1; i < values.length; i++) if (values[i] < values[best]) best = i;
    return best;
  };
  const usesAtBound = (): Float64Array => {
    price();
    const sum = new Float64Array(tables.resourceCount);
    left.forEach((own, v) => {
      const i = indexOfLeast(reduced(v));
      for (let r = 0; r < sum.length; r++) sum[r] += tables.uses[v][own[i] * sum.length + r];
      for (const edge of selves) if (edge.taker === v) addEdgeUses(edge, edge.madeOf[i], edge.askOf[i], sum);
    });
    for (const edge of edges) {
      const { askCount, cost, toMaker, toTaker, maker } = edge;
      const made = indexOfLeast(leastAt(edge, maker).map((value, p) => value - toMaker[p]));
      const row = cost.slice(made * askCount, (made + 1) * askCount).map((value, a) => value - toTaker[a]);
      addEdgeUses(edge, made, indexOfLeast(row), sum);
    }
    return sum;
  };

  return {
    size: [...edges, ...selves].reduce((all, { cost, wayCopy }) => all + cost.length + wayCopy.length, 0),
    uses: usesAtBound,
    setCosts: (next) => {
      costs = next;
      isPriced = false;
    },
    pass: () => {
      price();
      for (let v = 0; v < left.length; v++) visit(v, below[v], above[v]);
      for (let v = left.length - 1; v >= 0; v--) visit(v, above[v], below[v]);
      return Int32Array.from(chosen, (i, v) => left[v][i]);
    },
    bound,
    share: (choices, part) => {
      supplies.forEach((supply, s) => {
        const p = supply.made[choices[supply.chooser]];
        if (supply.links.length < 2 || p === NOTHING) return;
        const ours = ofSupply[s];
        const width = supply.wanted.length;
        const takers: { readonly edge: Edge; readonly copy: number }[] = [];
        for (const edge of ours) {
          const q = links[edge.link].asked[choices[edge.taker]];
          if (q === NOTHING || supply.free[p * width + q] === 1) continue;
          let best = NOTHING;
          for (let i = supply.copyOffset[p]; i < supply.copyOffset[p + 1]; i++) {
            if (supply.isGiven[supply.target[i] * width + q] === 0) continue;
            if (best === NOTHING || costs.copy[s][i] * edge.share[i] < costs.copy[s][best] * edge.share[best]) best = i;
          }
          if (best !== NOTHING) takers.push({ edge, copy: best });
        }
        for (const copy of new Set(takers.map((one) => one.copy))) {
          const paying = takers.filter((one) => one.copy === copy).map((one) => one.edge);
          for (const edge of ours) {
            const aim = paying.includes(edge) ? 1 / paying.length : 0;
            edge.share[copy] += part * (aim - edge.share[copy]);
          }
        }
      });
      isPriced = false;
    },
    withChoice: () => {
      const least = bound();
      const result = allowed.map((one) => new Float64Array(one.length).fill(Number.POSITIVE_INFINITY));
      left.forEach((own, v) => {
        const sum = reduced(v);
        const min = minOf(sum);
        const sides = [...below[v], ...above[v]].map(({ edge, of, moved }) => {
          const values = leastAt(edge, v).map((value, l) => value - moved[l]);
          return { of, values, min: minOf(values) };
        });
        own.forEach((c, i) => {
          let value = least + sum[i] - min;
          for (const side of sides) value += side.values[side.of[i]] - side.min;
          result[v][c] = value;
        });
      });
      return result;
    },
    withCopy: () => {
      const least = bound();
      const result = supplies.map(({ copy }) => new Float64Array(copy.length).fill(Number.POSITIVE_INFINITY));
      const known = new Set(selves.map(({ link }) => links[link].supply));
      for (const s of known) result[s].fill(least);
      for (const edge of edges) {
        const s = links[edge.link].supply;
        const { copyOffset, target, gives, wanted } = supplies[s];
        const at = new Int32Array(wanted.length).fill(NOTHING);
        edge.asks.forEach((q, a) => {
          at[q] = a;
        });
        const min = edgeLeast(edge);
        for (let p = 0; p + 1 < copyOffset.length; p++) {
          for (let i = copyOffset[p]; i < copyOffset[p + 1]; i++) {
            const own = costs.copy[s][i] * edge.share[i];
            for (const q of gives[target[i]]) {
              if (at[q] === NOTHING) continue;
              const value = least + own - edge.toMaker[p] - edge.toTaker[at[q]] - min;
              if (value < result[s][i]) result[s][i] = value;
            }
          }
        }
      }
      return result;
    },
  };
}

/** Returns what an edge costs where no copy is made, [made x asks], and all ways of making one that gives what is asked for. */
function pricesOf(
  { madeCount, wanted, free, copyOffset, target, gives }: SupplyTable,
  asks: readonly number[],
  makes: number,
  takes: number,
): Pick<Edge, "bare" | "wayCopy" | "wayPair"> {
  const bare = new Float64Array(makes * takes).fill(FORBIDDEN);
  const labelOf = new Int32Array(wanted.length).fill(NOTHING);
  asks.forEach((q, a) => {
    labelOf[q] = a;
  });
  const wayCopy: number[] = [];
  const wayPair: number[] = [];
  const madeHere = Math.min(madeCount, makes);
  for (let p = 0; p < madeHere; p++) {
    for (let a = 0; a < asks.length; a++) if (free[p * wanted.length + asks[a]] === 1) bare[p * takes + a] = 0;
    for (let i = copyOffset[p]; i < copyOffset[p + 1]; i++) {
      for (const q of gives[target[i]]) {
        if (labelOf[q] === NOTHING || free[p * wanted.length + q] === 1) continue;
        wayCopy.push(i);
        wayPair.push(p * takes + labelOf[q]);
      }
    }
  }
  if (takes > asks.length) for (let p = 0; p < makes; p++) bare[p * takes + asks.length] = 0;
  return { bare, wayCopy: Int32Array.from(wayCopy), wayPair: Int32Array.from(wayPair) };
}
