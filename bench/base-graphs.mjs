// The search for the graphs of figures A.8 and A.9 (Zhao 2026), after `npm run build:ts`: node bench/base-graphs.mjs
// Prints every candidate with the figures that tables A.1 and A.3 tell of it; deterministic, some minutes.
import { openHighs } from "../dist/engine/milp/highs.js";

const lp = await openHighs();
const range = (n) => Array.from({ length: n }, (_, i) => i);

/** Returns all permutations of a list, in order. */
function permutations(list) {
  if (list.length < 2) return [list];
  return list.flatMap((head, i) =>
    permutations([...list.slice(0, i), ...list.slice(i + 1)]).map((tail) => [head, ...tail]),
  );
}

/** Returns distances[from][to] of a graph given as targets of each node. */
function distances(out) {
  return out.map((_, root) => {
    const distance = new Array(out.length).fill(Infinity);
    distance[root] = 0;
    for (const queue = [root]; queue.length > 0; ) {
      const v = queue.shift();
      for (const w of out[v]) {
        if (distance[w] < Infinity) continue;
        distance[w] = distance[v] + 1;
        queue.push(w);
      }
    }
    return distance;
  });
}

const transposed = (out) => out.map((_, v) => range(out.length).filter((u) => out[u].includes(v)));

/** Returns L(G) of a simple graph: node i is arc i. */
function lineGraph(out) {
  const first = out.map((_, v) => out.slice(0, v).reduce((sum, to) => sum + to.length, 0));
  return out.flatMap((to) => to.map((w) => out[w].map((_, k) => first[w] + k)));
}

/** Returns the least text of a strongly connected graph over all ways to walk it breadth first: equal for isomorphic ones. */
function canonical(out) {
  const orders = permutations(range(out[0].length));
  let least = null;
  const walk = (label, queue, done, text) => {
    if (least !== null && text > least.slice(0, text.length)) return;
    if (done === queue.length) {
      if (least === null || text < least) least = text;
      return;
    }
    const seen = new Set();
    for (const order of orders) {
      const targets = order.map((k) => out[queue[done]][k]);
      const fresh = targets.filter((w) => !label.has(w));
      if (seen.has(fresh.join())) continue;
      seen.add(fresh.join());
      const labels = new Map(label);
      for (const w of fresh) labels.set(w, labels.size);
      const words = targets.map((w) => labels.get(w)).sort((a, b) => a - b);
      walk(labels, [...queue, ...fresh], done + 1, text + String.fromCharCode(...words.map((w) => 48 + w)));
    }
  };
  for (const root of range(out.length)) walk(new Map([[root, 0]]), [root], 0, "");
  return least;
}

const isReverseSymmetric = (out) => canonical(out) === canonical(transposed(out));

/** Returns f of (A.1) with unit links; maps are a group of automorphisms, [map][node], of which one root per orbit is solved. */
function allToAllRate(out, maps = [range(out.length)]) {
  const arcs = out.flatMap((to, v) => to.map((w) => [v, w]));
  const idOf = new Map(arcs.map(([v, w], arc) => [v * out.length + w, arc]));
  const orbitOf = arcs.map(([v, w]) => Math.min(...maps.map((map) => idOf.get(map[v] * out.length + map[w]))));
  const orbits = [...new Set(orbitOf)];
  const roots = range(out.length).filter((v) => maps.every((map) => map[v] >= v));
  const orbitSize = (v) => new Set(maps.map((map) => map[v])).size;
  const rows = { lower: [], upper: [], offset: [0], column: [], value: [] };
  const addRow = (lower, upper, entries) => {
    for (const [column, value] of entries) {
      rows.column.push(column);
      rows.value.push(value);
    }
    rows.offset.push(rows.column.length);
    rows.lower.push(lower);
    rows.upper.push(upper);
  };
  const f = roots.length * arcs.length;
  for (const orbit of orbits) {
    const members = range(arcs.length).filter((arc) => orbitOf[arc] === orbit);
    const load = roots.flatMap((root, i) => members.map((arc) => [i * arcs.length + arc, orbitSize(root)]));
    addRow(-Infinity, members.length, load);
  }
  roots.forEach((root, i) => {
    for (const u of range(out.length)) {
      if (u === root) continue;
      const flow = arcs.flatMap(([v, w], arc) =>
        v === u ? [[i * arcs.length + arc, 1]] : w === u ? [[i * arcs.length + arc, -1]] : [],
      );
      addRow(-Infinity, 0, [[f, 1], ...flow]);
    }
  });
  const columns = f + 1;
  const objective = new Float64Array(columns);
  objective[f] = 1;
  const { status, objective: rate } = lp.solve({
    objective,
    lower: new Float64Array(columns),
    upper: new Float64Array(columns).fill(Infinity),
    rows: {
      lower: Float64Array.from(rows.lower),
      upper: Float64Array.from(rows.upper),
      offset: Int32Array.from(rows.offset),
      column: Int32Array.from(rows.column),
      value: Float64Array.from(rows.value),
    },
  });
  if (status !== "optimal") throw new Error(`rate of an all-to-all: ${status}`);
  return rate;
}

