import type { Topology } from "./topology.ts";

/** Begins the source that says what a network's figures were fitted to: they are what is reached, not what is on the label. */
export const CALIBRATED = "calibrated:";

/** Returns whether the network's figures were fitted to measurements. */
export const isCalibrated = (topology: Topology): boolean =>
  topology.sources.some((source) => source.startsWith(CALIBRATED));
