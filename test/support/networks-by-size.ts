import { InputError } from "../../src/base/errors.ts";
import { type Construction, constructionText, graphOf, sizeOf } from "../../src/model/direct/construction.ts";
import { arcSources, type Digraph } from "../../src/model/direct/digraph.ts";
import { family } from "../../src/model/direct/families.ts";
import { parseConstruction } from "../../src/model/direct/parse.ts";
import { add, compare, multiply, type Rational, rational } from "../../src/model/numbers/rational.ts";
import { oppositeLinks } from "../../src/model/topology/link-classes.ts";
import { type Balancer, bfbTimes } from "../../src/synthesize/bfb/broadcast.ts";

/** All networks of a size that families and two expansions above each other give, without any of the finder's code. */

export interface Known {
  readonly text: string;
  readonly steps: number;
  readonly bandwidth: Rational;
  readonly loopless: boolean;
  readonly simple: boolean;
  readonly paired: boolean;
  readonly reversible: boolean;
}

const upTo = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);

/** Returns the members of all families with small parameters, those whose size has to fit among them. */
function* members(nodes: number, degree: number): Generator<string> {
  yield* [`K(${nodes})`, `K(${degree},${degree})`, `Pi(${degree},${nodes})`, `Crown(${nodes / 2})`, `Paley(${nodes})`];
  yield* [`UniRing(${degree},${nodes})`, `BiRing(${degree},${nodes})`, `DistReg(4,${nodes})`, `Odd(${degree})`];
  yield* [`DoubledOdd(${degree})`, `AG(2,${degree})`, "Diamond", "DBJMod(2,3)", "DBJMod(2,4)", "DBJMod(3,2)"];
  yield* ["DBJMod(4,2)", `DC(${nodes},{${upTo(1, degree)}})`, "Octahedron", "HeawoodDistance3", "LinePetersen"];
  yield* ["LineHeawood", "LineTutte8", "Dodecahedron", "Coxeter", "Foster", "BiggsSmith", "HoffmanSingleton"];
  yield* ["Perkel", "Gewirtz", "CCC(3)", "CCC(4)", `Q(${degree})`, `TQ(${degree})`];
  for (const q of upTo(2, 9)) {
    yield* [
      `PG(2,${q})`,
      `GQ(${q},${q})`,
      `GH(${q},${q})`,
      `LinePG(2,${q})`,
      `LineGQ(${q},${q})`,
      `PointGH(${q},${q})`,
    ];
    for (const n of upTo(1, 7)) yield* [`H(${n},${q})`, `J(${q},${n})`];
  }
  for (const n of upTo(0, 6)) yield* [`Kautz(${degree},${n})`, `DBJ(${degree},${n})`];
  for (const a of upTo(1, nodes >> 1)) {
    yield* [`C(${nodes},{${a}})`, `MultiC(${degree / 2},${nodes},{${a}})`];
    if (degree < 3 || degree > 5) continue;
    for (const b of upTo(a + 1, nodes >> 1)) yield `C(${nodes},{${a},${b}})`;
  }
  for (const [a, b] of factorsOf(nodes)) {
    yield* [`Torus(${a},${b})`, `TwistedTorus(${a},${b})`];
    for (const twist of upTo(1, b - 1)) yield `SkewTorus(${a},${b},{${twist}})`;
    for (const [c, d] of factorsOf(b)) yield* [`Torus(${a},${c},${d})`, `TwistedTorus(${a},${c},${d})`];
  }
}

const factorsOf = (nodes: number): [number, number][] =>
  upTo(2, nodes >> 1).flatMap((a): [number, number][] => (nodes % a === 0 ? [[a, nodes / a]] : []));

/** Returns what a text writes where that is a graph of this size, else null. */
function memberOf(text: string, nodes: number, degree: number): Construction | null {
  try {
    const construction = parseConstruction(text);
    const size = sizeOf(construction);
    return size.nodes === nodes && size.degree === degree ? construction : null;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return null;
  }
}

/** T_L of graphs whose schedules are tables; their T_B is (N - 1) / N (table A.3). */
const TABULATED = new Map([
  ["Diamond", 3],
  ["DBJMod(2,3)", 4],
  ["DBJMod(2,4)", 5],
  ["DBJMod(3,2)", 3],
  ["DBJMod(4,2)", 3],
]);

const least = (nodes: number): Rational => rational(nodes - 1, nodes);

function known(construction: Construction, steps: number, bandwidth: Rational, reversible: boolean): Known {
  const graph = graphOf(construction);
  const source = arcSources(graph);
  const loopless = !source.some((from, arc) => from === graph.target[arc]);
  return {
    text: constructionText(construction),
    steps,
    bandwidth,
    loopless,
    simple: new Set(source.map((from, arc) => from * graph.nodes + graph.target[arc])).size === source.length,
    paired: loopless && oppositeLinks(source, graph.target, []) !== null,
    reversible,
  };
}

