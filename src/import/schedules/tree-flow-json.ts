import { InputError, inWords } from "../../base/errors.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { format, parseRational, type Rational } from "../../model/numbers/rational.ts";
import { linkCount, nodeCount, type Topology } from "../../model/topology/topology.ts";
import {
  type Certificate,
  copiesPerRoot,
  type DualCertificate,
  type Forest,
  type NetworkSymmetry,
  type TreeFlow,
} from "../../model/trees/tree-flow.ts";
import {
  asInteger,
  asList,
  asObject,
  fillIntegers,
  type JsonFields,
  parseJson,
  placeIn,
  refuse,
} from "../text/json.ts";
import { collectiveSections, type ReadScheduleOptions, scheduleTopology } from "./schedule-header.ts";

type FlowFields = JsonFields<
  "format" | "version" | "kind" | "k" | "concurrent" | "inNetwork" | "symmetry" | "certificate" | "forests"
>;

type SymmetryFields = JsonFields<"sizes" | "steps">;

type CertificateFields = JsonFields<"kind" | "direction" | "weight" | "nodes" | "cuts" | "potentials">;

/** Returns whether a parsed file is one of trees: another `banyan-schedule` has no kind. */
export const isTreeFlowJson = (value: unknown): boolean =>
  typeof value === "object" && value !== null && (value as FlowFields).kind === "trees";

/**
 * Returns the flow of a `banyan-schedule` file of trees, on the network inside the file. Everything that a flow is made of is
 * checked (ranges, lengths, whole numbers, fractions, the hash); whether it does its work is the verifier's question. Throws
 * InputError with the place in the file. O(text).
 */
export function readTreeFlow(text: string, fileName: string, options: ReadScheduleOptions = {}): TreeFlow {
  return treeFlowFromJson(parseJson(text, fileName), fileName, options);
}

/** Returns the flow of a parsed file. */
export function treeFlowFromJson(value: unknown, fileName: string, options: ReadScheduleOptions): TreeFlow {
  const at = (key: string): string => placeIn(fileName, key);
  const topology = scheduleTopology(value, fileName, options);
  const fields = value as FlowFields;
  if (fields.version !== 1) refuse(at("version"), "version 1, as trees have it,", fields.version);
  if (fields.kind !== "trees") refuse(at("kind"), '"trees"', fields.kind);
  const collective = collectiveSections(value, fileName, topology);
  if (collective.groupCount !== 1)
    throw new InputError(at("collective.groups"), "one group, as trees have it,", collective.groupCount);
  if (typeof fields.concurrent !== "boolean") refuse(at("concurrent"), "true or false", fields.concurrent);
  if (fields.inNetwork !== undefined && typeof fields.inNetwork !== "boolean") {
    refuse(at("inNetwork"), "true or false", fields.inNetwork);
  }
  if (fields.inNetwork === true && options.topology !== undefined) refuseUnable(topology, options.topology, fileName);
  const symmetry = symmetryFromJson(fields.symmetry, fileName, topology);
  const certificate = certificateFromJson(fields.certificate, at("certificate"), topology);
  const list = asList(fields.forests, at("forests"), "a list of forests");
  if (list.length !== 1 && list.length !== 2) throw new InputError(at("forests"), "one forest or two", list.length);
  const sizes = sizesOf(topology, collective);
  const forests = list.map((forest, f) => forestFromJson(forest, at(`forests[${f}]`), sizes));
  const { concurrent } = fields;
  const network = fields.inNetwork === true ? ({ inNetwork: true } as const) : {};
  const flow: TreeFlow = {
    kind: "trees",
    topology,
    collective,
    forests,
    concurrent,
    ...network,
    symmetry,
    certificate,
  };
  checkK(fields.k, at("k"), copiesPerRoot(flow));
  return flow;
}

/** Throws InputError for a network like that of the file in which a switch cannot do what it does there. */
function refuseUnable(own: Topology, given: Topology, fileName: string): void {
  const lacks = (node: number): boolean => {
    const [{ multicast, aggregation }, other] = [own.nodeTraits[node], given.nodeTraits[node]];
    return (multicast === true && other.multicast !== true) || (aggregation === true && other.aggregation !== true);
  };
  const node = own.nodeNames.findIndex((_, v) => lacks(v));
  if (node < 0) return;
  const needed = `a network whose switches duplicate and sum as those of ${fileName}`;
  throw new InputError("the topology", needed, inWords(`${given.nodeNames[node]}, which does not`));
}

