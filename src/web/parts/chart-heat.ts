import { heatColour } from "../draw/heat.ts";

/** The colours of shares, as pixels and as a legend. */

/** Returns the pixels (0xAABBGGRR, opaque) of equal steps of the share from 0 to 1, for ImageData on little-endian machines. */
export const heatPixels = (shades: number, isDark: boolean): Uint32Array =>
  Uint32Array.from({ length: shades }, (_, i) => {
    const colour = Number.parseInt(heatColour(i / (shades - 1), isDark).slice(1), 16);
    return (0xff000000 | ((colour & 255) << 16) | (colour & 0xff00) | (colour >> 16)) >>> 0;
  });

const STOPS = 13;

/** Returns the scale as a CSS gradient from 0 to 1. */
export function heatGradient(isDark: boolean): string {
  const stops = Array.from({ length: STOPS }, (_, i) => heatColour(i / (STOPS - 1), isDark));
  return `linear-gradient(to right, ${stops.join(", ")})`;
}
