import { type Costs, pairCosts } from "./covers.ts";
import { NOTHING, type PlanTables } from "./tables.ts";

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
  /** [made x asks] */
  readonly cost: Float64Array;
  /** What was moved from the edge to its ends, [made], [asks]. */
  readonly toMaker: Float64Array;
  readonly toTaker: Float64Array;
  /** Part of each listed copy's cost that this link pays. */
  readonly share: Float64Array;
}

/** A bound that grows: costs are moved between choosers and links so that the sum of their least ones becomes greater. */
export interface Relaxation {
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
    const edge: Edge = {
      link,
      maker,
      taker,
      madeCount: makes,
      askCount: takes,
      asks: Int32Array.from(asks),
      madeOf,
      askOf,
      cost: new Float64Array(makes * takes),
      toMaker: new Float64Array(makes),
      toTaker: new Float64Array(takes),
      share: new Float64Array(copy.length).fill(1 / all.length),
    };
    (maker === taker ? selves : edges).push(edge);
  });
  const edgesOf: number[][] = left.map(() => []);
  edges.forEach(({ maker, taker }, e) => {
    edgesOf[maker].push(e);
    edgesOf[taker].push(e);
  });
  let costs = first;

  const price = (edge: Edge): void => {
    const { supply } = links[edge.link];
    // the only link pays for all
    const isOnly = supplies[supply].links.length === 1;
    const pair = isOnly
      ? costs.pair[supply].cost
      : pairCosts(
          supplies[supply],
          costs.copy[supply].map((cost, i) => cost * edge.share[i]),
        ).cost;
    const width = supplies[supply].wanted.length;
    const { askCount, asks, cost } = edge;
    const { madeCount } = supplies[supply];
    cost.fill(FORBIDDEN);
    for (let p = 0; p < madeCount; p++) {
      for (let a = 0; a < asks.length; a++) cost[p * askCount + a] = Math.min(pair[p * width + asks[a]], FORBIDDEN);
    }
    if (askCount > asks.length) for (let p = 0; p < edge.madeCount; p++) cost[p * askCount + asks.length] = 0;
  };
  const priceAll = (): void => {
    edges.forEach(price);
    selves.forEach(price);
  };
  priceAll();

  /** Returns what a chooser's choices cost with all that was moved there, [choices left]. */
  const reduced = (v: number): Float64Array => {
    const sum = Float64Array.from(left[v], (c) => costs.choice[v][c]);
    for (const { taker, madeOf, askOf, cost, askCount } of selves) {
      if (taker === v) for (let i = 0; i < sum.length; i++) sum[i] += cost[madeOf[i] * askCount + askOf[i]];
    }
    for (const e of edgesOf[v]) {
      const { maker, madeOf, askOf, toMaker, toTaker } = edges[e];
      const [of, moved] = maker === v ? [madeOf, toMaker] : [askOf, toTaker];
      for (let i = 0; i < sum.length; i++) sum[i] += moved[of[i]];
    }
    return sum;
  };

  /** Returns, for each label of an end of an edge, the least that the edge costs with it, without what was moved to that end. */
  const leastAt = ({ maker, madeCount, askCount, cost, toMaker, toTaker }: Edge, v: number): Float64Array => {
    if (maker === v) {
      const least = new Float64Array(madeCount);
      for (let p = 0; p < madeCount; p++) {
        let min = Number.POSITIVE_INFINITY;
        for (let a = 0; a < askCount; a++) min = Math.min(min, cost[p * askCount + a] - toTaker[a]);
        least[p] = min;
      }
      return least;
    }
    const least = new Float64Array(askCount).fill(Number.POSITIVE_INFINITY);
    for (let p = 0; p < madeCount; p++) {
      const moved = toMaker[p];
      for (let a = 0; a < askCount; a++) {
        const now = cost[p * askCount + a] - moved;
        if (now < least[a]) least[a] = now;
      }
    }
    return least;
  };

  const chosen = new Int32Array(left.length);
  /** Costs of an edge for the labels of v, where the other end has the label of its choice. */
  const costWith = ({ maker, taker, madeOf, askOf, askCount, cost, toMaker, toTaker }: Edge, v: number) => {
    if (maker === v) {
      const a = askOf[chosen[taker]];
      return (p: number): number => cost[p * askCount + a] - toTaker[a];
    }
    const p = madeOf[chosen[maker]];
    return (a: number): number => cost[p * askCount + a] - toMaker[p];
  };
  const visit = (v: number, isBehind: (other: number) => boolean): void => {
    const sides = edgesOf[v].map((e) => {
      const edge = edges[e];
      const isMaker = edge.maker === v;
      return {
        edge,
        of: isMaker ? edge.madeOf : edge.askOf,
        moved: isMaker ? edge.toMaker : edge.toTaker,
        behind: isBehind(isMaker ? edge.taker : edge.maker),
      };
    });
    const behind = sides.filter((side) => side.behind);
    const ahead = sides.filter((side) => !side.behind);
    for (const { moved } of behind) moved.fill(0);
    const alone = reduced(v);
    const sum = Float64Array.from(alone);
    for (const { edge, of, moved } of behind) {
      moved.set(leastAt(edge, v));
      const known = costWith(edge, v);
      for (let i = 0; i < sum.length; i++) {
        sum[i] += moved[of[i]];
        alone[i] += known(of[i]);
      }
    }
    let best = 0;
    for (let i = 1; i < alone.length; i++) if (alone[i] < alone[best]) best = i;
    chosen[v] = best;
    const part = 1 / Math.max(behind.length, ahead.length);
    for (const { of, moved } of ahead) {
      const least = new Float64Array(moved.length).fill(Number.POSITIVE_INFINITY);
      for (let i = 0; i < sum.length; i++) if (sum[i] < least[of[i]]) least[of[i]] = sum[i];
      for (let l = 0; l < least.length; l++) moved[l] -= part * least[l];
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
    uses: usesAtBound,
    setCosts: (next) => {
      costs = next;
      priceAll();
    },
    pass: () => {
      for (let v = 0; v < left.length; v++) visit(v, (other) => other < v);
      for (let v = left.length - 1; v >= 0; v--) visit(v, (other) => other > v);
      return Int32Array.from(chosen, (i, v) => left[v][i]);
    },
    bound,
    share: (choices, part) => {
      supplies.forEach((supply, s) => {
        const p = supply.made[choices[supply.chooser]];
        if (supply.links.length < 2 || p === NOTHING) return;
        const ours = [...edges, ...selves].filter(({ link }) => links[link].supply === s);
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
        for (const edge of ours) price(edge);
      });
    },
    withChoice: () => {
      const least = bound();
      const result = allowed.map((one) => new Float64Array(one.length).fill(Number.POSITIVE_INFINITY));
      left.forEach((own, v) => {
        const sum = reduced(v);
        const min = minOf(sum);
        const sides = edgesOf[v].map((e) => {
          const edge = edges[e];
          const [of, moved] = edge.maker === v ? [edge.madeOf, edge.toMaker] : [edge.askOf, edge.toTaker];
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
