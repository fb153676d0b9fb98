/** A graph laid out in layers, every edge downwards (Sugiyama, Tagawa, Toda 1981). */

export interface LayeredNode {
  readonly width: number;
  readonly height: number;
}

/** Indices of nodes. */
export type LayeredEdge = readonly [from: number, to: number];

export interface LayeredGaps {
  /** Between neighbours of a layer, and between lines that pass beside them. */
  readonly beside: number;
  /** Between layers. */
  readonly below: number;
}

export interface LayeredLayout {
  /** [nodes] Middle of each. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** [nodes] */
  readonly layer: Int32Array;
  /** [edges] where each runs: from the lower end of one node to the upper end of the other, downwards; edges of one node share ways. */
  readonly ways: readonly (readonly (readonly [x: number, y: number])[])[];
  readonly width: number;
  readonly height: number;
}

/** What stands in a layer: nodes first, by their numbers, then places where edges pass. */
interface Ranks {
  readonly count: number;
  readonly layers: number[][];
  readonly layerOf: Int32Array;
  /** [things] those above and below. */
  readonly above: number[][];
  readonly below: number[][];
  /** [edges] things from the one node to the other. */
  readonly chains: readonly (readonly number[])[];
}

const SWEEPS = 12;
const STRAIGHTENINGS = 40;
const EVENINGS = 24;
/** How much more it counts that a line is straight between two passing places, or two nodes that have only each other. */
const STRAIGHT = 12;

/**
 * Returns nodes in layers by their longest way from the beginning; those that nothing leads to stand right above who takes them.
 * In a layer they are ordered by barycentres, sweeping up and down, the order of fewest crossings kept; then each is moved to the
 * middle of its neighbours as far as the others leave room (least squares, exact in a layer). Edges run between layers, and where
 * they pass a layer straight, through no node. Deterministic. Throws RangeError for a circle. O(sweeps x (edges x layers) log).
 */
export function layered(
  nodes: readonly LayeredNode[],
  edges: readonly LayeredEdge[],
  gaps: LayeredGaps,
): LayeredLayout {
  const layer = layersOf(nodes.length, edges);
  const ranks = ranksOf(nodes.length, edges, layer);
  order(ranks);
  const width = (thing: number): number => nodes[thing]?.width ?? 0;
  const x = placed(ranks, width, gaps.beside);
  const tops: number[] = [];
  const heights = ranks.layers.map((things) => Math.max(0, ...things.map((thing) => nodes[thing]?.height ?? 0)));
  let top = 0;
  for (const height of heights) {
    tops.push(top);
    top += height + gaps.below;
  }
  const middle = (at: number): number => (tops[at] as number) + (heights[at] as number) / 2;
  let [left, right] = [0, 0];
  if (ranks.count > 0) {
    left = Math.min(...Array.from(x, (at, thing) => at - width(thing) / 2));
    right = Math.max(...Array.from(x, (at, thing) => at + width(thing) / 2));
  }
  for (let thing = 0; thing < x.length; thing++) x[thing] -= left;
  const y = Float64Array.from(nodes, (_, node) => middle(layer[node] as number));
  const ways = ranks.chains.map((chain) =>
    chain.flatMap((thing, i): [number, number][] => {
      const at = x[thing] as number;
      const layerAt = ranks.layerOf[thing] as number;
      const [from, to] = [tops[layerAt] as number, (tops[layerAt] as number) + (heights[layerAt] as number)];
      const half = (nodes[thing]?.height ?? 0) / 2;
      if (i === 0) return ends([at, middle(layerAt) + half], [at, to]);
      if (i === chain.length - 1) return ends([at, from], [at, middle(layerAt) - half]);
      return ends([at, from], [at, to]);
    }),
  );
  return { x: x.slice(0, nodes.length), y, layer, ways, width: right - left, height: Math.max(0, top - gaps.below) };
}

