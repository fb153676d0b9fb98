import { InputError } from "../../../base/errors.ts";
import { disjointSets } from "../../../model/graph/disjoint-sets.ts";
import { type GpuModel, gpuModel } from "../../../model/topology/gpu-models.ts";
import type { TopologyOptions } from "../topology-options.ts";
import type { DirectPair } from "./gpu-box.ts";
import { directRate, givenModel } from "./gpu-figures.ts";
import type { DeviceMatrix } from "./nvidia-smi-matrix.ts";

/** The NVLinks that a matrix tells of. */
export interface MatrixLinks {
  readonly model: GpuModel | null;
  readonly pairs: readonly DirectPair[];
  readonly hubs: readonly Float64Array[];
  readonly notes: readonly string[];
}

/** NVLinks of the cells. */
interface Counts {
  readonly most: number;
  readonly least: number;
  /** [gpus] sum over the row. */
  readonly sum: Int32Array;
  /** [gpus] largest of the row. */
  readonly largest: Int32Array;
}

/**
 * Returns the NVLinks of a matrix. Cells NV# of a switched box show the links of a GPU, not of the pair: where a GPU's cells
 * add up to more links than it has, all GPUs that NVLink connects to it are on one switch, each with its largest cell.
 * Otherwise every cell is a bundle of links between two GPUs. Throws InputError, which asks for `--gpu`, where neither
 * option nor numbers tell the model.
 */
export function linksOf(matrix: DeviceMatrix, fileName: string, options: TopologyOptions): MatrixLinks {
  const given = givenModel(options);
  const counts = countsOf(matrix);
  if (given === "none") {
    const notes = counts.most === 0 ? [] : ["NVLinks left out, as --gpu none says"];
    return { model: null, pairs: [], hubs: [], notes };
  }
  if (counts.most === 0) return { model: given, pairs: [], hubs: [], notes: [] };
  const guess = given === null ? guessOf(matrix.gpus, counts) : null;
  const model = given ?? (guess === null ? null : gpuModel(guess.name));
  const rate = directRate(model, "nvlink", options);
  if (rate === null || model === null) {
    const place = `the GPUs of ${fileName} (NV${counts.most} in line ${matrix.line + 1} or below)`;
    if (given !== null) throw new InputError("--gpu", `a GPU with NVLinks, as ${fileName} shows some,`, given.name);
    throw new InputError(place, "their model by --gpu, such as --gpu a100 or --gpu h100,");
  }
  const notes = [rate.note, ...(guess === null ? [] : [guess.note])];
  const switched = counts.sum.findIndex((sum) => sum > model.links);
  if (switched >= 0) {
    notes.push(
      `NVSwitch: the ${counts.sum[switched]} links in the row of ${matrix.devices[switched]} are more than the ${model.links} ` +
        `of ${model.name}, so NV# is what a GPU has in all; one switch stands for all NVSwitches`,
    );
  }
  return { model, ...wired(matrix, counts, model, rate.bytesPerSecond), notes };
}

function countsOf({ gpus, cell }: DeviceMatrix): Counts {
  const sum = new Int32Array(gpus);
  const largest = new Int32Array(gpus);
  let least = Infinity;
  for (let a = 0; a < gpus; a++) {
    for (let b = 0; b < gpus; b++) {
      if (a === b) continue;
      const way = cell(a, b);
      const links = typeof way === "number" ? way : 0;
      sum[a] += links;
      largest[a] = Math.max(largest[a], links);
      least = Math.min(least, links);
    }
  }
  return { most: largest.reduce((most, links) => Math.max(most, links), 0), least, sum, largest };
}

/** Returns the model that the numbers tell: the sums are those of one model's board only, or of boards with equal links. */
function guessOf(gpus: number, { most, least, sum }: Counts): { readonly name: string; readonly note: string } | null {
  const uniform = most === least;
  const all = sum.reduce((largest, links) => Math.max(largest, links), 0);
  const taken = (name: string, why: string, other: string): { name: string; note: string } => ({
    name,
    note: `GPUs taken as ${name}: ${why} (${other})`,
  });
  if (most === 18) return taken("h100", "18 NVLinks", "B200 and B300 have 18 of 50 GB/s: --gpu b200");
  if (most === 12) return taken("a100", "12 NVLinks", "else say --gpu");
  if (uniform && most === 4 && gpus === 4) return taken("a100", "4 NVLinks to each of 3 others", "else say --gpu");
  if (uniform && most === 6 && gpus > 4) return taken("v100", "6 NVLinks, all pairs", "else say --gpu");
  if (most <= 2 && all === 6) return taken("v100", "6 NVLinks, one or two to a neighbour", "else say --gpu");
  return null;
}

function wired(
  { gpus, cell }: DeviceMatrix,
  { sum, largest }: Counts,
  model: GpuModel,
  rate: number,
): Pick<MatrixLinks, "pairs" | "hubs"> {
  const sets = disjointSets(gpus);
  for (let a = 0; a < gpus; a++) for (let b = 0; b < a; b++) if (typeof cell(a, b) === "number") sets.join(a, b);
  const hubs = new Map<number, Float64Array>();
  for (let g = 0; g < gpus; g++) if (sum[g] > model.links) hubs.set(sets.least(g), new Float64Array(gpus));
  const pairs: DirectPair[] = [];
  for (let a = 0; a < gpus; a++) {
    const hub = hubs.get(sets.least(a));
    if (hub !== undefined) {
      hub[a] = largest[a] * rate;
      continue;
    }
    for (let b = a + 1; b < gpus; b++) {
      const links = cell(a, b);
      if (typeof links === "number") pairs.push({ a, b, bytesPerSecond: links * rate, kind: "nvlink" });
    }
  }
  return { pairs, hubs: [...hubs.values()] };
}
