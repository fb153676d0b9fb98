import { InputError, inWords } from "../../base/errors.ts";
import {
  DROPPED_MARK,
  PLAIN_DIMENSION,
  TENSOR_GRAPH_FORMAT,
  TENSOR_GRAPH_VERSION,
} from "../../model/files/tensor-graph-format.ts";
import { FUNCTIONS } from "../../model/tensor-graph/functions.ts";
import {
  type Dimension,
  DROPPED,
  type GradientOf,
  type GraphNode,
  noClasses,
  type Operand,
  operandsOf,
  PHASES,
  ROLES,
  type TensorGraph,
} from "../../model/tensor-graph/graph.ts";
import { asFlag, asInteger, asList, asObject, asText, below, checkHeader, placeIn } from "../text/json.ts";

type Fields = Readonly<Record<string, unknown>>;

const KINDS = ["placeholder", "einsum", "elementwise", "reduction", "output"] as const;
const REDUCTIONS = ["sum", "max"] as const;
const MOST_SIZE = 2 ** 40;
const MOST_BYTES = 64;
/** What tensors' dimensions may be (`model/tensor-plan/patterns.ts` has no more either). */
const MOST_DIMENSIONS = 13;

/** A name, quoted or not, or what is between lists of them. */
const TOKEN = /\s*("(?:[^"\\]|\\.)*"|->|,|[^\s,"]+)/y;

/** What a graph's nodes are read by. */
interface Known {
  readonly fileName: string;
  readonly dimensions: readonly Dimension[];
  readonly indices: ReadonlyMap<string, number>;
  readonly nodes: readonly GraphNode[];
  readonly numbers: ReadonlyMap<string, number>;
}

const oneOf = <T extends string>(value: unknown, names: readonly T[], place: string): T => {
  if (names.includes(value as T)) return value as T;
  throw value === undefined
    ? new InputError(place, `one of ${names.join(", ")}`)
    : new InputError(place, `one of ${names.join(", ")}`, value).as("unknown-name");
};

/** Returns lists of dimensions, those before "->" and, last, those behind it; without it those that there are. */
function listsOf({ indices }: Known, value: unknown, place: string): { before: number[][]; after: number[] | null } {
  if (typeof value !== "string") throw new InputError(place, 'dimensions, "a b, b c -> a c"', value);
  const before: number[][] = [[]];
  let after: number[] | null = null;
  TOKEN.lastIndex = 0;
  for (let at = 0; value.slice(at).trim() !== ""; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(value)?.[1];
    if (token === undefined) throw new InputError(place, "names of dimensions", value.slice(at));
    if (token === "->" && after === null) after = [];
    else if (token === "," && after === null) before.push([]);
    else (after ?? (before.at(-1) as number[])).push(dimensionOf(indices, token, place));
  }
  return { before, after };
}

function dimensionOf(indices: ReadonlyMap<string, number>, token: string, place: string): number {
  if (token === DROPPED_MARK) return DROPPED;
  let name = token;
  if (token.startsWith('"')) {
    try {
      name = JSON.parse(token);
    } catch {
      throw new InputError(place, "the name of a dimension", token);
    }
  } else if (!PLAIN_DIMENSION.test(token)) throw new InputError(place, "the name of a dimension", token);
  const found = indices.get(name);
  if (found !== undefined) return found;
  throw new InputError(place, "a dimension of the graph", name).as("unknown-name");
}

/** Returns dimensions of which each stands once, none dropped. */
function distinct(dims: readonly number[], place: string): readonly number[] {
  if (!dims.includes(DROPPED) && new Set(dims).size === dims.length && dims.length <= MOST_DIMENSIONS) return dims;
  throw new InputError(place, `at most ${MOST_DIMENSIONS} dimensions, each once`, inWords("others"));
}

/** Returns one list of dimensions, each once unless some count several things. */
function single(known: Known, value: unknown, place: string, repeats = false): readonly number[] {
  const { before, after } = listsOf(known, value ?? "", place);
  if (before.length > 1 || after !== null) throw new InputError(place, "a list of dimensions", value);
  const [dims] = before as [number[]];
  distinct(repeats ? [...new Set(dims)] : dims, place);
  return dims;
}

