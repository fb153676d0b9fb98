import { InputError } from "../../base/errors.ts";
import type { JointSchedule } from "../../model/joint/joint-schedule.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import { topologyHash } from "../../model/topology/topology.ts";
import { parseJson } from "../text/json-text.ts";
import { readAnySchedule } from "./joint-schedule-json.ts";
import { looksLikeScclAlgorithm, readScclAlgorithm } from "./sccl-algorithm.ts";
import type { ReadScheduleOptions } from "./schedule-header.ts";

/** Where files of schedules say what they are. */
const HEAD = 4096;
const SCCL_ALGORITHM = /"sccl_type"\s*:\s*"algorithm"/;

/** Returns whether a text seems to be a schedule rather than a network. */
export const isScheduleText = (text: string): boolean => {
  const head = text.slice(0, HEAD);
  return /"format"\s*:\s*"banyan-(schedule|phases)"/.test(head) || SCCL_ALGORITHM.test(head);
};

export const isJoint = (schedule: AnySchedule | JointSchedule): schedule is JointSchedule => "tenants" in schedule;

/**
 * Returns the schedule of a text: Banyan's JSON of transfers, trees, phases or several collectives at once, or an algorithm of
 * SCCL, which brings its network. Throws InputError with the place in the file. O(text).
 */
export function readScheduleText(
  text: string,
  name: string,
  options: ReadScheduleOptions = {},
): AnySchedule | JointSchedule {
  if (!SCCL_ALGORITHM.test(text.slice(0, HEAD))) return readAnySchedule(text, name, options);
  const value = parseJson(text, name);
  if (!looksLikeScclAlgorithm(value)) throw new InputError(name, "an algorithm with steps", value);
  const schedule = readScclAlgorithm(value, name);
  const { topology } = options;
  if (topology !== undefined && topologyHash(topology) !== topologyHash(schedule.topology))
    throw new InputError("--topology", "nothing beside an algorithm that brings its network", topology.name);
  return schedule;
}
