/** Machines that are called after a cloud or a box. */
const MACHINES: readonly (readonly [name: RegExp, model: string])[] = [
  [/^(?:dgx1|dgx2|ndv2)\b/, "V100"],
  [/^(?:ndv4|p4d)\b/, "A100"],
  [/^(?:ndv5|p5)\b/, "H100"],
];

/**
 * Returns the model of a GPU that a device's, a platform's or a network's name tells ("NVIDIA A100-SXM4-80GB", "H200x8 NVLink4",
 * "dgx-h100:4"), null where it tells none. AMD's are without the letter behind.
 */
export function gpuModel(name: string): string | null {
  const found = /(?<![a-z0-9])(g[bh]\d{3}|[abhpv]\d{3}|mi\d{3})(?!\d)/i.exec(name);
  return found?.[1]?.toUpperCase() ?? MACHINES.find(([machine]) => machine.test(name))?.[1] ?? null;
}
