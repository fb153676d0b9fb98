import type { SlotPass } from "../../src/model/slots/slot-schedule.ts";

export const FORWARD: SlotPass = { reversed: false, reduces: false };
export const REDUCING: SlotPass = { reversed: true, reduces: true };

/** Passes by the kind of collective. */
export const PASSES = {
  allgather: [FORWARD],
  broadcast: [FORWARD],
  reducescatter: [REDUCING],
  reduce: [REDUCING],
  allreduce: [REDUCING, FORWARD],
} as const;
export type SlotKind = keyof typeof PASSES;
export const SLOT_KINDS = Object.keys(PASSES) as SlotKind[];

/** Those in which every NPU has chunks of its own. */
export const ROOTLESS = ["allgather", "reducescatter", "allreduce"] as const;
export type RootlessKind = (typeof ROOTLESS)[number];
