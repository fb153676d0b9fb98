// Networks, what runs there, collectives and sizes of `npm run bench -- gains`.

/** `to`: what `export` is asked for a target, null where schedules are compared. */
export const TARGETS = {
  mscclpp: ["--to", "mscclpp"],
  azure: ["--to", "msccl-xml"],
  rccl: ["--to", "msccl-xml", "--dialect", "rccl"],
};

const NETWORKS = [
  { network: "dgx-h100:1", targets: ["mscclpp", "azure"] },
  { network: "dgx-a100:2", targets: ["mscclpp", "azure"] },
  { network: "dgx-h100:4", targets: ["mscclpp", "azure"] },
  { network: "mi300x", targets: ["rccl"] },
  { network: "torus:8x8x8", targets: [null] },
  { network: "dgx-a100:16", targets: ["azure"] },
];

const COLLECTIVES = ["allreduce", "allgather", "reducescatter", "alltoall"];

export const SIZES = ["64KiB", "1MiB", "16MiB", "64MiB", "256MiB", "1GiB"];

/** GAINS_ONLY=dgx-h100:1/mscclpp runs what has that in its name; the other rows stay as they were. */
const only = process.env.GAINS_ONLY;

export const nameOf = ({ network, target, collective }) => `${network}/${target ?? "schedules"}/${collective}`;

export const CASES = NETWORKS.flatMap(({ network, targets }) =>
  targets.flatMap((target) => COLLECTIVES.map((collective) => ({ network, target, collective }))),
);

export const isSubset = only !== undefined;
export const isAsked = (one) => only === undefined || only.split(",").some((part) => nameOf(one).includes(part));

/** A command that is not done by then is ended, and its row says so. */
export const LIMIT_SECONDS = Number(process.env.GAINS_LIMIT ?? 1800);
