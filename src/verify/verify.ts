import { isSlotSchedule, type Schedule } from "../model/slot-schedule.ts";
import { type Verification, verifySchedule } from "./schedule.ts";
import { type SlotVerifyOptions, verifySlots } from "./slot-schedule.ts";

/** Returns everything that is wrong with a schedule of either kind: verifySchedule or verifySlots. */
export function verify(schedule: Schedule, options: SlotVerifyOptions = {}): Verification {
  return isSlotSchedule(schedule) ? verifySlots(schedule, options) : verifySchedule(schedule, options);
}
