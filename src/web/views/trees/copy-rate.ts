import { BYTES_PER_GB } from "../../../model/numbers/units.ts";
import type { Made } from "../../state/store.ts";

/** Returns the bytes per second of one copy of a tree; null where the report does not tell. */
export function copyBytesPerSecond({ schedule: { report } }: Made): number | null {
  const rate = report.throughput?.copyGBps;
  return rate === undefined ? null : rate * BYTES_PER_GB;
}
