// What `npm run bench -- limits` looks at: every preset with boxes, two boxes of each, and some that lack something.

export const COLLECTIVES = ["allgather", "reducescatter", "allreduce", "alltoall"];

/** Below this share of the limit a line says what the rest is. */
export const LEAST_SHARE = 0.95;

export const CASES = [
  ...[
    "dgx1",
    "dgx2:2",
    "dgx-a100:2",
    "dgx-a100:4",
    "dgx-h100:2",
    "dgx-h100:4",
    "dgx-h100:4,ib",
    "hgx-h200:2",
    "hgx-b200:2",
    "hgx-b300:2",
    "gb200-nvl72",
    "ndv2:2",
    "ndv4:2",
    "ndv5:2",
    "p4d:2",
    "p5:2",
    "mi250:1",
    "mi250:2",
    "mi300x",
    "mi325x",
    "mi355x",
    "mi100-8p6l",
    "mi100-2hives",
    "frontier",
    "gaudi2",
    "gaudi3",
    "trn2-ultra",
    "fat-tree:4x8,leaf=2,tiers=2",
  ].map((network) => ({ network })),
  { network: "dgx-a100:2", without: ["0-ib"] },
  { network: "dgx-h100:4", without: ["0-rail0", "9-rail1"] },
  { network: "dgx-h100:4", degrade: { rail0: 0.5 } },
  { network: "mi250:2", without: ["0-1"] },
];
