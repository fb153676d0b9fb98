import { CUBE_MESH_PAIRS } from "../../model/topology/gpu-models.ts";
import type { Topology } from "../../model/topology/topology.ts";

/** GPUs of a DGX-1. */
const CUBE_GPUS = 8;

/** Returns [8][8] how many links there are between two places of a DGX-1. */
export function cubeLinks(): number[][] {
  const links = emptySquare();
  for (const [a, b, count] of CUBE_MESH_PAIRS) {
    links[a][b] = count;
    links[b][a] = count;
  }
  return links;
}

const emptySquare = (): number[][] => Array.from({ length: CUBE_GPUS }, () => new Array<number>(CUBE_GPUS).fill(0));

/**
 * Returns which member stands at each place of a DGX-1 (hybrid cube mesh), [8], the least numbers first; null where the direct
 * links between the members are none. Each pair of places with links must have so many times the bandwidth of the narrowest
 * pair, each way; other nodes and their links do not count. O(links), then few of the 8! orders.
 */
export function hybridCubeMesh(topology: Topology, members: Int32Array, usable: Float64Array): Int32Array | null {
  if (members.length !== CUBE_GPUS) return null;
  const rankOf = new Map([...members].map((npu, rank) => [npu, rank]));
  const capacity = emptySquare();
  for (let link = 0; link < usable.length; link++) {
    const from = rankOf.get(topology.linkSource[link]);
    const to = rankOf.get(topology.linkTarget[link]);
    if (from !== undefined && to !== undefined) capacity[from][to] += usable[link];
  }
  const unit = Math.min(...capacity.flat().filter((bytes) => bytes > 0));
  const wanted = cubeLinks();
  const rankAt: number[] = [];
  const place = (): boolean => {
    const at = rankAt.length;
    if (at === CUBE_GPUS) return true;
    for (let rank = 0; rank < CUBE_GPUS; rank++) {
      const fits =
        !rankAt.includes(rank) &&
        rankAt.every((other, p) => {
          const bytes = wanted[p][at] * unit;
          return capacity[other][rank] === bytes && capacity[rank][other] === bytes;
        });
      if (!fits) continue;
      rankAt.push(rank);
      if (place()) return true;
      rankAt.pop();
    }
    return false;
  };
  return place() ? Int32Array.from(rankAt, (rank) => members[rank]) : null;
}
