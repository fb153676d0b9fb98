import { InputError, shown } from "../../base/errors.ts";
import { CONSTRUCTION_FORMS } from "../direct/parse.ts";
import { didYouMean } from "../topology/closest.ts";
import type { Topology } from "../topology/topology.ts";
import { AMD_INTEL } from "./amd-intel.ts";
import { doubleBinaryTreeNetwork, shiftedRing } from "./baseline-networks.ts";
import { type Box, boxTopology } from "./boxes.ts";
import { circulant } from "./circulant.ts";
import { constructionTopology, looksLikeConstruction } from "./construction.ts";
import { dragonfly } from "./dragonfly.ts";
import {
  count,
  DEFAULT_BYTES_PER_SECOND,
  DEFAULT_LATENCY_PS,
  type Expression,
  type Factor,
  parseExpression,
  perDimension,
  refuseHuge,
  sizes,
} from "./expression.ts";
import { fatTree } from "./fat-tree.ts";
import { NVIDIA } from "./nvidia.ts";
import { PODS, podTopology } from "./pods.ts";
import { type DimensionKind, productTopology } from "./product.ts";
import { themisTopology } from "./themis.ts";

/** One line of `banyan list presets`. */
export interface Preset {
  readonly name: string;
  /** How it is written. */
  readonly form: string;
  readonly description: string;
}

/** Families that may be factors of a product: how their dimensions are joined, and whether they take several sizes. */
const FACTORS: Readonly<Record<string, { kind: DimensionKind; form: string; many: boolean; description: string }>> = {
  ring: { kind: "ring", form: "ring:N", many: false, description: "a ring, both ways" },
  line: { kind: "line", form: "line:N", many: false, description: "a line, both ways" },
  mesh: { kind: "line", form: "mesh:AxB[x...]", many: true, description: "a mesh without wrap-around" },
  grid: { kind: "line", form: "grid:AxBxC[x...]", many: true, description: "another name of mesh" },
  torus: { kind: "ring", form: "torus:AxB[x...]", many: true, description: "a mesh with wrap-around" },
  hypercube: { kind: "ring", form: "hypercube:D", many: false, description: "a binary cube of D dimensions, 2^D NPUs" },
  fc: { kind: "fc", form: "fc:N", many: false, description: "fully connected, the bandwidth per pair" },
  switch: { kind: "switch", form: "switch:N", many: false, description: "one switch, a port per NPU" },
};

/** Networks that are not products. */
const NETWORKS: Readonly<Record<string, { build: (e: Expression) => Topology; form: string; description: string }>> = {
  circulant: {
    build: circulant,
    form: "circulant:N,A[,B...]",
    description: "N NPUs, each linked to those A, B ... away",
  },
  "shifted-ring": {
    build: shiftedRing,
    form: "shifted-ring:N",
    description: "two rings, both ways: steps 1 and the next one prime to N",
  },
  dbt: { build: doubleBinaryTreeNetwork, form: "dbt:N", description: "the links of a double binary tree" },
  dragonfly: { build: dragonfly, form: "dragonfly:AxG", description: "G groups of A, a global link between each two" },
  "fat-tree": {
    build: fatTree,
    form: "fat-tree:SxG[,leaf=L][,tiers=2|3][,oversub=R]",
    description: "S servers of G GPUs under leaves of L servers, spines and cores",
  },
};

const BOXES: typeof NVIDIA = { ...NVIDIA, ...AMD_INTEL };
const WITH_IB_OPTION = ["dgx-h100", "hgx-h100", "hgx-h200"];

/** Returns the form of a platform: whether it takes a number of boxes and the `,ib` option. */
const boxForm = (name: string, box: Box): string =>
  `${name}${box.scaleOut === undefined ? "" : ":BOXES"}${WITH_IB_OPTION.includes(name) ? "[,ib]" : ""}`;

const BY_COLON: readonly Preset[] = [
  ...Object.entries(FACTORS).map(([name, { form, description }]) => ({ name, form, description })),
  ...Object.entries(NETWORKS).map(([name, { form, description }]) => ({ name, form, description })),
  ...Object.entries(BOXES).map(([name, [description, box]]) => ({ name, form: boxForm(name, box), description })),
  ...Object.entries(PODS).map(([name, { description, shape, slices }]) => ({
    name,
    form: slices === undefined ? name : `${name}[:${shape.length === 2 ? "AxB" : "AxBxC"}]`,
    description,
  })),
  { name: "themis", form: "themis:3d-fc-ring-sw ...", description: "the six networks of Themis (ISCA 2022), table 2" },
];

const NAMES: ReadonlySet<string> = new Set(BY_COLON.map(({ name }) => name));

/** Every preset, in the order of `banyan list presets`: constructions of graphs last. */
export const PRESETS: readonly Preset[] = [...BY_COLON, ...CONSTRUCTION_FORMS];