/** Returns one point for two that are the same. */
const ends = (one: [number, number], other: [number, number]): [number, number][] =>
  one[1] === other[1] ? [one] : [one, other];

/** Returns [nodes] layers: the longest way from the beginning. */
function layersOf(count: number, edges: readonly LayeredEdge[]): Int32Array {
  const below: number[][] = Array.from({ length: count }, () => []);
  const waits = new Int32Array(count);
  for (const [from, to] of edges) {
    below[from]?.push(to);
    waits[to]++;
  }
  const isSource = waits.map((many) => Number(many === 0));
  const layer = new Int32Array(count);
  const open = Array.from({ length: count }, (_, node) => node).filter((node) => waits[node] === 0);
  for (const node of open) {
    for (const to of below[node] as number[]) {
      layer[to] = Math.max(layer[to] as number, (layer[node] as number) + 1);
      waits[to]--;
      if (waits[to] === 0) open.push(to);
    }
  }
  if (open.length < count) throw new RangeError("the graph has a circle");
  for (let node = 0; node < count; node++) {
    const to = below[node] as number[];
    if (isSource[node] === 1 && to.length > 0) layer[node] = Math.min(...to.map((one) => layer[one] as number)) - 1;
  }
  return layer;
}

/** Returns what stands in each layer, with a passing place in every layer between the ends of an edge, one for all edges of a node. */
function ranksOf(nodeCount: number, edges: readonly LayeredEdge[], layer: Int32Array): Ranks {
  const layers: number[][] = Array.from({ length: 1 + Math.max(-1, ...layer) }, () => []);
  const layerOf: number[] = [...layer];
  for (let node = 0; node < nodeCount; node++) layers[layer[node] as number]?.push(node);
  const above: number[][] = Array.from({ length: nodeCount }, () => []);
  const below: number[][] = Array.from({ length: nodeCount }, () => []);
  const join = (from: number, to: number): void => {
    if (below[from]?.includes(to)) return;
    below[from]?.push(to);
    above[to]?.push(from);
  };
  const passing = new Map<string, number>();
  const chains = edges.map(([from, to]) => {
    const chain = [from];
    for (let at = (layer[from] as number) + 1; at < (layer[to] as number); at++) {
      const key = `${from} ${at}`;
      const known = passing.get(key);
      const thing = known ?? layerOf.push(at) - 1;
      if (known === undefined) {
        passing.set(key, thing);
        layers[at]?.push(thing);
        above.push([]);
        below.push([]);
      }
      join(chain.at(-1) as number, thing);
      chain.push(thing);
    }
    join(chain.at(-1) as number, to);
    chain.push(to);
    return chain;
  });
  return { count: layerOf.length, layers, layerOf: Int32Array.from(layerOf), above, below, chains };
}

/** Orders the things of each layer so that few edges cross. */
function order({ count, layers, above, below }: Ranks): void {
  const place = new Float64Array(count);
  const number = (things: readonly number[]): void => {
    things.forEach((thing, at) => {
      place[thing] = at;
    });
  };
  for (const things of layers) number(things);
  let best = layers.map((things) => [...things]);
  let fewest = crossings(best, below, place);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    const down = sweep % 2 === 0;
    for (let i = 1; i < layers.length; i++) {
      const things = layers[down ? i : layers.length - 1 - i] as number[];
      const sides = down ? above : below;
      const wish = new Map(
        things.map((thing) => {
          const beside = sides[thing] as number[];
          const sum = beside.reduce((all, other) => all + (place[other] as number), 0);
          return [thing, beside.length === 0 ? (place[thing] as number) : sum / beside.length];
        }),
      );
      // those that wish the same stay as they are
      things.sort((a, b) => (wish.get(a) as number) - (wish.get(b) as number));
      number(things);
    }
    const now = crossings(layers, below, place);
    if (now < fewest) {
      fewest = now;
      best = layers.map((things) => [...things]);
    }
  }
  best.forEach((things, at) => {
    layers[at] = things;
  });
}

