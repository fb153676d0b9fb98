import type { OptionId } from "../../request/option-table.ts";

/** Options of training steps that the page asks for, beside the model. */
export const TRAINING_OPTIONS = [
  "parallel",
  "batch",
  "seq",
  "precision",
  "recompute",
  "accelerator",
  "pass",
  "microBatch",
  "optimizer",
  "bucket",
] as const satisfies readonly OptionId[];
export type TrainingOption = (typeof TRAINING_OPTIONS)[number];

/** Options of plans that the page asks for, beside those of steps; `planTime` and `planBy` are --time-limit and --algorithms. */
export const PLAN_OPTIONS = ["mesh", "passes", "memory", "dims"] as const satisfies readonly OptionId[];
export type PlanOption = (typeof PLAN_OPTIONS)[number];

/** What views let one choose, as an address writes it; what they show by themselves goes without saying. */
export interface Choices extends Readonly<Partial<Record<TrainingOption | PlanOption, string>>> {
  /** There was a comparison of what the address says: it is shown again, or made again. */
  readonly compared?: "1";
  /** Of a comparison, as size-range.ts writes them. */
  readonly sizes?: string;
  /** Of a comparison, as on the command line. */
  readonly algorithms?: string;
  /** What is to run what is compared, as --target. */
  readonly target?: string;
  /** What the chart of a comparison shows over size. */
  readonly measure?: Measure;
  /** What the matrix of the links shows. */
  readonly matrix?: MatrixName;
  /** What is trained: a name of the catalogue, or a file as address-file.ts packs it. */
  readonly model?: string;
  /** What is planned instead of the model: a graph, packed like it. */
  readonly graph?: string;
  /** How long a plan is searched. */
  readonly planTime?: string;
  /** Who makes the collectives of a plan. */
  readonly planBy?: string;
}

export const CHOICES = [
  "compared",
  "sizes",
  "algorithms",
  "target",
  "measure",
  "matrix",
  "model",
  ...TRAINING_OPTIONS,
  ...PLAN_OPTIONS,
  "graph",
  "planTime",
  "planBy",
] as const satisfies readonly (keyof Choices)[];

/** The first one is shown where none is chosen. */
export const MEASURES = ["time", "busbw", "share"] as const;
export type Measure = (typeof MEASURES)[number];

export const MATRICES = ["traffic", "links"] as const;
export type MatrixName = (typeof MATRICES)[number];

/** Returns choices with some of them changed; undefined takes one away. */
export const withChoices = (
  choices: Choices,
  changes: { readonly [Name in keyof Choices]: Choices[Name] | undefined },
): Choices => Object.fromEntries(Object.entries({ ...choices, ...changes }).filter(([, value]) => value !== undefined));
