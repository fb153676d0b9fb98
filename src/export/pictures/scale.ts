/** Scales: colours for shares, ticks for axes. */

/** Anchors of viridis, which the colour-blind can read, at 0, 1/8 .. 1 (matplotlib). */
const VIRIDIS = [0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725];

/** Returns the colour of a share in 0 .. 1 (others count as the nearest of these), "#21918c". */
export function shareColour(share: number): string {
  const place = Math.max(0, Math.min(1, share)) * (VIRIDIS.length - 1);
  const low = Math.min(VIRIDIS.length - 2, Math.floor(place));
  const part = place - low;
  const mixed = [16, 8, 0].map((shift) => {
    const [from, to] = [(VIRIDIS[low] >> shift) & 255, (VIRIDIS[low + 1] >> shift) & 255];
    return Math.round(from + (to - from) * part);
  });
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/** Returns multiples of 1, 2 or 5 times a power of ten in 0 .. most, about so many. */
export function ticks(most: number, about: number): number[] {
  if (!(most > 0)) return [0];
  const raw = most / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5].find((factor) => factor * power >= raw * 0.999) ?? 10) * power;
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}