/** Yields every strongly connected simple digraph with two arcs each way, once or more, nodes in order of a breadth-first walk. */
function* twoRegular(nodes, out = [], known = 1, entering = new Array(nodes).fill(0)) {
  if (out.length === nodes) return yield out;
  const v = out.length;
  if (v >= known) return;
  for (let a = 0; a <= known && a < nodes; a++) {
    for (let b = a + 1; b <= Math.max(known, a + 1) && b < nodes; b++) {
      if (a === v || b === v || entering[a] > 1 || entering[b] > 1) continue;
      const next = entering.slice();
      next[a]++;
      next[b]++;
      yield* twoRegular(nodes, [...out, [a, b]], Math.max(known, b + 1), next);
    }
  }
}

/** Returns DBJ(d, n) with its loops and 2-cycles replaced by the cycle; null where an arc would be there twice. */
function rewired(d, n, cycle) {
  const nodes = d ** n;
  const deBruijn = range(nodes).map((v) => range(d).map((letter) => (d * v + letter) % nodes));
  const out = deBruijn.map((to, v) => to.filter((w) => w !== v && !deBruijn[w].includes(v)));
  cycle.forEach((v, i) => {
    out[v].push(cycle[(i + 1) % cycle.length]);
  });
  return out.every((to) => new Set(to).size === d) ? out : null;
}

/** Yields the cycles through all words of two letters out of d that stay the same when all letters are raised by one. */
function* turningCycles(d) {
  for (const order of permutations(range(d).slice(1))) {
    const kinds = [0, ...order];
    for (let code = 0; code < d ** d; code++) {
      const shift = kinds.map((kind) => Math.floor(code / d ** (d - 1 - kind)) % d);
      const cycle = [];
      for (let i = 0, x = 0; i < d * d; x = (x + shift[i % d]) % d, i++) {
        cycle.push(x * d + ((x + kinds[i % d]) % d));
      }
      if (new Set(cycle).size === d * d) yield cycle;
    }
  }
}

function print(what, out, ...figures) {
  const greatest = Math.max(...distances(out).flat());
  console.log([what, `diameter ${greatest}`, ...figures.map((figure) => figure.toPrecision(5))].join("  "));
}

console.log("Diamond: no reverse symmetry, f(Diamond^2) = f(Diamond) / 8 printed as 1.87e-2");
const seen = new Set();
for (const out of twoRegular(8)) {
  if (Math.max(...distances(out).flat()) > 3) continue;
  const name = canonical(out);
  if (seen.has(name)) continue;
  seen.add(name);
  const square = allToAllRate(out) / 8;
  // 3/160 lies between the two roundings
  if (square > 0.018649 && square < 0.0187501 && !isReverseSymmetric(out)) print(JSON.stringify(out), out, square);
}
console.log(`of ${seen.size} graphs of diameter 3`);

for (const n of [3, 4]) {
  console.log(`DBJMod(2,${n}): f of the square${n === 4 ? ", 2.94e-3, diameter 4, no reverse symmetry" : ""}`);
  const last = 2 ** n - 1;
  const [low, high] = n === 3 ? [2, 5] : [5, 10];
  for (const order of permutations([low, high, last])) {
    const out = rewired(2, n, [0, ...order]);
    const symmetry = isReverseSymmetric(out) ? "reverse-symmetric" : "not reverse-symmetric";
    print(`0 ${order.join(" ")}  ${symmetry}`, out, allToAllRate(out) / 2 ** n);
  }
}

for (const [d, asked] of [
  [3, "diameter, f, sum of distances"],
  [4, "f, sum of distances, f of the line graph: 2.21e-2, diameter 3"],
]) {
  console.log(`DBJMod(${d},2), cycles that turn with the letters, none reverse-symmetric: ${asked}`);
  const turns = range(d).map((k) => range(d * d).map((v) => ((Math.floor(v / d) + k) % d) * d + (((v % d) + k) % d)));
  const names = new Set();
  for (const cycle of turningCycles(d)) {
    const out = rewired(d, 2, cycle);
    if (out === null || names.has(canonical(out)) || isReverseSymmetric(out)) continue;
    names.add(canonical(out));
    const sum =
      distances(out)
        .flat()
        .reduce((a, b) => a + b) / out.length;
    const figures = [allToAllRate(out, turns), sum];
    if (d === 3) print(cycle.join(" "), out, ...figures);
    else if (Math.max(...distances(out).flat()) === 3) {
      const arcs = out.flatMap((to, v) => to.map((w) => [v, w]));
      const arcTurns = turns.map((map) =>
        arcs.map(([v, w]) => arcs.findIndex(([a, b]) => a === map[v] && b === map[w])),
      );
      const line = allToAllRate(lineGraph(out), arcTurns);
      if (line > 0.02205 && line < 0.02215) print(cycle.join(" "), out, ...figures, line);
    }
  }
}
