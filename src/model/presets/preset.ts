import { InputError, inWords, shown } from "../../base/errors.ts";
import { CONSTRUCTION_FORMS } from "../direct/parse.ts";
import { doubleBinaryTree } from "../graph/double-binary-tree.ts";
import { gcd } from "../numbers/integers.ts";
import { closest, didYouMean } from "../topology/closest.ts";
import type { Topology } from "../topology/topology.ts";
import { topologyBuilder } from "../topology/topology-builder.ts";
import { type Box, boxTopology, cableList, fullMesh, NVIDIA } from "./boxes.ts";
import { constructionTopology, looksLikeConstruction } from "./construction.ts";
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
  sizesError,
} from "./expression.ts";
import { fatTree } from "./fat-tree.ts";
import { PODS, podTopology } from "./pods.ts";
import { type Dimension, type DimensionKind, productTopology } from "./product.ts";

/** AMD and Intel boxes. GB/s and us per link and direction; the sources stand beside the figures. */

const XGMI_LATENCY = "xGMI latency 1 us: a model figure, not measured";

/** Returns an 8-GPU fully connected AMD box. */
const oam = (gbps: number, source: string): Box => ({
  gpus: 8,
  latencyUs: 1,
  cables: fullMesh(8, gbps),
  sources: [source, XGMI_LATENCY],
});

/** Returns an 8-card Gaudi box: three Ethernet ports to each peer. */
const gaudi = (portGbps: number, source: string): Box => ({
  gpus: 8,
  latencyUs: 2,
  cables: fullMesh(8, 3 * portGbps),
  sources: [`full mesh, 3 ports a pair: ${source}`, "RoCE latency 2 us: a model figure, not measured"],
});

const MI250: Box = {
  gpus: 16,
  latencyUs: 1,
  // the same graph in TE-CCL (amd.py), ForestColl (topologies.py) and RCCL (topo_16p1h.xml); *n = n xGMI links
  cables: cableList(
    "0-1*4 0-4*2 0-8 1-5 1-9 1-10 2-3*4 2-6 2-10 2-9 3-7*2 3-11 4-6 4-5*4 5-7 5-6 6-7*4 " +
      "8-9*4 8-12*2 9-13 10-11*4 10-14 11-15*2 12-13*4 12-14 13-15 13-14 14-15*4",
    50,
  ),
  scaleOut: { wiring: "one", gbps: 16, latencyUs: 2.5 },
  sources: [
    "MI250 wiring: ForestColl and TE-CCL (the same graph); 25 GT/s x16 = 50 GB/s per xGMI link: ROCm MI250 guide",
    "16 GB/s per GPU to one IB switch: ForestColl; NIC link latency 2.5 us: a model figure",
    XGMI_LATENCY,
  ],
};

const FRONTIER: Box = {
  gpus: 8,
  latencyUs: 1,
  cables: cableList("0-1*4 0-2 0-6*2 1-3 1-5 2-3*4 2-4*2 3-7 4-5*4 4-6 5-7 6-7*4", 50),
  sources: [
    "edges: RCCL topo_8p_90a.xml; 4 links of 50 GB/s inside a module: OLCF Frontier user guide",
    "that 0-6 and 2-4 are double is from memory of the node diagram, not verified",
    XGMI_LATENCY,
  ],
};

const MI100_SOURCE = "46 GB/s per xGMI link (23 GT/s x16): ROCm MI100 guide";
const MI100_HIVES: Box = {
  gpus: 8,
  latencyUs: 1,
  switches: ["cpu0", "cpu1"],
  cables: [
    ...fullMesh(4, 46),
    ...fullMesh(4, 46).map(([a, b, gbps]) => [a + 4, b + 4, gbps] as const),
    ...[0, 1, 2, 3, 4, 5, 6, 7].map((gpu) => [gpu, gpu < 4 ? 8 : 9, 24, 1.5] as const),
    [8, 9, 36],
  ],
  sources: [
    `two hives of 4, PCIe 4.0 x16 (24 GB/s) to two CPUs joined by 36 GB/s; ${MI100_SOURCE}`,
    `${XGMI_LATENCY}; PCIe 1.5 us, likewise`,
  ],
};

