import { chakraTraces } from "../../../src/export/workloads/chakra.ts";
import { readAstraText } from "../../../src/import/workloads/astra-text.ts";
import { readChakra, type TraceFile } from "../../../src/import/workloads/chakra.ts";
import { readHuggingFace } from "../../../src/import/workloads/hugging-face.ts";
import { greatestMemory } from "../../../src/model/workload/memory.ts";
import { type PlacedTasks, placedStep } from "../../../src/model/workload/placed-tasks.ts";
import { defaultOptions } from "../../../src/model/workload/transformer/options.ts";
import { activeParameterCount, parameterCount } from "../../../src/model/workload/transformer/parameters.ts";
import { transformerStep } from "../../../src/model/workload/transformer.ts";
import { coll, comp, receive, send, tracesOf } from "../chakra-bytes.ts";
import { timesOf } from "../placed-costs.ts";
import { bytesOf, type FuzzTarget, LawBroken, letters } from "./target.ts";

/** Readers of workloads: texts of ASTRA-sim 1.0 and Chakra's execution traces. */

const ROWS = [
  "embedding -1 300 ALLTOALL 98304 300 ALLTOALL 98304 300 NONE 0 98",
  "bottom -1 1280 NONE 0 794 NONE 0 896 ALLREDUCE 13312 13",
  "top -1 6400 ALLGATHER 64 6400 REDUCESCATTER 64 4480 ALLREDUCE 1064960 1065",
];
const FIRSTS = [
  "DATA",
  "MODEL",
  "MICRO",
  "DISTRIBUTED_INFERENCE",
  "HYBRID_DATA_MODEL",
  "HYBRID_MODEL_DATA",
  "HYBRID_DLRM 1",
  "HYBRID_DLRM_ENHANCED 0",
  "HYBRID_TRANSFORMER model_parallel_NPU_group: 2",
  "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 2 0 1 checkpoint_initiates: 1 2",
];
const CUSTOMIZED = ["DATA", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA"];

/** Reads a text for 4 NPUs, and runs what it holds. */
const checkText = (text: string): number =>
  timesOf(placedStep(readAstraText(text, "file", { npus: 4, modelNpus: 2 })), cost).ps;

const cost = (bytes: number): number => bytes;

/** Traces as one input: the bytes of the first, then both. */
const joined = ([first, second]: readonly TraceFile[]): string =>
  `${first.bytes.length}\n${letters(first.bytes)}${letters(second.bytes)}`;

const GROUPS = '{"1": [1, 0]}';
const TRACES = [
  tracesOf([comp(0, 10), coll(1, 0, 5000, [0]), comp(2, 1, [1])], [comp(0, 30), coll(1, 0, 5000, [0], "0")]),
  tracesOf(
    [comp(7, 3), send(8, 1, 64, [7], 2), coll(9, 2, 8, [8], "1")],
    [receive(3, 0, 64, [], 2), coll(4, 2, 8, [3], "1")],
  ),
  tracesOf(
    [{ id: 1, type: "computation", num_ops: 7, tensor_size: 900, is_cpu_op: true }, coll(2, 9, 0, [1])],
    [coll(1, 9, 0)],
  ),
];

/** Reads the traces of two NPUs, runs them, and writes and reads them once more. */
function checkTraces(input: string): number {
  const [, length = "0", rest = input] = /^(\d{1,6})\n(.*)$/s.exec(input) ?? [];
  const bytes = bytesOf(rest);
  const files = [bytes.slice(0, Number(length)), bytes.slice(Number(length))].map((part, npu) => ({
    name: `t.${npu}.et`,
    bytes: part,
  }));
  const placed = readChakra(files, { groups: { name: "groups.json", text: GROUPS }, dimensions: [2, 1] });
  const ps = timesOf(placed, cost).ps;
  const again = readAgain(placed);
  // computations without a time have at least one operation in traces, where parts of all-gathers are whole bytes
  if (isExact(placed) && timesOf(again, cost).ps !== ps)
    throw new LawBroken("traces take another time once written and read");
  return ps;
}

const isExact = ({ tasks }: PlacedTasks): boolean =>
  tasks.works.every(
    (work) => work.kind === "communication" || work.computations.every(({ givenPs }) => givenPs !== undefined),
  );

function readAgain(placed: PlacedTasks): PlacedTasks {
  const files = [...chakraTraces(placed, "w")];
  const groups = files.find(({ name }) => name.endsWith(".json"));
  const text = groups === undefined ? "{}" : new TextDecoder().decode(groups.bytes);
  return readChakra(
    files.filter((file) => file !== groups),
    { groups: { name: "groups", text } },
  );
}

const LLAMA = {
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  hidden_size: 64,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 128,
  vocab_size: 1000,
  max_position_embeddings: 256,
  tie_word_embeddings: false,
};
const CONFIGS: readonly object[] = [
  LLAMA,
  {
    ...LLAMA,
    architectures: ["MixtralForCausalLM"],
    model_type: "mixtral",
    num_local_experts: 8,
    num_experts_per_tok: 2,
  },
  {
    architectures: ["GPT2LMHeadModel"],
    model_type: "gpt2",
    n_embd: 64,
    n_layer: 2,
    n_head: 4,
    vocab_size: 1000,
    n_positions: 128,
  },
];
/** A step of more layers is not made here. */
const MOST_LAYERS = 1000;

/** Reads a configuration; what it holds has parameters, memory and a step, or is refused. */
function checkConfig(text: string): number {
  const config = readHuggingFace(text, "file");
  const all = parameterCount(config);
  const active = activeParameterCount(config);
  if (!(all > 0 && active > 0 && active <= all)) throw new LawBroken(`${active} of ${all} parameters are active`);
  if (config.layers + config.encoderLayers > MOST_LAYERS) return all;
  const step = transformerStep(config, { ...defaultOptions(config), batch: 2 });
  if (!(greatestMemory(step).total >= all)) throw new LawBroken("a model takes less memory than its parameters");
  return all;
}

export const workloadTargets = (): FuzzTarget[] => [
  {
    name: "workload-astra-text",
    seeds: () => [
      ...FIRSTS.map((first) => [first, "3", ...ROWS].join("\n")),
      ["HYBRID_CUSTOMIZED", "3", ...ROWS.map((row, i) => `${row} ${CUSTOMIZED[i]}`)].join("\n"),
    ],
    check: checkText,
  },
  { name: "workload-hugging-face", seeds: () => CONFIGS.map((config) => JSON.stringify(config)), check: checkConfig },
  { name: "workload-chakra", seeds: () => TRACES.map(joined), check: checkTraces },
];