/** Returns how many pairs of edges between neighbouring layers cross. O(edges squared) of a layer. */
function crossings(layers: readonly (readonly number[])[], below: readonly number[][], place: Float64Array): number {
  let crossed = 0;
  for (const things of layers) {
    const ends = things.flatMap((thing) => (below[thing] as number[]).map((to) => [place[thing], place[to]] as const));
    for (let i = 0; i < ends.length; i++) {
      for (let j = 0; j < i; j++) {
        const [[a, b], [c, d]] = [ends[i], ends[j]] as [readonly [number, number], readonly [number, number]];
        if ((a - c) * (b - d) < 0) crossed++;
      }
    }
  }
  return crossed;
}

/** Returns [things] where each stands across. */
function placed(
  { count, layers, above, below }: Ranks,
  width: (thing: number) => number,
  beside: number,
): Float64Array {
  const x = new Float64Array(count);
  const apart = (left: number, right: number): number => (width(left) + width(right)) / 2 + beside;
  for (const things of layers) {
    things.forEach((thing, i) => {
      x[thing] = i === 0 ? 0 : (x[things[i - 1] as number] as number) + apart(things[i - 1] as number, thing);
    });
    const middle =
      things.length === 0 ? 0 : ((x[things[0] as number] as number) + (x[things.at(-1) as number] as number)) / 2;
    for (const thing of things) x[thing] -= middle;
  }
  const isOnly = (thing: number, other: number): boolean =>
    (above[thing]?.length === 1 && above[thing][0] === other && below[other]?.length === 1) ||
    (width(thing) === 0 && width(other) === 0);
  const isStraight = (thing: number, other: number): boolean => isOnly(thing, other) || isOnly(other, thing);
  for (let round = 0; round < STRAIGHTENINGS; round++) {
    const down = round % 2 === 0;
    // a sweep by one side straightens whole ways, the last ones even out both sides
    const isLate = round >= STRAIGHTENINGS - EVENINGS;
    for (let i = 0; i < layers.length; i++) {
      const things = layers[down ? i : layers.length - 1 - i] as number[];
      const wishes = things.map((thing) => {
        const sides = [above[thing] as number[], below[thing] as number[]];
        const first = (down ? sides[0] : sides[1]) as number[];
        let [sum, all] = [0, 0];
        for (const other of isLate || first.length === 0 ? sides.flat() : first) {
          const weight = isStraight(thing, other) ? STRAIGHT : 1;
          sum += weight * (x[other] as number);
          all += weight;
        }
        return all === 0 ? { at: x[thing] as number, weight: 1 } : { at: sum / all, weight: all };
      });
      spread(things, wishes, apart).forEach((at, k) => {
        x[things[k] as number] = at;
      });
    }
  }
  return x;
}

/**
 * Returns places as near to those that are wished as distances between neighbours allow: least weighted squares, by pooling neighbours
 * that would overlap (Ayer et al. 1955). O(things).
 */
function spread(
  things: readonly number[],
  wishes: readonly { readonly at: number; readonly weight: number }[],
  apart: (left: number, right: number) => number,
): number[] {
  let shift = 0;
  const shifts = things.map((thing, i) => {
    if (i > 0) shift += apart(things[i - 1] as number, thing);
    return shift;
  });
  const pools: { sum: number; weight: number; length: number }[] = [];
  wishes.forEach(({ at, weight }, i) => {
    let pool = { sum: weight * (at - (shifts[i] as number)), weight, length: 1 };
    for (
      let last = pools.at(-1);
      last !== undefined && last.sum / last.weight >= pool.sum / pool.weight;
      last = pools.at(-1)
    ) {
      pool = { sum: pool.sum + last.sum, weight: pool.weight + last.weight, length: pool.length + last.length };
      pools.pop();
    }
    pools.push(pool);
  });
  return pools
    .flatMap(({ sum, weight, length }) => Array<number>(length).fill(sum / weight))
    .map((at, i) => at + (shifts[i] as number));
}