function operandOf(
  { dimensions, nodes, numbers }: Known,
  name: unknown,
  dims: readonly number[],
  place: string,
): Operand {
  const node = typeof name === "string" ? numbers.get(name) : undefined;
  if (node === undefined) throw new InputError(place, "a node before it", name);
  const own = (nodes[node] as GraphNode).dims;
  const sizeOf = (dim: number): number => (dim === DROPPED ? 1 : (dimensions[dim] as Dimension).size);
  if (own.length !== dims.length || !own.every((dim, i) => sizeOf(dim) === sizeOf(dims[i] as number)))
    throw new InputError(place, `dimensions of the sizes that ${name} has`, inWords("others"));
  const seen = dims.filter((dim) => dim !== DROPPED);
  if (new Set(seen).size !== seen.length) throw new InputError(place, "each dimension once", inWords("one twice"));
  return { node, dims };
}

const numberOf = (value: unknown, place: string): number => {
  const number = value === "Infinity" || value === "-Infinity" ? Number(value) : (value ?? 0);
  if (typeof number === "number") return number;
  throw new InputError(place, "a number", value);
};

const isSubset = (some: readonly number[], all: readonly number[]): boolean => some.every((dim) => all.includes(dim));

function nodeOf(known: Known, value: unknown, at: number): GraphNode {
  const path = placeIn(known.fileName, `nodes[${at}]`);
  const fields = asObject<Fields>(value, path);
  const name = asText(fields["name"], below(path, "name"));
  const place = `${known.fileName}: node ${name}`;
  if (known.numbers.has(name)) throw new InputError(place, "one node of a name", inWords("two"));
  const kind = oneOf(fields["kind"], KINDS, `${place}: kind`);
  const dimsPlace = `${place}: dims`;
  const base = {
    name,
    elementBytes: asInteger(fields["elementBytes"], `${place}: elementBytes`, 0, MOST_BYTES),
    phase: oneOf(fields["phase"], PHASES, `${place}: phase`),
    isFused: asFlag(fields["fused"], `${place}: fused`),
  };
  if (kind === "placeholder") {
    const role = oneOf(fields["role"], ROLES, `${place}: role`);
    return { ...base, kind, role, dims: single(known, fields["dims"], dimsPlace) };
  }
  const of = asList(fields["of"], `${place}: of`, "a list of nodes");
  const { before, after } = listsOf(known, fields["dims"], dimsPlace);
  const lists = of.length === 0 && before.length === 1 && before[0]?.length === 0 ? [] : before;
  if (lists.length !== of.length || after === null)
    throw new InputError(
      dimsPlace,
      `dimensions of ${of.length} tensors, "->", and those of the result`,
      fields["dims"],
    );
  const operands = of.map((one, k) => operandOf(known, one, lists[k] as number[], `${place}: of[${k}]`));
  const dims = distinct(after, dimsPlace);
  const seen = operands.flatMap((operand) => operand.dims);
  if (kind === "output") {
    if (dims.length > 0) throw new InputError(dimsPlace, "no dimensions of an output", inWords("some"));
    return { ...base, kind, dims, operands };
  }
  if (operands.length === 0) throw new InputError(`${place}: of`, "one node or more", inWords("none"));
  if (kind === "einsum") {
    return { ...base, kind, dims, operands, selects: asFlag(fields["selects"], `${place}: selects`) };
  }
  if (kind === "reduction") {
    const over = single(known, fields["over"], `${place}: over`);
    if (operands.length !== 1) throw new InputError(`${place}: of`, "one node", inWords(`${operands.length}`));
    if (!isSubset(over, seen) || over.some((dim) => dims.includes(dim)))
      throw new InputError(
        `${place}: over`,
        "dimensions of the tensor that the result does not have",
        inWords("others"),
      );
    const how = oneOf(fields["function"], REDUCTIONS, `${place}: function`);
    return { ...base, kind, dims, operands: operands as [Operand], function: how, over };
  }
  const called = FUNCTIONS.get(asText(fields["function"], `${place}: function`, "the name of a function"));
  if (called === undefined)
    throw new InputError(`${place}: function`, "a function that there are rules for", fields["function"]).as(
      "unknown-name",
    );
  if (called.operands !== "any" && called.operands !== operands.length)
    throw new InputError(`${place}: of`, `${called.operands} nodes, for ${called.name}`, inWords(`${operands.length}`));
  const whole = single(known, fields["whole"], `${place}: whole`, called.wholes !== undefined);
  if (!isSubset(whole, [...dims, ...seen]))
    throw new InputError(`${place}: whole`, "dimensions of the node", inWords("others"));
  const constant = numberOf(fields["constant"], `${place}: constant`);
  return { ...base, kind, dims, operands, function: called.name, constant, whole };
}