/** Returns a function that lists the networks of a size; those that another of the list beats in all are left out. */
export function networksBySize(balance: Balancer): (nodes: number, degree: number) => Promise<readonly Known[]> {
  const timesOf = (graph: Digraph) => bfbTimes(graph, Int32Array.from(upTo(0, graph.nodes - 1)), balance);
  const lists = new Map<string, Promise<readonly Known[]>>();

  async function families(nodes: number, degree: number): Promise<Known[]> {
    const found: Known[] = [];
    for (const text of members(nodes, degree)) {
      const construction = memberOf(text, nodes, degree);
      if (construction?.kind !== "family") continue;
      const steps = TABULATED.get(text);
      const graph = graphOf(construction);
      if (degree === 1 && text.startsWith("Pi")) continue;
      const times =
        steps === undefined
          ? await bfbTimes(
              graph,
              graph.translations === null ? Int32Array.from(upTo(0, nodes - 1)) : Int32Array.of(0),
              balance,
            )
          : { steps, bandwidth: least(nodes) };
      found.push(known(construction, times.steps, times.bandwidth, family(construction.family).reverseSymmetric));
    }
    return found;
  }

  async function expansions(nodes: number, degree: number, depth: number): Promise<Known[]> {
    const found: Known[] = [];
    const put = (text: string, steps: number, bandwidth: Rational, reversible: boolean): void => {
      found.push(known(parseConstruction(text), steps, bandwidth, reversible));
    };
    if (degree > 1 && nodes % degree === 0)
      // a ring's line graph takes a step less (definition 1 does not count it)
      for (const base of await all(nodes / degree, degree, depth))
        if (!base.text.startsWith("UniRing"))
          put(`L(${base.text})`, base.steps + 1, add(base.bandwidth, rational(degree, nodes)), base.reversible);
    for (const factor of upTo(2, degree)) {
      if (nodes % factor !== 0 || degree % factor !== 0) continue;
      for (const base of await all(nodes / factor, degree / factor, depth)) {
        const more = rational(factor - 1, nodes);
        if (base.loopless) put(`(${base.text})*${factor}`, base.steps + 1, add(base.bandwidth, more), base.reversible);
      }
    }
    for (const exponent of upTo(2, 6)) {
      const root = Math.round(nodes ** (1 / exponent));
      if (root < 2 || root ** exponent !== nodes || degree % exponent !== 0) continue;
      const factor = rational(BigInt(root) * BigInt(nodes - 1), BigInt(root - 1) * BigInt(nodes));
      for (const base of await all(root, degree / exponent, depth))
        put(`(${base.text})^${exponent}`, base.steps * exponent, multiply(base.bandwidth, factor), base.reversible);
    }
    if (degree % 2 === 0)
      for (const base of await all(nodes, degree / 2, depth))
        if (base.reversible) put(`Bi(${base.text})`, base.steps, base.bandwidth, true);
    for (const [first, second] of factorsOf(nodes)) {
      if (first > second) continue;
      for (const part of upTo(1, degree - 1)) {
        for (const one of await all(first, part, depth)) {
          for (const other of await all(second, degree - part, depth)) {
            const text = `(${one.text}) x (${other.text})`;
            const { steps, bandwidth } = await timesOf(graphOf(parseConstruction(text)));
            put(text, steps, bandwidth, one.reversible && other.reversible);
          }
        }
      }
    }
    return found;
  }

  function all(nodes: number, degree: number, depth: number): Promise<readonly Known[]> {
    const key = `${nodes} ${degree} ${depth}`;
    const list =
      lists.get(key) ??
      (async () => {
        if (nodes < 2) return [];
        const found = await families(nodes, degree);
        return unbeaten(depth === 0 ? found : [...found, ...(await expansions(nodes, degree, depth - 1))]);
      })();
    lists.set(key, list);
    return list;
  }

  return (nodes, degree) => all(nodes, degree, 2);
}

const beats = (a: Known, b: Known): boolean =>
  a.steps <= b.steps &&
  compare(a.bandwidth, b.bandwidth) <= 0 &&
  (["loopless", "simple", "paired", "reversible"] as const).every((trait) => a[trait] || !b[trait]);

function unbeaten(found: readonly Known[]): Known[] {
  const kept: Known[] = [];
  for (const one of found) {
    if (kept.some((other) => beats(other, one))) continue;
    kept.splice(0, kept.length, ...kept.filter((other) => !beats(one, other)), one);
  }
  return kept;
}