const sizesOf = (topology: Topology, collective: Collective) => ({
  npus: topology.npuCount,
  links: linkCount(topology),
  edges: collective.groupSize - 1,
});

function checkK(value: unknown, place: string, k: Rational | null): void {
  if (value === undefined) return;
  if (k === null) throw new InputError(place, "nothing, for a collective whose roots may differ,", value);
  const expected = format(k);
  if (String(asInteger(value, place, 1)) !== expected)
    refuse(place, `${expected} copies a root, as the trees have,`, value);
}

function symmetryFromJson(value: unknown, fileName: string, topology: Topology): NetworkSymmetry | null {
  if (value === null) return null;
  const at = (key: string): string => placeIn(fileName, `symmetry${key}`);
  const fields = asObject<SymmetryFields>(value, at(""));
  const sizes = asList(fields.sizes, at(".sizes")).map((size, d) => asInteger(size, at(`.sizes[${d}]`), 1));
  const order = sizes.reduce((product, size) => product * size, 1);
  if (!Number.isSafeInteger(order) || sizes.length > 64)
    throw new InputError(at(".sizes"), "at most 64 sizes of at most 2^53 - 1 together", sizes).as("out-of-range");
  const list = asList(fields.steps, at(".steps"));
  if (list.length !== sizes.length)
    throw new InputError(at(".steps"), `${sizes.length} maps, one a size,`, list.length);
  const steps = list.map((step, d) => {
    const nodes = nodesFromJson(step, at(`.steps[${d}]`), topology);
    if (nodes.length === nodeCount(topology)) return nodes;
    throw new InputError(at(`.steps[${d}]`), `${nodeCount(topology)} nodes`, nodes.length);
  });
  return { sizes, steps };
}

function nodesFromJson(value: unknown, place: string, topology: Topology): Int32Array {
  const list = asList(value, place, "a list of nodes");
  const column = new Int32Array(list.length);
  fillIntegers(list, column, place, 0, nodeCount(topology) - 1);
  return column;
}

/** Returns nodes that ascend. */
function setFromJson(value: unknown, place: string, topology: Topology): Int32Array {
  const nodes = nodesFromJson(value, place, topology);
  for (let i = 1; i < nodes.length; i++) {
    if (nodes[i - 1] >= nodes[i]) throw new InputError(`${place}[${i}]`, "ascending nodes", nodes[i]);
  }
  return nodes;
}

function potentialsFromJson(
  value: unknown,
  place: string,
  topology: Topology,
): NonNullable<DualCertificate["potentials"]> {
  return asList(value, place).map((entry, i) => {
    const own = `${place}[${i}]`;
    const fields = asObject<{ node?: unknown; out?: unknown; in?: unknown }>(entry, own);
    const [node] = nodesFromJson([fields.node], own, topology);
    return {
      node: node as number,
      out: signedFromJson(fields.out, `${own}.out`),
      in: signedFromJson(fields.in, `${own}.in`),
    };
  });
}

function certificateFromJson(value: unknown, place: string, topology: Topology): Certificate | null {
  if (value === null) return null;
  const { kind, cuts, ...cut } = asObject<CertificateFields>(value, place);
  if (kind === "cut") {
    const direction = directionFromJson(cut.direction, `${place}.direction`);
    return { kind, nodes: setFromJson(cut.nodes, `${place}.nodes`, topology), direction };
  }
  if (kind !== "dual") refuse(`${place}.kind`, '"cut" or "dual"', kind);
  const list = asList(cuts, `${place}.cuts`);
  const { potentials } = cut;
  return {
    kind,
    ...(potentials === undefined
      ? {}
      : { potentials: potentialsFromJson(potentials, `${place}.potentials`, topology) }),
    cuts: list.map((entry, i) => {
      const own = `${place}.cuts[${i}]`;
      const fields = asObject<CertificateFields>(entry, own);
      return {
        nodes: setFromJson(fields.nodes, `${own}.nodes`, topology),
        direction: directionFromJson(fields.direction, `${own}.direction`),
        weight: fractionFromJson(fields.weight, `${own}.weight`, true),
      };
    }),
  };
}

