// Networks, what runs there, collectives and sizes of `npm run bench -- gains`.

/** `to`: what `export` is asked for a target, null where schedules are compared. */
export const TARGETS = {
  mscclpp: ["--to", "mscclpp"],
  azure: ["--to", "msccl-xml"],
  rccl: ["--to", "msccl-xml", "--dialect", "rccl"],
};

/** As programs among 128 GPUs a line takes minutes: those that are laid over boxes, and of ours what libraries do not have. */
const OVER_BOXES = ["nccl-rings", "nccl-tree", "pat", "bruck", "mcf", "tacos", "forestcoll", "themis", "blueconnect"];

const NETWORKS = [
  { network: "dgx-h100:1", target: "mscclpp" },
  { network: "mi300x", target: "rccl" },
  { network: "torus:8x8x8", target: null },
  { network: "dgx-a100:2", target: "azure" },
  { network: "dgx-h100:4", target: "azure" },
  { network: "dgx-h100:1", target: "azure" },
  { network: "dgx-a100:2", target: "mscclpp" },
  { network: "dgx-h100:4", target: "mscclpp" },
  { network: "dgx-a100:16", target: "azure", algorithms: OVER_BOXES },
];

const COLLECTIVES = ["allreduce", "allgather", "reducescatter", "alltoall"];

export const SIZES = ["64KiB", "1MiB", "16MiB", "64MiB", "256MiB", "1GiB"];

/** GAINS_ONLY=dgx-h100:1/mscclpp runs what has that in its name; the other rows stay as they were. */
const only = process.env.GAINS_ONLY;

export const nameOf = ({ network, target, collective }) => `${network}/${target ?? "schedules"}/${collective}`;

export const CASES = COLLECTIVES.flatMap((collective) => NETWORKS.map((one) => ({ ...one, collective })));

export const isSubset = only !== undefined;
export const isAsked = (one) => only === undefined || only.split(",").some((part) => nameOf(one).includes(part));

/** A command that is not done by then is ended, and its row says so. */
export const LIMIT_SECONDS = Number(process.env.GAINS_LIMIT ?? 1800);
