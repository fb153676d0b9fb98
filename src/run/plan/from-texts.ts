import { InputError, inWords } from "../../base/errors.ts";
import { boxesOf } from "../../model/routes/rings.ts";
import { withGradients } from "../../model/tensor-graph/backward.ts";
import { elementsOf, type TensorGraph } from "../../model/tensor-graph/graph.ts";
import { convolutionGraph } from "../../model/tensor-graph/models/convolution.ts";
import { transformerGraph } from "../../model/tensor-graph/models/transformer.ts";
import { cutParts } from "../../model/tensor-graph/stages.ts";
import { type Mesh, meshOf } from "../../model/tensor-plan/mesh.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { BYTES_OF, type Precision } from "../../model/workload/accelerators.ts";
import type { Model } from "../../model/workload/models.ts";
import { optimizerBytes } from "../../model/workload/sharing.ts";
import { acceleratorOf } from "../../request/accelerator.ts";
import { type Options, optionValue, placeOf, refuseOptions, textOf } from "../../request/option-table.ts";
import { collectivesOf } from "../training/from-texts.ts";
import { ROOM } from "../training/training.ts";
import type { PipelineShape } from "./pipeline.ts";
import type { PlanRequest } from "./plan.ts";
import type { PlanSubject } from "./report.ts";

/** What is planned: a model of the catalogue or a configuration, or a graph that was read. */
export type Planning = { readonly model: Model } | { readonly graph: TensorGraph; readonly source: string };

/** Micro batches that are tried where nobody says. */
const USUAL_PASSES = [1, 2, 4, 8];
const USUAL_LIMIT_MS = 60_000;

/**
 * Returns the meshes of a stage that are tried where nobody says: all of its NPUs as one axis, and the network's own dimensions,
 * neighbours last, where stages are whole boxes, or whole in all dimensions but the outermost.
 */
function usualMeshes(topology: Topology, stages: number): Mesh[] {
  const boxes = boxesOf(topology);
  const sizes = boxes === null ? [...topology.shape].reverse() : [boxes.length, boxes[0]?.length ?? 1];
  const own = sizes.map((size, j) => (j === 0 ? size / stages : size)).filter((size) => size !== 1);
  const all = [topology.npuCount / stages];
  const product = own.reduce((count, size) => count * size, 1);
  const isWhole = own.every(Number.isInteger) && product === all[0];
  return own.length > 1 && own.length <= 3 && isWhole ? [named(own), named(all)] : [named(all)];
}

/** Returns the stages that are tried where nobody says: one, and powers of two that divide the boxes. */
function usualStages(topology: Topology): number[] {
  const boxes = boxesOf(topology)?.length ?? 1;
  const found = [1];
  for (let stages = 2; boxes % stages === 0; stages *= 2) found.push(stages);
  return found;
}

/** Returns stages and meshes to try, as options ask. Throws InputError. */
function shapesOf(options: Options, topology: Topology, usual: () => readonly number[]): PipelineShape[] {
  const { npuCount, name } = topology;
  const asked = optionValue(options, "mesh")?.map(named);
  const stages = optionValue(options, "stages") ?? (asked === undefined ? usual() : [1]);
  for (const count of stages) {
    if (npuCount % count === 0) continue;
    throw new InputError(placeOf("stages"), `a divisor of the ${npuCount} NPUs of ${name}`, count).as("not-together");
  }
  if (asked === undefined) {
    return stages.flatMap((count) => usualMeshes(topology, count).map((mesh) => ({ stages: count, mesh })));
  }
  const shapes: PipelineShape[] = [];
  for (const mesh of asked) {
    const own = stages.filter((count) => mesh.npuCount * count === npuCount);
    shapes.push(...own.map((count) => ({ stages: count, mesh })));
    if (own.length > 0) continue;
    const sizes = mesh.axes.map(({ size }) => size).join("x");
    const wanted = [...new Set(stages.map((count) => npuCount / count))].join(" or ");
    const whole = stages.every((count) => count === 1);
    throw new InputError(
      placeOf("mesh"),
      whole ? `of ${wanted} NPUs, as ${name} has` : `of ${wanted} NPUs, as a stage has`,
      `${sizes}, ${mesh.npuCount} NPUs`,
    ).as("not-together");
  }
  return shapes;
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
  const weightBytes = BYTES_OF[precision];
  const common = {
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
    refuseOptions(options, ["batch", "seq", "passes"], `left out beside ${source}, which has its own`);
    const isForward = graph.gradients.length === 0;
    const whole = isForward ? withGradients(graph) : graph;
    if (whole.gradients.length === 0) {
      throw new InputError("the graph", "with parameters that an output depends on", inWords("no gradients")).as(
        "not-applicable",
      );
    }
    const shapes = shapesOf(options, topology, () => [1]);
    if (!isForward && shapes.some(({ stages }) => stages > 1)) {
      const expected = `1 for ${source}, whose gradients cannot be cut into stages`;
      throw new InputError(placeOf("stages"), expected, optionValue(options, "stages")?.join(",")).as("not-together");
    }
    return {
      request: { ...common, shapes, graphOf: () => whole, forwardOf: () => graph, batch: 1, passes: [1] },
      subject: { name: graph.name, source, parameters: parametersOf(whole) },
    };
  }
  const { model } = planning;
  refuseOptions(options, ["dims"], `left out beside ${model.name}, which has its own sizes`);
  const batch = optionValue(options, "batch");
  if (batch === undefined) throw new InputError(placeOf("batch"), "the samples of a step, such as 64");
  const passes = optionValue(options, "passes") ?? USUAL_PASSES.filter((count) => batch % count === 0);
  for (const count of passes) {
    if (batch % count !== 0)
      throw new InputError(placeOf("passes"), `a divisor of the ${batch} samples`, count).as("not-together");
  }
  const forward = forwardOf(model, options, precision);
  const graphOf = (samples: number): TensorGraph => withGradients(forward(samples));
  const parts = Math.max(...cutParts(forward(batch / (passes[0] as number)))) + 1;
  const usual = usualStages(topology).filter(
    (count) => count === 1 || (count <= parts && count <= Math.max(...passes)),
  );
  const shapes = shapesOf(options, topology, () => usual);
  const most = Math.max(...shapes.map(({ stages }) => stages));
  if (most > parts) {
    const expected = `at most ${parts}, the parts of ${model.name}`;
    throw new InputError(placeOf("stages"), expected, most).as("not-together");
  }
  return {
    request: { ...common, shapes, graphOf, forwardOf: forward, batch, passes },
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
    refuseOptions(options, ["seq"], `left out beside ${name}, which takes images`);
    return (batch) => convolutionGraph(sizes.resnet, { batch, precision });
  }
  throw new InputError("the model", "a transformer, a ResNet, or a graph that is read", name).as("not-applicable");
}

/** Returns how many numbers are trained. */
const parametersOf = (graph: TensorGraph): number =>
  graph.gradients.reduce((all, { parameter }) => all + elementsOf(graph, graph.nodes[parameter]?.dims ?? []), 0);