type ForestFields = JsonFields<"direction" | "copyBytesPerSecond" | "trees">;

type TreeFields = JsonFields<"root" | "copies" | "edges">;

/** What a forest's numbers are held against. */
interface ForestFrame {
  readonly npus: number;
  readonly links: number;
  /** Of a tree. */
  readonly edges: number;
}

/** Returns the columns of a forest. Throws InputError with the place in the file. O(edges + links). */
function forestFromJson(value: unknown, place: string, frame: ForestFrame): Forest {
  const fields = asObject<ForestFields>(value, place);
  const direction = directionFromJson(fields.direction, `${place}.direction`);
  const copyBytesPerSecond = fractionFromJson(fields.copyBytesPerSecond, `${place}.copyBytesPerSecond`);
  const list = asList(fields.trees, `${place}.trees`, "a list of trees");
  if (list.length === 0) throw new InputError(`${place}.trees`, "at least one tree", list).as("out-of-range");
  const root = new Int32Array(list.length);
  const copies = new Float64Array(list.length);
  const linkOffset = new Float64Array(list.length * frame.edges + 1);
  let at = 0;
  const edgesOf = list.map((tree, t) => {
    const own = `${place}.trees[${t}]`;
    const { root: npu, copies: count, edges } = asObject<TreeFields>(tree, own);
    root[t] = asInteger(npu, `${own}.root`, 0, frame.npus - 1);
    copies[t] = asInteger(count, `${own}.copies`, 1);
    const entries = asList(edges, `${own}.edges`, "a list of edges");
    if (entries.length !== frame.edges)
      throw new InputError(`${own}.edges`, `${frame.edges} edges, one to each other member,`, entries.length);
    for (let e = 0; e < entries.length; e++, at++) {
      linkOffset[at + 1] = linkOffset[at] + lengthOf(entries[e], own, e);
    }
    return entries;
  });
  const links = new Int32Array(linkOffset[at]);
  let next = 0;
  for (const [t, entries] of edgesOf.entries()) {
    for (let e = 0; e < entries.length; e++) {
      const entry = entries[e];
      if (typeof entry === "number") links[next++] = linkOf(entry, frame.links, () => placeOf(place, t, e));
      else {
        const path = entry as readonly unknown[];
        for (let i = 0; i < path.length; i++) {
          links[next++] = linkOf(path[i], frame.links, () => `${placeOf(place, t, e)}[${i}]`);
        }
      }
    }
  }
  return { direction, root, copies, linkOffset, links, copyBytesPerSecond };
}

const placeOf = (place: string, tree: number, edge: number): string => `${place}.trees[${tree}].edges[${edge}]`;

function lengthOf(edge: unknown, tree: string, e: number): number {
  if (typeof edge === "number") return 1;
  if (!Array.isArray(edge) || edge.length === 0) refuse(`${tree}.edges[${e}]`, "a link or a list of links", edge);
  return edge.length;
}

function linkOf(value: unknown, links: number, place: () => string): number {
  if (typeof value === "number" && value >= 0 && value < links && Math.floor(value) === value) return value;
  return asInteger(value, place(), 0, links - 1);
}

/** Longer fractions are refused. */
const MOST_DIGITS = 10_000;

/** Returns a positive fraction, or 0 where that is allowed. */
function fractionFromJson(value: unknown, place: string, allowsZero = false): Rational {
  const parsed = typeof value === "string" && value.length <= MOST_DIGITS ? parseRational(value) : null;
  const least = allowsZero ? 0n : 1n;
  if (parsed === null || parsed.num < least) {
    refuse(place, `a ${allowsZero ? "fraction of 0 or more" : "positive fraction"} as a text such as "2400/7"`, value);
  }
  return parsed;
}

/** Returns the fraction of a text such as "-7/2". */
function signedFromJson(value: unknown, place: string): Rational {
  const parsed = typeof value === "string" && value.length <= MOST_DIGITS ? parseRational(value) : null;
  if (parsed === null) refuse(place, 'a fraction as a text such as "-7/2"', value);
  return parsed;
}

/** Returns "out" or "in". */
function directionFromJson(value: unknown, place: string): "out" | "in" {
  if (value !== "out" && value !== "in") refuse(place, '"out" or "in"', value);
  return value;
}
