import { isSlotSchedule, type Schedule } from "../model/slots/slot-schedule.ts";
import { type SlotVerifyOptions, verifySlots } from "./slots/slot-schedule.ts";
import { type StepVerifyOptions, type Verification, verifySchedule } from "./steps/schedule.ts";

/** Returns everything that is wrong with a schedule of either kind: verifySchedule or verifySlots. */
export function verify(schedule: Schedule, options: SlotVerifyOptions & StepVerifyOptions = {}): Verification {
  return isSlotSchedule(schedule) ? verifySlots(schedule, options) : verifySchedule(schedule, options);
}
