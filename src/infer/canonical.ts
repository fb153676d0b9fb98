/** How a machine's GPUs are usually numbered: NVLinks between numbers, and which numbers share a PCIe switch; the first has the NIC. */
interface Usual {
  readonly name: string;
  readonly gpus: number;
  readonly links: readonly (readonly [a: number, b: number, links: number])[];
  /** Numbers that share a PCIe switch; null where the numbering does not say. */
  readonly switches: readonly (readonly number[])[] | null;
}

const cable = (text: string, links: number): [number, number, number][] =>
  text.split(" ").map((ends) => {
    const [a, b] = ends.split("-").map(Number);
    return [a, b, links];
  });

/** NVIDIA's numbering of the hybrid cube mesh of DGX-1V (nvidia-smi topo -m), as the preset `dgx1` has it. */
export const CUBE_MESH: Usual = {
  name: "DGX-1V",
  gpus: 8,
  links: [...cable("0-3 0-4 1-2 1-5 2-3 4-7 5-6 6-7", 2), ...cable("0-1 0-2 1-3 2-6 3-7 4-5 4-6 5-7", 1)],
  switches: [
    [0, 1],
    [2, 3],
    [4, 5],
    [6, 7],
  ],
};

/** TACCL's numbering of the same GPUs (its NDv2 topology). */
export const TACCL_NDV2: Usual = {
  name: "TACCL NDv2",
  gpus: 8,
  links: [...cable("0-1 0-4 1-3 2-3 2-6 4-5 5-7 6-7", 2), ...cable("0-2 0-3 1-2 1-5 3-7 4-6 4-7 5-6", 1)],
  switches: null,
};

/**
 * Returns the GPU [number] for each usual number, so that NVLinks lie where they usually do, PCIe switches too where they can, and the
 * switch with a NIC is that of number 0 (TACCL, section 4: one of the automorphisms of the NVLinks); null where the NVLinks are others.
 * `links`: [gpus x gpus]; `switches`: GPUs that share one; `nicSwitch`: the one with a NIC, or -1. Ties by the least order.
 */
export function usualOrder(
  usual: Usual,
  links: ArrayLike<number>,
  switches: readonly (readonly number[])[],
  nicSwitch: number,
): number[] | null {
  const n = usual.gpus;
  if (links.length !== n * n) return null;
  const wanted = new Int32Array(n * n);
  for (const [a, b, count] of usual.links) {
    wanted[a * n + b] = count;
    wanted[b * n + a] = count;
  }
  const switchOf = (gpu: number): number => switches.findIndex((members) => members.includes(gpu));
  const score = (order: readonly number[]): number => {
    const shared = (usual.switches ?? []).reduce(
      (sum, members) => sum + (new Set(members.map((k) => switchOf(order[k]))).size === 1 ? 1 : 0),
      0,
    );
    return shared + (nicSwitch >= 0 && switchOf(order[0]) === nicSwitch ? n : 0);
  };
  let best: number[] | null = null;
  const order: number[] = [];
  const extend = (): void => {
    const k = order.length;
    if (k === n) {
      if (best === null || score(order) > score(best)) best = [...order];
      return;
    }
    for (let gpu = 0; gpu < n; gpu++) {
      if (order.includes(gpu)) continue;
      if (
        order.some(
          (other, i) => links[other * n + gpu] !== wanted[i * n + k] || links[gpu * n + other] !== wanted[k * n + i],
        )
      )
        continue;
      order.push(gpu);
      extend();
      order.pop();
    }
  };
  extend();
  return best;
}
