import { type Communication, type Computation, INPUT, type Part, type Pass } from "../layer-work.ts";
import { backwardPass, forwardPass, type Product } from "../operations.ts";
import type { LocalLayer } from "../sharing.ts";
import type { TrainingStep } from "../training-step.ts";
import { activationBytes } from "../transformer/options.ts";
import {
  copiedStep,
  localLayer,
  operationsOf,
  productBytes,
  productFlops,
  samplesEach,
  type TableLayer,
  type TableOptions,
} from "./table-layers.ts";

/** A recommendation model (Naumov et al. 2019): dense features and rows of tables meet in a stack of layers. */
export interface DlrmSizes {
  readonly name: string;
  readonly source: string;
  /** Widths from the features to the vector that joins those of the tables, and from all vectors to the result. */
  readonly bottom: readonly number[];
  readonly top: readonly number[];
  readonly tables: number;
  /** Rows of a table; nothing but memory depends on it. */
  readonly rows: number;
}

const times = (count: number, width: number): number[] => Array.from({ length: count }, () => width);

/**
 * The layers of LIBRA's public table (Won et al. 2024, inputs/workload/DLRM.txt), of the group that Themis is of: sums of
 * gradients of 114,823,168 bytes are these widths at 2 bytes, the all-to-all of 4,194,304 bytes is 512 samples x 64 tables x 64
 * numbers x 2 bytes, Themis' batch of 512. Rows of tables are printed nowhere: a million each is chosen.
 */
export const LIBRA_DLRM: DlrmSizes = {
  name: "dlrm",
  source: "LIBRA (Won et al. 2024), DLRM.txt; a million rows a table are chosen",
  bottom: [1600, ...times(6, 1024), 64],
  top: [4160, ...times(11, 2048), 1],
  tables: 64,
  rows: 1e6,
};

/** Returns the layers of a stack for so many samples. */
function stack(name: string, widths: readonly number[], samples: number, isFirst: boolean): TableLayer[] {
  return widths.slice(1).map((to, i) => {
    const from = widths[i];
    const product: Product = {
      name: `${name} ${i + 1}`,
      rows: samples,
      inner: from,
      columns: to,
      count: 1,
      isFirst: isFirst && i === 0,
    };
    return {
      name: `${name} ${i + 1}`,
      products: [product],
      streamed: 2 * samples * to,
      parameters: from * to,
      kept: samples * from,
    };
  });
}

/** Returns a pass of the tables beside one of the bottom stack; what follows waits for both. */
function beside(first: Part[], tables: readonly number[], stacked: Pass): Pass {
  const ahead = first.length;
  const moved = (at: number): number => (at >= 0 ? at + ahead : at);
  return {
    parts: [...first, ...stacked.parts.map((part) => ({ ...part, after: part.after.map(moved) }))],
    outputs: [...tables, ...stacked.outputs.map(moved)],
  };
}

/**
 * Returns a training step: stacks in copies, tables dealt among the NPUs. Each NPU looks up the rows of its tables for all samples
 * and sends them on (an all-to-all) while the bottom stack works; the top stack waits for both; back go the gradients in the same
 * way (Themis 2022, 6.2). Throws InputError where the batch does not divide.
 */
export function dlrmStep(sizes: DlrmSizes, options: TableOptions): TrainingStep {
  const samples = samplesEach(options, sizes.name);
  const bytes = activationBytes(options.precision);
  const { tables, rows, name } = sizes;
  const width = sizes.bottom[sizes.bottom.length - 1];
  const vectors = samples * tables * width * bytes;
  const lookup = (what: string, moves: number): Computation => ({
    name: what,
    kind: "memory",
    flops: 0,
    bytes: moves * vectors,
  });
  const exchange = (what: string): Communication => ({
    name: what,
    collective: "alltoall",
    group: "data",
    bytes: vectors,
  });

  const bottom = stack("bottom", sizes.bottom, samples, true);
  const size = productBytes(options);
  const operations = bottom.flatMap((layer) => operationsOf(layer, bytes));
  const forward: Part[] = [
    { after: [INPUT], computation: lookup("rows of tables", 2) },
    { after: [0], communication: exchange("rows of tables") },
  ];
  const backward: Part[] = [{ after: [INPUT], communication: exchange("gradients of rows") }];
  const stacked = beside(backward, [], backwardPass(operations, size, "none"));
  const update: Part = { after: [0], computation: lookup("update of rows", 3) };
  const sparse: LocalLayer = {
    name: "tables and bottom",
    forward: beside(forward, [1], forwardPass(operations, size)),
    backward: { parts: [...stacked.parts, update], outputs: [...stacked.outputs, stacked.parts.length] },
    dense: bottom.reduce((sum, { parameters }) => sum + parameters, 0),
    experts: 0,
    activations: bottom.reduce((sum, { kept }) => sum + kept, 0) * bytes + vectors,
    // tables stay in memory, in 4 bytes; only this layer holds anything besides
    working: (tables * rows * width * 4) / options.parallelism.data,
  };
  const top = stack("top", sizes.top, samples, false);
  const flops = [...stack("", sizes.bottom, 1, true), ...stack("", sizes.top, 1, false)];
  const all = flops.reduce((sum, { products }) => sum + products.reduce((s, p) => s + productFlops(p), 0), 0);
  return copiedStep(name, [sparse, ...top.map((layer) => localLayer(layer, options))], options, [0, all]);
}