/**
 * Returns whether a text is written like a preset expression (a name, a colon, ... or a construction such as `L(K(4,4))`) rather
 * than like a file's path.
 */
export function looksLikePreset(text: string): boolean {
  if (looksLikeConstruction(text)) return true;
  const head = text.trim().split("@", 1)[0];
  const name = head.split(/[:,*]/, 1)[0].trim();
  if (/[/\\\n{]/.test(head) || !/^[A-Za-z][A-Za-z0-9-]*$/.test(name)) return false;
  return NAMES.has(name) || (/[:*]/.test(head) && !/\.(json|csv|xml|txt|ya?ml|bys)$/i.test(text));
}

function unknown(name: string, text: string): InputError {
  const expected = `a preset of \`banyan list presets\`${didYouMean(name, NAMES)}`;
  return new InputError(name === text ? "the topology" : `${shown(name)} in the topology`, expected, text);
}

/** Returns the sizes of the dimensions of one factor of a product. Throws InputError. */
function factorSizes(factor: Factor, text: string): number[] {
  const { many, form } = FACTORS[factor.name];
  const given = sizes(factor, text);
  if (!many && given.length > 1)
    throw new InputError(`${factor.name}:${factor.args} in ${text}`, form, `${given.length} sizes`);
  if (factor.name !== "hypercube") return given;
  if (given[0] > 40) refuseHuge(given[0] * 2 ** given[0], text);
  return new Array<number>(given[0]).fill(2);
}

function product(expression: Expression): Topology {
  const { text, factors } = expression;
  const parts: { kind: DimensionKind; size: number }[] = [];
  for (const factor of factors) {
    if (!Object.hasOwn(FACTORS, factor.name)) {
      if (!NAMES.has(factor.name)) throw unknown(factor.name, text);
      throw new InputError(text, `factors among ${Object.keys(FACTORS).join(", ")}`, factor.name);
    }
    const { kind } = FACTORS[factor.name];
    for (const size of factorSizes(factor, text)) parts.push({ kind, size });
  }
  const { bandwidths, latencies } = expression;
  const bytesPerSecond = perDimension(bandwidths, parts.length, DEFAULT_BYTES_PER_SECOND, "bandwidth", text);
  const latencyPs = perDimension(latencies, parts.length, DEFAULT_LATENCY_PS, "latency", text);
  const given = bandwidths.length > 0 || latencies.length > 0;
  return productTopology(
    text,
    parts.map((part, d) => ({ ...part, bytesPerSecond: bytesPerSecond[d], latencyPs: latencyPs[d] })),
    [given ? "bandwidths and latencies as given (50 GB/s, 0.5 us where not)" : "default link: 50 GB/s, 0.5 us"],
  );
}

/** Returns `NAME`, `NAME:BOXES` or `NAME:BOXES,ib`. */
function platform({ factors: [{ name, args }], text }: Expression): Topology {
  let [, box] = BOXES[name];
  const [boxes, ...options] = args.split(",").map((part) => part.trim());
  for (const option of options) {
    if (option !== "ib" || !WITH_IB_OPTION.includes(name)) throw new InputError(text, boxForm(name, box), option);
    if (box.scaleOut !== undefined) box = { ...box, scaleOut: { ...box.scaleOut, wiring: "one" } };
  }
  return boxTopology(text, box, boxes === "" ? 1 : count(boxes, "the number of boxes", text));
}

/**
 * Returns the network of a preset expression: `mesh:4x4`, `ring:2*fc:4*switch:8@200,100,50GB/s`, `dgx-a100:2`, ... as
 * `PRESETS` lists them, or of a construction (`L3(C(16,{3,4}))@25Gbps`). The k-th bandwidth and latency after `@` belong to the
 * k-th dimension; one serves all. Throws InputError for an unknown preset, malformed sizes or figures, and networks of more
 * than 1e7 links.
 */
export function presetTopology(expression: string): Topology {
  if (looksLikeConstruction(expression)) return constructionTopology(expression);
  const parsed = parseExpression(expression);
  const { factors, text, bandwidths, latencies } = parsed;
  const [{ name }] = factors;
  if (factors.length > 1 || Object.hasOwn(FACTORS, name)) return product(parsed);
  if (Object.hasOwn(NETWORKS, name)) return NETWORKS[name].build(parsed);
  if (!NAMES.has(name)) throw unknown(name, text);
  if (bandwidths.length + latencies.length > 0) {
    throw new InputError(text, `nothing after "@" (${name} brings its own figures)`, text.slice(text.indexOf("@")));
  }
  if (name === "themis") return themisTopology(parsed);
  return Object.hasOwn(PODS, name) ? podTopology(parsed) : platform(parsed);
}