/** By name; the forms `NAME` and `NAME:BOXES`. */
const AMD_INTEL: Readonly<Record<string, readonly [description: string, box: Box]>> = {
  mi250: ["AMD MI250, 16 GCDs on xGMI, 16 GB/s a GCD to one IB switch", MI250],
  mi300x: ["AMD MI300X, 8 GPUs, full mesh", oam(64, "64 GB/s per xGMI link: AMD platform sheet; RCCL topo_8p_940.xml")],
  mi325x: ["AMD MI325X, links as mi300x", oam(64, "64 GB/s per xGMI link, as MI300X: AMD platform sheet")],
  mi355x: ["AMD MI350X/MI355X, 8 GPUs, full mesh", oam(76.5, "76.5 GB/s per xGMI link: ml-engineering xGMI table")],
  "mi100-8p6l": [
    "AMD MI100, 8 GPUs with 6 links each (a full mesh less 0-5 1-4 2-7 3-6)",
    {
      gpus: 8,
      latencyUs: 1,
      cables: fullMesh(8, 46, ["0-5", "1-4", "2-7", "3-6"]),
      sources: [`wiring: RCCL topo_8p6l.xml; ${MI100_SOURCE}`, XGMI_LATENCY],
    },
  ],
  "mi100-2hives": ["AMD MI100, two hives of 4 GPUs behind two CPUs", MI100_HIVES],
  frontier: ["Frontier/LUMI node, 8 GCDs of 4 MI250X", FRONTIER],
  gaudi2: ["Intel Gaudi 2, 8 cards, full mesh of 3x100 GbE", gaudi(12.5, "docs.habana.ai, Network Configuration")],
  gaudi3: ["Intel Gaudi 3, 8 cards, full mesh of 3x200 GbE", gaudi(25, "docs.habana.ai, Network Configuration")],
};

/**
 * Returns `circulant:N,A,B,...`: NPU i has a link to i + A, i - A, i + B, i - B ... modulo N, declared in this order; one link
 * where an offset is N / 2. The k-th bandwidth and latency belong to the k-th offset. Every translation leaves it as it is.
 */
function circulant(expression: Expression): Topology {
  const { text, factors } = expression;
  const form = "circulant:N,A[,B...] (N NPUs, offsets below N)";
  const [size = "", ...rest] = factors[0].args.split(",").map((part) => part.trim());
  if (rest.length === 0)
    throw new InputError(text, form, factors[0].args).saying(`${text} has no offsets; it must be ${form}`);
  const npus = count(size, "the number of NPUs", text);
  const offsets = rest.map((digits) => count(digits, "an offset", text));
  const seen = new Set<number>();
  for (const offset of offsets) {
    if (offset >= npus) throw new InputError(`an offset in ${text}`, `a number below ${npus}`, offset);
    const shorter = Math.min(offset, npus - offset);
    if (seen.has(shorter))
      throw new InputError(text, "offsets that lead to different NPUs", offset).saying(
        `offset ${offset} in ${text} leads to the same NPUs as one before it`,
      );
    seen.add(shorter);
  }
  const steps = offsets.map((offset) => (2 * offset === npus ? [offset] : [offset, npus - offset]));
  const links = npus * steps.reduce((sum, both) => sum + both.length, 0);
  refuseHuge(links, text);
  const bandwidth = perDimension(expression.bandwidths, offsets.length, DEFAULT_BYTES_PER_SECOND, "bandwidth", text);
  const latency = perDimension(expression.latencies, offsets.length, DEFAULT_LATENCY_PS, "latency", text);

  const builder = topologyBuilder(text, links);
  builder.addNumberedNpus(npus);
  for (let npu = 0; npu < npus; npu++) {
    steps.forEach((both, k) => {
      for (const step of both) builder.addLink(npu, (npu + step) % npus, bandwidth[k], latency[k]);
    });
  }
  return builder.build({ shape: [npus], sources: ["circulant graph: every NPU linked to those at the given offsets"] });
}

/** Networks wired for one algorithm, which direct-connect networks are compared with (Zhao 2026, 3.8.2). */

function npusOf({ factors, text }: Expression, least: number): number {
  const npus = count(factors[0].args, "the number of NPUs", text);
  if (npus < least) throw new InputError(text, `${least} NPUs or more`, npus);
  return npus;
}

/**
 * Returns `shifted-ring:N`: two rings, both ways, over the steps 1 and the least one above it that is prime to N and is not its
 * opposite: the circulant C(N, {1, a}).
 */
