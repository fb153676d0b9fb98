import { InputError, inWords } from "../../base/errors.ts";
import { boxesOf } from "../../model/routes/rings.ts";
import { withGradients } from "../../model/tensor-graph/backward.ts";
import { elementsOf, type TensorGraph } from "../../model/tensor-graph/graph.ts";
import { convolutionGraph } from "../../model/tensor-graph/models/convolution.ts";
import { transformerGraph } from "../../model/tensor-graph/models/transformer.ts";
import { type Mesh, meshOf } from "../../model/tensor-plan/mesh.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { BYTES_OF, type Precision } from "../../model/workload/accelerators.ts";
import type { Model } from "../../model/workload/models.ts";
import { optimizerBytes } from "../../model/workload/sharing.ts";
import { acceleratorOf } from "../../request/accelerator.ts";
import { type Options, optionValue, placeOf, refuseOptions, textOf } from "../../request/option-table.ts";
import { collectivesOf } from "../training/from-texts.ts";
import { ROOM } from "../training/training.ts";
import type { PlanRequest } from "./plan.ts";
import type { PlanSubject } from "./report.ts";

/** What is planned: a model of the catalogue or a configuration, or a graph that was read. */
export type Planning = { readonly model: Model } | { readonly graph: TensorGraph; readonly source: string };

/** Micro batches that are tried where nobody says. */
const USUAL_PASSES = [1, 2, 4, 8];
const USUAL_LIMIT_MS = 60_000;

/** Returns the meshes that are tried where nobody says: all NPUs as one axis, and the network's own dimensions, neighbours last. */
function usualMeshes(topology: Topology): Mesh[] {
  const boxes = boxesOf(topology);
  const sizes = boxes === null ? [...topology.shape].reverse() : [boxes.length, boxes[0]?.length ?? 1];
  const own = sizes.filter((size) => size > 1);
  const all = [topology.npuCount];
  const product = own.reduce((count, size) => count * size, 1);
  return own.length > 1 && own.length <= 3 && product === topology.npuCount ? [named(own), named(all)] : [named(all)];
}

/** Axes are called by letters: what they are for is what the search tells. */
const named = (sizes: readonly number[]): Mesh => meshOf(sizes, ["A", "B", "C", "D", "E", "F", "G"]);

/** Returns what options ask to be planned, and what it is. Throws InputError. */
export function planRequestOf(
  options: Options,
  planning: Planning,
  topology: Topology,
): { readonly request: PlanRequest; readonly subject: PlanSubject } {
  const precision = optionValue(options, "precision") ?? "bf16";
  const accelerator = acceleratorOf(textOf(options, "accelerator"), topology.name, precision, placeOf("accelerator"));
  const names = collectivesOf(optionValue(options, "algorithms"));
  if (optionValue(options, "algorithms") !== undefined && names.length > 1) {
    throw new InputError(placeOf("algorithms"), "one: all collectives of a plan are by the same", names.join(","));
  }
  const asked = optionValue(options, "mesh");
  const meshes = asked === undefined ? usualMeshes(topology) : asked.map(named);
  for (const { axes, npuCount } of meshes) {
    if (npuCount === topology.npuCount) continue;
    const sizes = axes.map(({ size }) => size).join("x");
    throw new InputError(
      placeOf("mesh"),
      `of ${topology.npuCount} NPUs, as ${topology.name} has`,
      `${sizes}, ${npuCount} NPUs`,
    ).as("not-together");
  }
  const weightBytes = BYTES_OF[precision];
  const common = {
    meshes,
    accelerator,
    precision,
    memoryBytes: optionValue(options, "memory") ?? Math.floor(ROOM * accelerator.memoryBytes),
    optimizerBytes: optimizerBytes(optionValue(options, "optimizer") ?? "adam", weightBytes),
    gradientBytes: Math.max(2, weightBytes),
    algorithm: optionValue(options, "algorithms") === undefined ? "library" : (names[0] as string),
    timeLimitMs: optionValue(options, "timeLimit") ?? USUAL_LIMIT_MS,
  };
  if (!("model" in planning)) {
    const { graph, source } = planning;
    refuseOptions(options, ["batch", "seq", "passes"], `a model; ${source} has its own,`);
    const whole = graph.gradients.length > 0 ? graph : withGradients(graph);
    if (whole.gradients.length === 0) {
      throw new InputError("the graph", "with parameters that an output depends on", inWords("no gradients")).as(
        "not-applicable",
      );
    }
    return {
      request: { ...common, graphOf: () => whole, batch: 1, passes: [1] },
      subject: { name: graph.name, source, parameters: parametersOf(whole) },
    };
  }
  const { model } = planning;
  refuseOptions(options, ["dims"], `an ONNX file; ${model.name} has its own sizes,`);
  const batch = optionValue(options, "batch");
  if (batch === undefined) throw new InputError(placeOf("batch"), "the samples of a step, such as 64");
  const passes = optionValue(options, "passes") ?? USUAL_PASSES.filter((count) => batch % count === 0);
  for (const count of passes) {
    if (batch % count !== 0)
      throw new InputError(placeOf("passes"), `a divisor of the ${batch} samples`, count).as("not-together");
  }
  const forward = forwardOf(model, options, precision);
  const graphOf = (samples: number): TensorGraph => withGradients(forward(samples));
  return {
    request: { ...common, graphOf, batch, passes },
    subject: {
      name: model.name,
      source: model.source,
      parameters: parametersOf(graphOf(batch / (passes[0] as number))),
    },
  };
}

/** Returns the forward graph of a model of so many samples. Throws InputError for a model of which there is none. */
function forwardOf({ name, sizes }: Model, options: Options, precision: Precision): (samples: number) => TensorGraph {
  if (sizes.kind === "transformer") {
    const sequence = optionValue(options, "seq") ?? sizes.config.sequence;
    return (batch) => transformerGraph(sizes.config, { batch, sequence, precision });
  }
  if (sizes.kind === "resnet") {
    refuseOptions(options, ["seq"], `a transformer; ${name} takes images,`);
    return (batch) => convolutionGraph(sizes.resnet, { batch, precision });
  }
  throw new InputError("the model", "a transformer, a ResNet, or a graph that is read", name).as("not-applicable");
}

/** Returns how many numbers are trained. */
const parametersOf = (graph: TensorGraph): number =>
  graph.gradients.reduce((all, { parameter }) => all + elementsOf(graph, graph.nodes[parameter]?.dims ?? []), 0);
