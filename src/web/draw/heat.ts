/** Anchors of the heat scales, cold to hot: lightness rises or falls evenly, so that it reads without colours too. */
const LIGHT = ["#d6dde8", "#a9b7dd", "#8f83cf", "#a14aa8", "#c0286f", "#a80f2c", "#6b0012"];
const DARK = ["#2a3342", "#3d3f7a", "#6a459f", "#a6478f", "#dd5f66", "#f79a4b", "#ffe27a"];

/** So many colours a heat scale is drawn in. */
export const HEAT_STEPS = 24;

const channels = (colour: string): number[] => [1, 3, 5].map((i) => Number.parseInt(colour.slice(i, i + 2), 16));

/** Returns the colour of a share (0 cold .. 1 hot) as "#rrggbb". */
export function heatColour(share: number, isDark: boolean): string {
  const anchors = isDark ? DARK : LIGHT;
  const at = Math.max(0, Math.min(1, share)) * (anchors.length - 1);
  const low = Math.min(anchors.length - 2, Math.floor(at));
  const [from, to] = [channels(anchors[low]), channels(anchors[low + 1])];
  const mixed = from.map((value, i) => Math.round(value + (to[i] - value) * (at - low)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/** Returns the step of a share, 0 .. HEAT_STEPS - 1. */
export const heatStep = (share: number): number =>
  Math.max(0, Math.min(HEAT_STEPS - 1, Math.floor(share * HEAT_STEPS)));

/** Returns the colours of the steps. */
export const heatColours = (isDark: boolean): string[] =>
  Array.from({ length: HEAT_STEPS }, (_, step) => heatColour(step / (HEAT_STEPS - 1), isDark));
