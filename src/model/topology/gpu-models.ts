import { optionName, type Place } from "../../base/option-names.ts";
import { BYTES_PER_GB } from "../numbers/units.ts";
import { closest, unknownName } from "./closest.ts";

/** How GPUs of a model are joined where nothing but their number is known. */
type BoardWiring = "switch" | "mesh" | "cube-mesh";

/** A board with this many GPUs; `linksPerPair` is for a mesh. */
export interface GpuBoard {
  readonly gpus: number | "any";
  readonly wiring: BoardWiring;
  readonly linksPerPair?: number;
}

/** What a kind of GPU can do. Figures are the makers': per link and direction, before any loss. */
export interface GpuModel {
  readonly name: string;
  /** "nvlink" or "xgmi"; null where GPUs meet over PCIe only. */
  readonly link: "nvlink" | "xgmi" | null;
  /** Most links of a GPU. */
  readonly links: number;
  readonly linkBytesPerSecond: number;
  /** What NCCL or RCCL counts for a link. */
  readonly countedBytesPerSecond: number;
  /** PCIe generation; 16 lanes. */
  readonly pcie: number;
  /** Its NVSwitch duplicates and reduces (NVLink SHARP). */
  readonly inNetwork: boolean;
  readonly boards: readonly GpuBoard[];
}

const SWITCHED: readonly GpuBoard[] = [{ gpus: "any", wiring: "switch" }];
/** Boards of 4 GPUs without NVSwitch: NVIDIA's HGX pages. */
const switchedOrFour = (linksPerPair: number): readonly GpuBoard[] => [
  { gpus: 4, wiring: "mesh", linksPerPair },
  ...SWITCHED,
];
const FULL_MESH_OF_8: readonly GpuBoard[] = [{ gpus: 8, wiring: "mesh", linksPerPair: 1 }];

/**
 * By name: kind of link, number of links, GB/s, GB/s that NCCL or RCCL counts, PCIe generation, boards. Sources: NVIDIA's
 * data sheets (NVLink1 4x20, NVLink2 6x25, NVLink3 12x25, NVLink4 18x25, NVLink5 18x50; GA102 bridges 4x14.0625; A800 and
 * H800 8 links), ROCm's GPU guides and AMD's data sheets (MI100 23 GT/s x16 = 46, MI200 50, MI300 64, MI350 76.5); NCCL's
 * and RCCL's topo.h for what they count.
 */
type Row = readonly [
  link: GpuModel["link"],
  links: number,
  gbps: number,
  countedGbps: number,
  pcie: number,
  boards?: readonly GpuBoard[],
];
const ROWS: Readonly<Record<string, Row>> = {
  p100: ["nvlink", 4, 20, 18, 3],
  v100: [
    "nvlink",
    6,
    25,
    20,
    3,
    [
      { gpus: 8, wiring: "cube-mesh" },
      { gpus: 16, wiring: "switch" },
    ],
  ],
  "v100-pcie": [null, 0, 0, 0, 3],
  t4: [null, 0, 0, 0, 3],
  a100: ["nvlink", 12, 25, 20, 4, switchedOrFour(4)],
  "a100-pcie": ["nvlink", 12, 25, 20, 4, [{ gpus: 2, wiring: "mesh", linksPerPair: 12 }]],
  a800: ["nvlink", 8, 25, 20, 4, SWITCHED],
  a30: ["nvlink", 4, 25, 20, 4, [{ gpus: 2, wiring: "mesh", linksPerPair: 4 }]],
  a10: [null, 0, 0, 0, 4],
  a10g: [null, 0, 0, 0, 4],
  a40: ["nvlink", 4, 14.0625, 12, 4, [{ gpus: 2, wiring: "mesh", linksPerPair: 4 }]],
  "rtx-a6000": ["nvlink", 4, 14.0625, 12, 4, [{ gpus: 2, wiring: "mesh", linksPerPair: 4 }]],
  "rtx-3090": ["nvlink", 4, 14.0625, 12, 4, [{ gpus: 2, wiring: "mesh", linksPerPair: 4 }]],
  "rtx-4090": [null, 0, 0, 0, 4],
  "rtx-5090": [null, 0, 0, 0, 5],
  "rtx-pro-6000": [null, 0, 0, 0, 5],
  l4: [null, 0, 0, 0, 4],
  l40: [null, 0, 0, 0, 4],
  l40s: [null, 0, 0, 0, 4],
  h100: ["nvlink", 18, 25, 20.6, 5, switchedOrFour(6)],
  "h100-pcie": ["nvlink", 12, 25, 20.6, 5, [{ gpus: 2, wiring: "mesh", linksPerPair: 12 }]],
  "h100-nvl": ["nvlink", 12, 25, 20.6, 5, [{ gpus: 2, wiring: "mesh", linksPerPair: 12 }]],
  h800: ["nvlink", 8, 25, 20.6, 5, SWITCHED],
  h200: ["nvlink", 18, 25, 20.6, 5, switchedOrFour(6)],
  h20: ["nvlink", 18, 25, 20.6, 5, SWITCHED],
  b200: ["nvlink", 18, 50, 40.1, 5, SWITCHED],
  b300: ["nvlink", 18, 50, 40.1, 6, SWITCHED],
  gb200: ["nvlink", 18, 50, 40.1, 5, SWITCHED],
  gb300: ["nvlink", 18, 50, 40.1, 6, SWITCHED],
  mi50: ["xgmi", 2, 46, 24, 4],
  mi60: ["xgmi", 2, 46, 24, 4],
  mi100: ["xgmi", 3, 46, 24, 4, [{ gpus: 4, wiring: "mesh", linksPerPair: 1 }]],
  mi210: ["xgmi", 3, 50, 36, 4, [{ gpus: 4, wiring: "mesh", linksPerPair: 1 }]],
  mi250: ["xgmi", 8, 50, 36, 4],
  mi250x: ["xgmi", 8, 50, 36, 4],
  mi300a: ["xgmi", 6, 64, 48, 5, [{ gpus: 4, wiring: "mesh", linksPerPair: 2 }]],
  mi300x: ["xgmi", 7, 64, 48, 5, FULL_MESH_OF_8],
  mi325x: ["xgmi", 7, 64, 48, 5, FULL_MESH_OF_8],
  mi350x: ["xgmi", 7, 76.5, 48, 5, FULL_MESH_OF_8],
  mi355x: ["xgmi", 7, 76.5, 48, 5, FULL_MESH_OF_8],
};