function shiftedRing(expression: Expression): Topology {
  const { text, factors } = expression;
  const npus = npusOf(expression, 5);
  let shift = 2;
  while (2 * shift < npus && gcd(shift, npus) !== 1) shift++;
  if (2 * shift >= npus) throw new InputError(text, "a number of NPUs that has two rings (not 6)", npus);
  const topology = circulant({ ...expression, factors: [{ ...factors[0], args: `${npus},1,${shift}` }] });
  return { ...topology, sources: [`rings of steps 1 and ${shift}, both ways, as in TopoOpt's data-parallel networks`] };
}

/** Returns `dbt:N`: the edges of two binary trees, both ways, at most 4 links a NPU each way; an edge of both is there twice. */
function doubleBinaryTreeNetwork(expression: Expression): Topology {
  const { text } = expression;
  const npus = npusOf(expression, 2);
  refuseHuge(4 * npus, text);
  const [bandwidth] = perDimension(expression.bandwidths, 1, DEFAULT_BYTES_PER_SECOND, "bandwidth", text);
  const [latency] = perDimension(expression.latencies, 1, DEFAULT_LATENCY_PS, "latency", text);
  const builder = topologyBuilder(text, 4 * npus);
  builder.addNumberedNpus(npus);
  for (const parent of doubleBinaryTree(npus)) {
    parent.forEach((up, npu) => {
      if (up >= 0) builder.addDuplex(npu, up, bandwidth, latency);
    });
  }
  return builder.build({ shape: [], sources: ["the links of a double binary tree (Sanders, Speck and Traeff, 2009)"] });
}

/**
 * Returns `dragonfly:AxG`: G groups of A NPUs, id = a + A*g. Groups are fully connected (first bandwidth); one global link
 * joins each two groups (second bandwidth): port p of group g, p in 0 .. G-2, leads to group g + p + 1 and sits on NPU p mod A.
 * `dragonfly:4x5` has one global link per NPU; other sizes have G-1 over A of them (the arrangement turns with the groups).
 */
function dragonfly(expression: Expression): Topology {
  const { text } = expression;
  const given = sizes(expression.factors[0], text);
  if (given.length !== 2) throw sizesError(text, "dragonfly:AxG (G groups of A NPUs)", given);
  const [perGroup, groups] = given;
  const [local, global] = perDimension(expression.bandwidths, 2, DEFAULT_BYTES_PER_SECOND, "bandwidth", text);
  const [localPs, globalPs] = perDimension(expression.latencies, 2, DEFAULT_LATENCY_PS, "latency", text);
  const npus = perGroup * groups;
  const links = npus * (perGroup - 1) + groups * (groups - 1);
  refuseHuge(Math.max(npus, links), text);

  const builder = topologyBuilder(text, links);
  const traits = Array.from({ length: groups }, (_, group) => ({ group: `group${group}` }));
  builder.addNumberedNpus(npus, (npu) => traits[Math.floor(npu / perGroup)]);
  for (let group = 0; group < groups; group++) {
    for (let a = 0; a < perGroup; a++) {
      const npu = group * perGroup + a;
      for (let step = 1; step < perGroup; step++) {
        builder.addLink(npu, group * perGroup + ((a + step) % perGroup), local, localPs);
      }
      for (let port = a; port < groups - 1; port += perGroup) {
        const peer = (group + port + 1) % groups;
        builder.addLink(npu, peer * perGroup + ((groups - 2 - port) % perGroup), global, globalPs);
      }
    }
  }
  return builder.build({
    shape: [perGroup, groups],
    sources: ["dragonfly: groups fully connected, one global link between each two groups"],
  });
}

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
  switch: { kind: "switch", form: "switch:N[,sum]", many: false, description: "one switch, a port per NPU" },
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
  {
    name: "themis",
    form: "themis:3d-fc-ring-sw[,sum] ...",
    description: "the six networks of Themis (ISCA 2022), table 2",
  },
];

const NAMES: ReadonlySet<string> = new Set(BY_COLON.map(({ name }) => name));

/** Every preset, in the order of `banyan list presets`: constructions of graphs last. */
export const PRESETS: readonly Preset[] = [...BY_COLON, ...CONSTRUCTION_FORMS];

/** "h100x8": no name of ours, but one that people try. */
const GPUS_TIMES = /^\s*([a-z]{1,4}\d{3}[a-z]?)[x*_-](\d{1,7})\s*$/i;

/**
 * Returns whether a text is written like a preset expression (a name, a colon, ... or a construction such as `L(K(4,4))`) rather
 * than like a file's path.
 */
