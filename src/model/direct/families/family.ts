import { InputError, inWords } from "../../../base/errors.ts";
import { translateAll } from "../../symmetry/translation.ts";
import type { Digraph } from "../digraph.ts";

export interface GraphSize {
  readonly nodes: number;
  /** Arcs that leave each node, and as many enter it; self-loops counted. */
  readonly degree: number;
}

type Parameters = readonly number[];

/** A family of regular digraphs (Zhao 2026, tables A.2 and A.3, section A.6): how it is written, checked and built. */
export interface Family {
  readonly name: string;
  /** Other ways to write the name. */
  readonly aliases?: readonly string[];
  /** How it is written, parameters as letters. */
  readonly form: string;
  readonly description: string;
  /** How many of this many parameters stand before the braces; absent where the family has none. */
  readonly beforeBraces?: (parameters: number) => number;
  /** Returns the size of the graph without building it. Throws InputError for parameters without a graph. */
  readonly size: (parameters: Parameters) => GraphSize;
  /** Returns the graph; `size` has accepted the parameters. */
  readonly build: (parameters: Parameters) => Digraph;
  readonly selfLoops: (parameters: Parameters) => boolean;
  readonly multiEdges: (parameters: Parameters) => boolean;
  /** Whether every graph of the family is isomorphic to its transpose (definition 6). */
  readonly reverseSymmetric: boolean;
  /** Whether its schedule is made by BFB: the column of table A.3. */
  readonly bfb: boolean;
  /** Whether a bandwidth-optimal all-gather is proved or tabulated for it. */
  readonly bandwidthOptimal: (parameters: Parameters) => boolean;
}

export const always = (): boolean => true;
export const never = (): boolean => false;

/** What the undirected simple graphs have in common. */
export const UNDIRECTED = {
  selfLoops: never,
  multiEdges: never,
  reverseSymmetric: true,
  bfb: true,
  bandwidthOptimal: always,
} as const;

const LARGEST_PARAMETER = 1e9;

/** Throws InputError unless this many whole numbers up to 1e9 are given, each at or above its least value. */
export function checkParameters(form: string, parameters: Parameters, least: readonly number[], most = least.length) {
  const { length } = parameters;
  if (length < least.length || length > most) {
    const [few, many] = [least.length, most];
    const wanted = few === many ? `${few} parameter${few === 1 ? "" : "s"}` : `${few} or more parameters`;
    throw new InputError(form, many === 0 ? "no parameters" : wanted, length).saying(
      `${form} has ${length === 0 ? "no" : length} parameter${length === 1 ? "" : "s"}; it ${many === 0 ? "takes none" : `needs ${wanted.split(" param")[0]}`}`,
    );
  }
  parameters.forEach((value, i) => {
    const bound = least[Math.min(i, least.length - 1)];
    if (Number.isInteger(value) && value >= bound && value <= LARGEST_PARAMETER) return;
    throw new InputError(`parameter ${i + 1} of ${form}`, `a whole number, ${bound} to ${LARGEST_PARAMETER}`, value).as(
      "out-of-range",
    );
  });
}

/** Throws InputError, with the estimate, for a graph of more arcs than are built. */
export function refuseLarge({ nodes, degree }: GraphSize, place: string): void {
  const arcs = nodes * degree;
  if (arcs <= MOST_ARCS && nodes <= MOST_ARCS) return;
  const more = Math.max(arcs, nodes);
  const about = more < 1e15 ? `about ${more}` : more < Infinity ? `about ${more.toExponential(1)}` : "more than 1e308";
  throw new InputError(place, `at most ${MOST_ARCS} arcs`, inWords(`${about} arcs`));
}

/** The largest graph that is built. */
const MOST_ARCS = 1e7;

/** Returns the number of nodes of a group of translations. */
export const nodesOf = (sizes: readonly number[]): number => sizes.reduce((product, size) => product * size, 1);

/**
 * Returns the Cayley graph of a group of translations (`model/symmetry/translation.ts`): every node has an arc to its translate by each
 * step, in order. O(arcs).
 */
export function cayley(sizes: readonly number[], steps: readonly number[]): Digraph {
  const nodes = nodesOf(sizes);
  const degree = steps.length;
  const target = new Int32Array(nodes * degree);
  const image = new Int32Array(nodes);
  steps.forEach((step, k) => {
    translateAll(sizes, step, image);
    for (let v = 0; v < nodes; v++) target[v * degree + k] = image[v];
  });
  return { nodes, offset: offsetsOf(nodes, degree), target, translations: sizes };
}

/** Returns the graph of this many nodes and arcs of each, the k-th of them to target(v, k). O(arcs). */
export function regularGraph(nodes: number, degree: number, targetOf: (v: number, k: number) => number): Digraph {
  const target = new Int32Array(nodes * degree);
  for (let v = 0, arc = 0; v < nodes; v++) for (let k = 0; k < degree; k++) target[arc++] = targetOf(v, k);
  return { nodes, offset: offsetsOf(nodes, degree), target, translations: null };
}

const offsetsOf = (nodes: number, degree: number): Int32Array => {
  const offset = new Int32Array(nodes + 1);
  for (let v = 0; v <= nodes; v++) offset[v] = v * degree;
  return offset;
};

/** Returns from .. to, both included. */
export const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
