/** GPUs of a box of the platforms that are offered. */
const GPUS_OF_A_BOX = 8;

/** Returns presets of networks with this many NPUs, for a program that names none. */
export function networksOfSize(npus: number): string[] {
  const boxes = npus / GPUS_OF_A_BOX;
  const clusters = Number.isInteger(boxes) ? [`dgx-a100:${boxes}`, `dgx-h100:${boxes}`] : [];
  return npus < 2 ? [] : [...clusters, `switch:${npus}`, `ring:${npus}`];
}