/** NVSwitches from the third generation (Hopper) on compute. */
const WITH_SHARP = /^(h|b|gb)\d/;

function modelOf(name: string, [link, links, gbps, counted, pcie, boards = []]: Row): GpuModel {
  return {
    name,
    link,
    links,
    linkBytesPerSecond: gbps * BYTES_PER_GB,
    countedBytesPerSecond: counted * BYTES_PER_GB,
    pcie,
    inNetwork: WITH_SHARP.test(name),
    boards,
  };
}

/** All models, by name. */
export const GPU_MODELS: ReadonlyMap<string, GpuModel> = new Map(
  Object.entries(ROWS).map(([name, row]) => [name, modelOf(name, row)]),
);

/** Returns the words of a name, a letter-only word joined with the number behind it: "RTX 3090" is one word. */
const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replace(/\b(rtx|mi|a|h|b|v|p|l|t)[\s_-]+(?=a?\d)/g, "$1")
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");

/** Words of each model's name; "rtx-a6000" is also known as "a6000". */
const KNOWN = [...GPU_MODELS.values()].flatMap((model) => {
  const words = wordsOf(model.name);
  const short = words[0].replace(/^rtx(?=a)/, "");
  return [{ model, words }, ...(short === words[0] ? [] : [{ model, words: [short, ...words.slice(1)] }])];
});

/**
 * Returns the model that a name means: "a100", "A100-SXM4-80GB", "NVIDIA H100 80GB HBM3", "AMD Instinct MI300X". The model
 * with the most words in the name is meant, so "A100 80GB PCIe" is "a100-pcie". Throws InputError, which lists the models.
 */
export function gpuModel(name: string, place: Place = optionName("gpu")): GpuModel {
  const words = new Set(wordsOf(name));
  let best: (typeof KNOWN)[number] | undefined;
  for (const known of KNOWN) {
    if (known.words.length > (best?.words.length ?? 0) && known.words.every((word) => words.has(word))) best = known;
  }
  if (best !== undefined) return best.model;
  const names = [...GPU_MODELS.keys()];
  throw unknownName(place, name, names, { list: "gpus", meant: closest(name, names) });
}

/** Returns the wiring of a board with this many of the GPUs, null where none is known. */
export const boardOf = (model: GpuModel, gpus: number): GpuBoard | null =>
  model.boards.find((board) => board.gpus === gpus) ?? model.boards.find((board) => board.gpus === "any") ?? null;

/** Returns what NCCL counts for 16 lanes of a PCIe generation, bytes per second: 12e9 for 3.0, twice that a generation. */
export const pcieBytesPerSecond = (generation: number): number => 12 * BYTES_PER_GB * 2 ** (generation - 3);

/** Pairs [a, b, links] of the 8 GPUs of a hybrid cube mesh, as nvidia-smi numbers those of a V100 SXM2 box. */
export const CUBE_MESH_PAIRS: readonly (readonly [number, number, number])[] = [
  [0, 1, 1],
  [0, 2, 1],
  [0, 3, 2],
  [0, 4, 2],
  [1, 2, 2],
  [1, 3, 1],
  [1, 5, 2],
  [2, 3, 2],
  [2, 6, 1],
  [3, 7, 1],
  [4, 5, 1],
  [4, 6, 1],
  [4, 7, 2],
  [5, 6, 2],
  [5, 7, 1],
  [6, 7, 2],
];

/** Machines that are called after a cloud or a box. */
const MACHINES: readonly (readonly [name: RegExp, model: string])[] = [
  [/^(?:dgx1|dgx2|ndv2)\b/, "V100"],
  [/^(?:ndv4|p4d)\b/, "A100"],
  [/^(?:ndv5|p5)\b/, "H100"],
];

/**
 * Returns the model of a GPU that a device's, a platform's or a network's name tells ("NVIDIA A100-SXM4-80GB", "H200x8 NVLink4",
 * "dgx-h100:4"), null where it tells none. AMD's are without the letter behind.
 */
export function gpuModelNamedIn(name: string): string | null {
  const found = /(?<![a-z0-9])(g[bh]\d{3}|[abhpv]\d{3}|mi\d{3})(?!\d)/i.exec(name);
  return found?.[1]?.toUpperCase() ?? MACHINES.find(([machine]) => machine.test(name))?.[1] ?? null;
}
