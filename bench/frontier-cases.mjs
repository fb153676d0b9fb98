// What `npm run bench -- frontier` looks at: networks of all families, as a preset and what is gone ("7", "0-1") or slower ("0-1=0.5").

export const COLLECTIVES = ["allgather", "reducescatter", "allreduce", "alltoall"];

export const SIZES = ["64KiB", "1MiB", "64MiB", "1GiB"];

export const NETWORKS = {
  "GPU boxes": ["dgx1", "mi250:1", "mi300x", "mi100-8p6l", "mi100-2hives", "frontier", "gb200-nvl72"],
  "GPU clusters": [
    "dgx2:2",
    "dgx-a100:4",
    "dgx-a100:16",
    "dgx-h100:4",
    "dgx-h100:16",
    "dgx-h100:4,ib",
    "ndv2:2",
    "ndv2:4",
    "p4d:4",
    "hgx-b300:4",
    "mi250:2",
    "mi250:4",
  ],
  "with failures": [
    "dgx-a100:2 0-ib",
    "dgx-h100:4 0-rail0 9-rail1",
    "dgx-h100:4 rail0=0.5",
    "mi250:2 0-1",
    "mesh:8x8 55-54 9-8 11-3 2-1 19-20",
    "mesh:8x7 4 11 16 20 23 26 48 49",
    "mesh:10x8 1 2 7 15 31 35 40 47 63 69",
    "mesh:10x10@50,75GB/s 17-18 32-22 4-3 63-62 21-31",
    "torus:8x8 9 27-28 40-48",
    "torus:4x4x4 17-16 31-28 38-39 22-26",
    "hypercube:5 27-26 30-14 26-30 14-15",
    "dragonfly:4x5@400,200GB/s 13-2 18-17 13-14",
  ],
  "TPUs and tori": [
    "tpu-v4:4x4x4",
    "tpu-v5e:8x8",
    "tpu-v5p:4x4x8",
    "trn2",
    "trn2-ultra",
    "torus:5x5",
    "torus:3x20",
    "torus:4x5x6",
    "mesh:4x4",
    "mesh:9x9",
    "mesh:2x20",
    "mesh:8x5@80,35GiB/s",
    "grid:4x4x4",
    "hypercube:6",
  ],
  "fat trees, dragonflies, products": [
    "fat-tree:8x8,leaf=4,tiers=2",
    "fat-tree:16x4,leaf=4,tiers=2,oversub=2@450,50GB/s",
    "dragonfly:4x5@400,200GB/s",
    "dragonfly:4x8@400,200GB/s",
    "switch:16",
    "switch:8*switch:4@300,25GB/s",
    "ring:2*fc:4*switch:8@200,100,50GB/s",
  ],
  "direct-connect graphs": [
    "line:9",
    "dbt:31",
    "circulant:16,3,4",
    "Pi(4,24)",
    "DBJMod(2,4)",
    "L(C(16,{3,4}))",
    "J(6,3)",
    "Coxeter",
  ],
};

/** Returns the preset of a network, what is gone, and the shares of links that are left. */
export function partsOf(text) {
  const [preset, ...changes] = text.split(" ");
  const gone = changes.filter((change) => !change.includes("="));
  const slower = changes.filter((change) => change.includes("=")).map((change) => change.split("="));
  return { preset, gone, slower: slower.map(([link, share]) => [link, Number(share)]) };
}