function gradientsOf({ fileName, nodes, numbers }: Known, value: unknown): GradientOf[] {
  return asList(value ?? [], placeIn(fileName, "gradients")).map((pair, i) => {
    const place = placeIn(fileName, `gradients[${i}]`);
    const [parameter, gradient] = asList(pair, place, "a parameter and its gradient").map((name) =>
      typeof name === "string" ? numbers.get(name) : undefined,
    );
    if (parameter === undefined || gradient === undefined || nodes[parameter]?.kind !== "placeholder")
      throw new InputError(place, "a placeholder and the node of its gradient", pair);
    return { parameter, gradient };
  });
}

function classesOf(value: unknown, nodes: readonly GraphNode[], fileName: string): Int32Array {
  if (value === undefined) return noClasses(nodes.length);
  const place = placeIn(fileName, "classes");
  const list = asList(value, place);
  if (list.length !== nodes.length) throw new InputError(place, `${nodes.length} numbers`, inWords(`${list.length}`));
  const firsts: GraphNode[] = [];
  return Int32Array.from(list, (one, i) => {
    const number = asInteger(one, `${place}[${i}]`, 0, firsts.length);
    const node = nodes[i] as GraphNode;
    const first = firsts[number] ?? node;
    if (number === firsts.length) firsts.push(node);
    if (
      first.kind !== node.kind ||
      first.dims.length !== node.dims.length ||
      operandsOf(first).length !== operandsOf(node).length
    )
      throw new InputError(`${place}[${i}]`, `the class of nodes like ${node.name}`, number);
    return number;
  });
}

/** Returns whether a JSON value is a tensor graph of ours. */
export const isTensorGraphJson = (value: unknown): boolean =>
  typeof value === "object" && value !== null && (value as Fields)["format"] === TENSOR_GRAPH_FORMAT;

/** Returns a tensor graph of our own JSON (FORMATS.md). Throws InputError with the place. O(file). */
export function readTensorGraphJson(value: unknown, fileName: string): TensorGraph {
  const file = asObject<Fields>(value, fileName);
  checkHeader(value, fileName, "", TENSOR_GRAPH_FORMAT, TENSOR_GRAPH_VERSION);
  const indices = new Map<string, number>();
  const dimensions = asList(file["dimensions"], placeIn(fileName, "dimensions")).map((pair, i): Dimension => {
    const place = placeIn(fileName, `dimensions[${i}]`);
    const [name, size] = asList(pair, place, "a name and a size");
    const called = asText(name, place, "a name and a size");
    if (indices.has(called)) throw new InputError(place, "one dimension of a name", called);
    indices.set(called, i);
    return { name: called, size: asInteger(size, place, 1, MOST_SIZE) };
  });
  const nodes: GraphNode[] = [];
  const numbers = new Map<string, number>();
  const known: Known = { fileName, dimensions, indices, nodes, numbers };
  asList(file["nodes"], placeIn(fileName, "nodes")).forEach((one, i) => {
    if (nodes.at(-1)?.kind === "output")
      throw new InputError(placeIn(fileName, `nodes[${i}]`), "nothing behind the output", one);
    const node = nodeOf(known, one, i);
    numbers.set(node.name, nodes.push(node) - 1);
  });
  if (nodes.at(-1)?.kind !== "output") throw new InputError(placeIn(fileName, "nodes"), "an output, last");
  return {
    name: asText(file["name"], placeIn(fileName, "name")),
    dimensions,
    nodes,
    gradients: gradientsOf(known, file["gradients"]),
    classes: classesOf(file["classes"], nodes, fileName),
  };
}
