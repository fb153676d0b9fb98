import { closest, spelt, unknownName } from "../topology/closest.ts";
import { type DlrmSizes, dlrmStep, LIBRA_DLRM } from "./tables/dlrm.ts";
import { GNMT_8, GNMT_16, type GnmtSizes, gnmtStep } from "./tables/gnmt.ts";
import { RESNETS, type ResnetSizes, resnetStep } from "./tables/resnet.ts";
import type { TableOptions } from "./tables/table-layers.ts";
import type { TrainingStep } from "./training-step.ts";
import type { TransformerConfig } from "./transformer/config.ts";
import { DENSE_MODELS, type ListedTransformer } from "./transformer/dense-models.ts";
import { EXPERT_MODELS } from "./transformer/expert-models.ts";

/** A model of the catalogue. */
export interface Model {
  readonly name: string;
  readonly aliases: readonly string[];
  /** Where its sizes are printed. */
  readonly source: string;
  readonly sizes:
    | { readonly kind: "transformer"; readonly config: TransformerConfig }
    | { readonly kind: "resnet"; readonly resnet: ResnetSizes }
    | { readonly kind: "gnmt"; readonly gnmt: GnmtSizes }
    | { readonly kind: "dlrm"; readonly dlrm: DlrmSizes };
}

const MODELS: readonly Model[] = [
  ...DENSE_MODELS.map(asModel),
  ...EXPERT_MODELS.map(asModel),
  ...RESNETS.map((resnet): Model => {
    const aliases = [resnet.name.replace("-", "")];
    return { name: resnet.name, aliases, source: "He et al. 2016, table 1", sizes: { kind: "resnet", resnet } };
  }),
  ...[GNMT_8, GNMT_16].map((gnmt): Model => {
    const aliases = gnmt === GNMT_8 ? ["gnmt-v2", "gnmt-8"] : [];
    return { name: gnmt.name, aliases, source: gnmt.source, sizes: { kind: "gnmt", gnmt } };
  }),
  { name: "dlrm", aliases: [], source: LIBRA_DLRM.source, sizes: { kind: "dlrm", dlrm: LIBRA_DLRM } },
];

function asModel({ config, aliases = [], source }: ListedTransformer): Model {
  return { name: config.name, aliases, source, sizes: { kind: "transformer", config } };
}

export const MODEL_NAMES: readonly string[] = MODELS.map(({ name }) => name);

/** Returns the model of a name. Throws InputError, with the nearest name, for one that is unknown. */
export function modelNamed(name: string, place = "the model"): Model {
  const all = MODELS.flatMap((model) => [model.name, ...model.aliases]);
  const meant = spelt(name, all);
  if (meant === undefined) throw unknownName(place, name, MODEL_NAMES, { list: "models", meant: closest(name, all) });
  return MODELS.find((model) => model.name === meant || model.aliases.includes(meant)) as Model;
}

/** Returns the step of a model that is a table of layers. Throws InputError where something does not divide. */
export function tableStep(
  sizes: Exclude<Model["sizes"], { readonly kind: "transformer" }>,
  options: TableOptions,
): TrainingStep {
  if (sizes.kind === "resnet") return resnetStep(sizes.resnet, options);
  return sizes.kind === "gnmt" ? gnmtStep(sizes.gnmt, options) : dlrmStep(sizes.dlrm, options);
}
