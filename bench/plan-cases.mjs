// What `npm run bench -- plan` looks at: models on networks, each a row. BANYAN_PLAN_ROWS="llama3-8b dgx" runs those that have all
// of these words, BANYAN_PLAN_SECONDS gives each search other than 60 s.

export const SECONDS = Number(process.env.BANYAN_PLAN_SECONDS ?? 60);

export const SEQUENCE = 8192;

/** Models, and so many samples of SEQUENCE tokens a step on 128 GPUs, 512 to 576, and 1,024. */
const MODELS = ["llama3-8b", "llama3-70b", "llama3-405b", "mixtral-8x22b", "deepseek-v3"];

const NVLINK_8 = 450e9;
/** Axes with what an NPU can send to others on it, bytes a second: what costs by volume go by. */
const NETWORKS = [
  {
    network: "dgx-h100:16",
    axes: [
      [16, 50e9],
      [8, NVLINK_8],
    ],
    accelerator: "h100",
    batch: 512,
  },
  {
    network: "dgx-h100:128",
    axes: [
      [128, 50e9],
      [8, NVLINK_8],
    ],
    accelerator: "h100",
    batch: 1024,
  },
  {
    network: "tpu-v5p:8x8x8",
    axes: [
      [8, 180e9],
      [8, 180e9],
      [8, 180e9],
    ],
    // Google Cloud's page on TPU v5p: 459 TFLOP/s, 2,765 GB/s, 95 GB
    accelerator: { peak: 459e12, memoryBandwidth: 2765e9, memory: 95e9 },
    batch: 512,
  },
  // eight domains of 72 GPUs, a rail for each; 72 as 9 x 8, for no dimension of a model is a multiple of 9
  {
    network: "switch:72*switch:8@900,50GB/s,0.5us",
    axes: [
      [8, 50e9],
      [9, 900e9],
      [8, 900e9],
    ],
    accelerator: "gb200",
    batch: 576,
  },
];

/** Passes that a step may be cut into, and stages that the model may be. */
export const PASSES = [1, 4, 16];
export const STAGES = [1, 4];

export const CASES = NETWORKS.flatMap((network) => MODELS.map((model) => ({ model, ...network })));

const words = (process.env.BANYAN_PLAN_ROWS ?? "").split(" ").filter((word) => word !== "");
export const nameOf = ({ model, network }) => `${model} on ${network}`;
export const isAsked = (one) => words.every((word) => nameOf(one).includes(word));
export const isSubset = words.length > 0;
