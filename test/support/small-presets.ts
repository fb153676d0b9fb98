/** Networks of every form that `list presets` has, small enough to be looked at node by node. */
export const SMALL_PRESETS = (
  "ring:8 line:8 mesh:4x4 grid:3x3x2 torus:4x4 torus:8x8 torus:4x4x4 torus:3x4x5 hypercube:3 hypercube:4 hypercube:5 fc:8 switch:8 " +
  "switch:32 circulant:12,1,5 shifted-ring:9 dbt:8 dbt:32 dragonfly:4x5 fat-tree:4x4 fat-tree:8x8 fat-tree:16x4,leaf=4,oversub=2 " +
  "fat-tree:16x4,leaf=4,tiers=3 dgx1 dgx2:1 dgx2:2 dgx-a100:2 dgx-a100:4 dgx-h100:1 dgx-h100:2 dgx-h100:4 dgx-h100:2,ib hgx-h100:2 " +
  "hgx-h200:2 hgx-b200:2 hgx-b300:4 gb200-nvl72 ndv2:2 ndv4:2 ndv5:4 p4d:2 p5:2 mi250:1 mi250:2 mi300x mi325x mi355x mi100-8p6l " +
  "mi100-2hives frontier gaudi2 gaudi3 tpu-v2:4x4 tpu-v3:4x4 tpu-v4:4x4x4 tpu-v5e:4x8 tpu-v5p:4x4x4 tpu-v6e:8x8 tpu-7x:4x4x4 trn1 trn2 " +
  "trn2-ultra ring:2*fc:4 K(5) K(3,3) H(2,3) Kautz(2,3) Pi(2,8) C(12,{2,3})"
).split(" ");
