import { InputError } from "../errors.ts";
import { looksLikeBys, readBys } from "../import/bys.ts";
import { readAnySchedule } from "../import/joint-schedule-json.ts";
import { parseJson } from "../import/json-text.ts";
import { looksLikeScclAlgorithm, readScclAlgorithm } from "../import/sccl-algorithm.ts";
import type { ReadScheduleOptions } from "../import/schedule-header.ts";
import type { JointSchedule } from "../model/joint-schedule.ts";
import type { AnySchedule } from "../model/schedule.ts";
import { topologyHash } from "../model/topology.ts";
import { NETWORK_OPTIONS } from "../words/topology-options.ts";
import { refuseOptions, textOf } from "../words/values.ts";
import type { Context } from "./context.ts";
import { headOf, nameOf, openSource, textFrom } from "./input-file.ts";
import { networkOf } from "./network.ts";

/** Where other tools' files say what they are. */
const HEAD = 4096;
const SCCL_ALGORITHM = /"sccl_type"\s*:\s*"algorithm"/;

/** Returns whether a text seems to be a schedule rather than a network. */
export const isScheduleText = (text: string): boolean => {
  const head = text.slice(0, HEAD);
  return /"format"\s*:\s*"banyan-(schedule|phases)"/.test(head) || SCCL_ALGORITHM.test(head);
};

export const isJoint = (schedule: AnySchedule | JointSchedule): schedule is JointSchedule => "tenants" in schedule;

/** Returns the schedule of a file that has one collective. Throws InputError. */
export async function scheduleOf(context: Context, file: string): Promise<AnySchedule> {
  const schedule = await anyScheduleOf(context, file);
  if (!isJoint(schedule)) return schedule;
  throw new InputError(file, "a schedule of one collective", `one of ${schedule.tenants.length} at once`);
}

/**
 * Returns the schedule of a JSON or .bys file, told by its content, for the network of --topology where that is given; a
 * JSON file may be of trees, of phases, or of several collectives at once. Throws InputError.
 */
export async function anyScheduleOf(context: Context, file: string): Promise<AnySchedule | JointSchedule> {
  const { options } = context;
  const wanted = textOf(options, "topology");
  if (wanted === undefined) refuseOptions(options, NETWORK_OPTIONS, "--topology beside it");
  context.progress({ what: `reading ${file}` });
  const topology: ReadScheduleOptions = wanted === undefined ? {} : { topology: await networkOf(wanted, options) };
  const source = openSource(file, "the schedule");
  if (looksLikeBys(headOf(source))) return readBys(source, file, topology);
  const text = textFrom(source, file, "the schedule");
  if (!SCCL_ALGORITHM.test(text.slice(0, HEAD))) return readAnySchedule(text, nameOf(file), topology);
  const value = parseJson(text, nameOf(file));
  if (!looksLikeScclAlgorithm(value)) throw new InputError(nameOf(file), "an algorithm with steps", value);
  const schedule = readScclAlgorithm(value, nameOf(file));
  if (topology.topology !== undefined && topologyHash(topology.topology) !== topologyHash(schedule.topology))
    throw new InputError("--topology", "nothing beside an algorithm that brings its network", wanted);
  return schedule;
}