export function looksLikePreset(text: string): boolean {
  if (GPUS_TIMES.test(text)) return false;
  if (looksLikeConstruction(text)) return true;
  const head = text.trim().split("@", 1)[0];
  const name = head.split(/[:,*]/, 1)[0].trim();
  if (/[/\\\n{]/.test(head) || !/^[A-Za-z][A-Za-z0-9-]*$/.test(name)) return false;
  return NAMES.has(name.toLowerCase()) || (/[:*]/.test(head) && !/\.(json|csv|xml|txt|ya?ml|bys)$/i.test(text));
}

/** Returns an expression with the names of presets in small letters, with what is behind them: "DGX-H100:2,IB" is "dgx-h100:2,ib". */
function inSmallLetters(expression: string): string {
  const [head = "", ...figures] = expression.split("@");
  const factors = head.split("*").map((factor) => {
    const name = factor.split(/[:,]/, 1)[0] as string;
    const rest = factor.slice(name.length);
    if (!NAMES.has(name.trim().toLowerCase())) return factor;
    return name.toLowerCase() + (/^(?:[:,\dXIB\s]|,\s*SUM)*$/i.test(rest) ? rest.toLowerCase() : rest);
  });
  return [factors.join("*"), ...figures].join("@");
}

/** What else networks are called. */
const ALSO_CALLED: Readonly<Record<string, string>> = {
  fullyconnected: "fc",
  fullmesh: "fc",
  clique: "fc",
  complete: "fc",
  star: "switch",
  crossbar: "switch",
};

/** GPUs of one box of a platform. */
const gpusOf = (name: string): number => (NAMES.has(name) && Object.hasOwn(BOXES, name) ? BOXES[name][1].gpus : 0);

/**
 * Returns what a text that is no preset was perhaps meant to be, quoted: "torus:4x4" for "torsu:4x4", "dgx-h100:1" (8 GPUs) for
 * "h100:8" and "8xh100", for "h100:2" that or "dgx-h100:2" (16 GPUs), the form of a platform for the name of its GPU; null where nothing is near.
 */
export function presetMeant(text: string): string | null {
  // figures stand behind "@", options behind ","
  const [, before, figures] = /^([a-z][\w-]*:[\dx]+)[:,]([\d.]+\s*[kmgt]?i?b.*)$/i.exec(text) ?? [];
  if (before !== undefined) return JSON.stringify(`${before}@${figures}`);
  const [, called = "", size = ""] = /^([a-z-]+)(:\d+)?$/i.exec(text) ?? [];
  const other = ALSO_CALLED[called.toLowerCase().replace(/[-_]/g, "")];
  if (other !== undefined) return JSON.stringify(`${other}${size}`);
  if (/^\s*\d+(?:x\d+)+\s*$/i.test(text)) return JSON.stringify(`torus:${text.trim().toLowerCase()}`);
  const [, many, of] = /^\s*(\d{1,7})\s*[x*]\s*([a-z][\w-]*)\s*$/i.exec(text) ?? [];
  if (many !== undefined && of !== undefined) return presetMeant(`${of}:${many}`);
  const [, gpu, count] = GPUS_TIMES.exec(text) ?? [];
  if (gpu !== undefined && count !== undefined) return presetMeant(`${gpu}:${count}`);
  const [, word = "", rest = ""] = /^\s*([^:@,*\d]*(?:\d+[^:@,*\d]+)*\d*)(.*)$/s.exec(text) ?? [];
  const letters = word.toLowerCase().replace(/[_\s]/g, "-");
  const platform = [...NAMES].find((name) => name.split("-").slice(1).join("-") === letters && gpusOf(name) > 0);
  if (platform !== undefined) {
    const asked = Number(/^:(\d{1,7})$/.exec(rest)?.[1] ?? 0);
    const boxes = Math.max(1, Math.ceil(asked / gpusOf(platform)));
    const ofBoxes = (many: number): string => `"${platform}:${many}" (${many * gpusOf(platform)} GPUs)`;
    // a number that fills no boxes is as well one of boxes
    const isOfGpus = asked <= 1 || asked % gpusOf(platform) === 0 || BOXES[platform][1].scaleOut === undefined;
    return isOfGpus ? ofBoxes(boxes) : `${ofBoxes(boxes)} or ${ofBoxes(asked)}`;
  }
  // boxes by their GPU: "dgx-h200" is "hgx-h200", "dgx-v100" is "dgx1" or "dgx2"
  const [, ofBox = ""] = /^[dh]gx-([a-z]\d{3})$/.exec(NAMES.has(letters) ? "" : letters) ?? [];
  const alike = Object.entries(NVIDIA).filter(
    ([name, [about]]) => ofBox !== "" && /^[dh]gx/.test(name) && about.split(/[ ,]/).includes(ofBox.toUpperCase()),
  );
  if (alike.length > 0)
    return alike.map(([name, [, { gpus }]]) => `"${name}${rest}" (${gpus} GPUs a box)`).join(" or ");
  const near = closest(word, NAMES) ?? closest(word.replace(/\d+$/, ""), NAMES);
  if (near === null) return null;
  const form = PRESETS.find(({ name }) => name === near)?.form ?? near;
  return JSON.stringify(/^:[\w.,:*@/-]+$/.test(rest) ? `${near}${rest}` : form);
}

function unknown(name: string, text: string): InputError {
  const place = name === text ? "the topology" : `${shown(name)} in the topology`;
  const meant = text.includes("*") ? productMeant(name, text) : presetMeant(text);
  const all = "`banyan list presets` lists all";
  const near = meant === null ? `; ${all}` : `; did you mean ${meant}? (${all})`;
  return new InputError(place, `a preset of \`banyan list presets\`${didYouMean(name, NAMES)}`, text)
    .as("unknown-name")
    .saying(
      name === ""
        ? `a factor of ${shown(text)} is empty; ${all}`
        : `${shown(name)} is not a preset of a network${near}`,
    );
}

/** Returns a product with the nearest known name in place of an unknown one, quoted; null where nothing is near. */
function productMeant(name: string, text: string): string | null {
  if (/^\d+$/.test(name)) return JSON.stringify(text.replace(/(?<=\d)\s*\*\s*(?=\d)/g, "x"));
  const near = closest(name, NAMES);
  if (near === null) return null;
  const factors = text.split("*").map((factor) => factor.trim());
  return JSON.stringify(
    factors
      .map((factor) => (/^[^:@]*/.exec(factor)?.[0].trim() === name ? factor.replace(name, near) : factor))
      .join("*"),
  );
}

/** What stands behind the size of switches that duplicate and sum messages. */
const SUM = "sum";

/** Returns a factor without ",sum" behind its size, and whether that was there. Throws InputError for other options. */
function summing(factor: Factor, text: string): { readonly factor: Factor; readonly sums: boolean } {
  const [args = "", ...options] = factor.args.split(",").map((part) => part.trim());
  // numbers behind commas are sizes, of which others say how they are written
  if (options.every((option) => /^[\dx]*$/.test(option))) return { factor, sums: false };
  const { kind, form } = FACTORS[factor.name];
  const other = options.find((option) => option !== SUM || kind !== "switch" || options.length > 1);
  if (other === undefined) return { factor: { ...factor, args }, sums: true };
  const written = `${factor.name}:${factor.args}`;
  const why = kind === "switch" || other !== SUM ? `it must be ${form}` : `only switches sum: switch:${args},${SUM}`;
  throw new InputError(text, form, other).saying(
    `${written}${written === text ? "" : ` in ${shown(text)}`} has ${shown(other)}; ${why}`,
  );
}

/** Returns the sizes of the dimensions of one factor of a product. Throws InputError. */
function factorSizes(factor: Factor, text: string): number[] {
  const { many, form } = FACTORS[factor.name];
  const given = sizes(factor, text);
  if (!many && given.length > 1)
    throw new InputError(`${factor.name}:${factor.args} in ${text}`, form, inWords(`${given.length} sizes`)).saying(
      `${factor.name}:${factor.args} in ${shown(text)} has ${given.length} sizes; it must be ${form}`,
    );
  if (factor.name !== "hypercube") return given;
  if (given[0] > 40) refuseHuge(given[0] * 2 ** given[0], text);
  return new Array<number>(given[0]).fill(2);
}

function product(expression: Expression): Topology {
  const { text, factors } = expression;
  const parts: { kind: DimensionKind; size: number; sums: boolean }[] = [];
  for (const factor of factors) {
    if (!Object.hasOwn(FACTORS, factor.name)) {
      if (!NAMES.has(factor.name)) throw unknown(factor.name, text);
      const known = Object.keys(FACTORS).join(", ");
      throw new InputError(text, `factors among ${known}`, factor.name).saying(
        `${factor.name} in ${text} is not a factor of a product; factors are ${known}`,
      );
    }
    const { kind } = FACTORS[factor.name];
    const { factor: plain, sums } = summing(factor, text);
    for (const size of factorSizes(plain, text)) parts.push({ kind, size, sums });
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
  if (/^\d+:ib$/.test(args))
    throw new InputError(text, boxForm(name, box), args).saying(
      `${text} has its option behind ":"; did you mean ${text.replace(":ib", ",ib")}?`,
    );
  const [boxes, ...options] = args.split(",").map((part) => part.trim());
  for (const option of options) {
    if (option !== "ib" || !WITH_IB_OPTION.includes(name))
      throw new InputError(text, boxForm(name, box), option).saying(
        `${text} has ${shown(option)}; it must be ${boxForm(name, box)}`,
      );
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
  if (looksLikeConstruction(expression) && !NAMES.has(expression.trim().toLowerCase()))
    return constructionTopology(expression);
  const parsed = parseExpression(inSmallLetters(expression));
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

/** One dimension of table 2: kind, size, Gb/s of a link, links per NPU, ns from NPU to NPU. */
type Row = readonly [kind: DimensionKind, size: number, linkGbps: number, links: number, ns: number];

/** Table 2 of Themis (Rashidi et al., ISCA 2022). */
export const THEMIS: Readonly<Record<string, readonly Row[]>> = {
  "2d-sw-sw": [
    ["switch", 16, 200, 6, 700],
    ["switch", 64, 800, 1, 1700],
  ],
  "3d-sw-sw-sw-homo": [
    ["switch", 16, 200, 4, 700],
    ["switch", 8, 200, 4, 700],
    ["switch", 8, 800, 1, 1700],
  ],
  "3d-sw-sw-sw-hetero": [
    ["switch", 16, 200, 8, 700],
    ["switch", 8, 200, 4, 700],
    ["switch", 8, 400, 1, 1700],
  ],
  "3d-fc-ring-sw": [
    ["fc", 8, 200, 7, 700],
    ["ring", 16, 200, 4, 700],
    ["switch", 8, 400, 1, 1700],
  ],
  "4d-ring-sw-sw-sw": [
    ["ring", 4, 1000, 2, 20],
    ["switch", 4, 200, 8, 700],
    ["switch", 8, 200, 4, 700],
    ["switch", 8, 400, 1, 1700],
  ],
  "4d-ring-fc-ring-sw": [
    ["ring", 4, 1500, 2, 20],
    ["fc", 8, 200, 7, 700],
    ["ring", 4, 200, 6, 700],
    ["switch", 8, 800, 1, 1700],
  ],
};

/**
 * Returns `themis:NAME`; with `,sum` behind it its switches duplicate and sum (section 4.5). The links of an NPU in one dimension are shared evenly by its neighbours there (two on a ring, one
 * switch); the table's latency is from NPU to NPU, so each of a switch's two links has half of it.
 */
function themisTopology(expression: Expression): Topology {
  const { text } = expression;
  const [variant = "", ...options] = expression.factors[0].args.split(",").map((part) => part.trim());
  const sums = options.length > 0;
  if (sums && (options.length > 1 || options[0] !== SUM))
    throw new InputError(text, `themis:${variant}[,${SUM}]`, options.find((option) => option !== SUM) ?? options[1]);
  const rows = Object.hasOwn(THEMIS, variant) ? THEMIS[variant] : undefined;
  if (rows === undefined) {
    const names = Object.keys(THEMIS);
    throw new InputError(text, `themis:${names.join("|")}${didYouMean(variant, names)}`, variant);
  }
  const dimensions = rows.map(([kind, size, linkGbps, links, ns]): Dimension => {
    const neighbours = kind === "fc" ? size - 1 : kind === "ring" ? 2 : 1;
    const bytesPerSecond = (linkGbps * links * 1e9) / (8 * neighbours);
    return { kind, size, bytesPerSecond, latencyPs: (kind === "switch" ? ns / 2 : ns) * 1000, sums };
  });
  return productTopology(text, dimensions, [
    "Themis (ISCA 2022), table 2: links per NPU x link bandwidth, shared by the neighbours of a dimension",
    "NPU-to-NPU latency of the table, half of it on each link of a switch",
  ]);
}
