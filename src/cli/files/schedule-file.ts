import { InputError, inWords } from "../../base/errors.ts";
import { looksLikeBys, readBys } from "../../import/schedules/bys.ts";
import type { ReadScheduleOptions } from "../../import/schedules/schedule-header.ts";
import { isScheduleText, readScheduleText } from "../../import/schedules/schedule-text.ts";
import { isSendsText } from "../../import/schedules/sends.ts";
import { type GivenSchedule, isJoint } from "../../model/joint/joint-schedule.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import {
  NETWORK_OPTIONS,
  type OptionId,
  type Options,
  placeOf,
  refuseOptions,
  textOf,
} from "../../request/option-table.ts";
import { type OwnSends, readSends, type SendsAsked } from "../../run/own/own-sends.ts";
import { collectiveRequest } from "../collective-option.ts";
import type { Context } from "../context.ts";
import { networkOf } from "../network.ts";
import { headOf, nameOf, openSource, textFrom } from "./input-file.ts";
import { whatItIs } from "./what-it-is.ts";

/** Returns the schedule of a file that has one collective. Throws InputError. */
export async function scheduleOf(context: Context, file: string, heard: Heard = {}): Promise<AnySchedule> {
  const schedule = await anyScheduleOf(context, file, heard);
  if (!isJoint(schedule)) return schedule;
  throw new InputError(file, "a schedule of one collective", inWords(`one of ${schedule.tenants.length} at once`));
}

/** What a list of sends leaves open, and every other schedule says itself. */
export const OPEN_IN_SENDS: readonly OptionId[] = ["collective", "size", "chunks", "root", "group", "outsiders"];

/** A schedule that was read; `sends`: the list that it was written as, where it was. */
interface ReadSchedule {
  readonly schedule: GivenSchedule;
  readonly sends: OwnSends | null;
}

interface Heard extends Pick<ReadScheduleOptions, "onClaims"> {
  /** Options that mean something else to the command: it refuses them itself where they say nothing. */
  readonly own?: readonly OptionId[];
  /** Where the file is named, if by an option. */
  readonly place?: OptionId;
}

/** Throws InputError for a text that is known to be something else than a schedule: what it is, and what takes it. */
async function refuseOther(text: string, name: string, place: OptionId | undefined): Promise<void> {
  if (isScheduleText(text)) return;
  const told = await whatItIs(text, name);
  if (told === null || told.kind === "schedule") return;
  const wanted =
    place === undefined ? "a schedule (JSON or .bys)" : `a schedule (JSON or .bys, as \`synth -o\` writes it)`;
  const where = place === undefined ? `${name} is ${told.what}` : `${placeOf(place)} is ${name}, ${told.what}`;
  const near = place === undefined ? `; did you mean \`${told.command}\`?` : `; \`${told.command}\` takes it`;
  throw new InputError(place === undefined ? name : placeOf(place), wanted, inWords(told.what)).saying(
    `${where}; it must be ${wanted}${near}`,
  );
}

/** Throws InputError where options of a network stand beside a file that is to be read for its own. */
function refuseNetworkOptions(options: Options, name: string): void {
  const failed = (["without", "degrade"] as const).filter((id) => options[id] !== undefined);
  const [id] = failed;
  if (id !== undefined) {
    const said = failed.map((one) => `${placeOf(one)} ${options[one]}`).join(" ");
    throw new InputError(placeOf(id), "--topology beside it", options[id])
      .as("not-alone")
      .saying(
        `${placeOf(id)} is for networks, and ${name} is a schedule; one for what is left: \`banyan synth TOPO ${said} --repair ${name} -o NEW.json\``,
      );
  }
  refuseOptions(options, NETWORK_OPTIONS, "--topology beside it", "not-alone");
}

/** Throws InputError for the first of the options that is given beside a file which says the same itself. */
export function refuseSaid({ options }: Context, ids: readonly OptionId[], file: string, what: string): void {
  const id = ids.find((one) => options[one] !== undefined);
  if (id === undefined) return;
  throw new InputError(placeOf(id), `a list of sends in place of ${nameOf(file)}`, options[id])
    .as("not-alone")
    .saying(`${placeOf(id)} is for lists of sends, and ${nameOf(file)} is a ${what}`);
}

/** Returns what options say of a list of sends, with the network that is read already or will be. */
export async function sendsAsked({ options }: Pick<Context, "options">): Promise<SendsAsked> {
  const wanted = textOf(options, "topology");
  if (options["chunks"] === "auto")
    throw new InputError(placeOf("chunks"), "a number beside a list of sends, whose chunks are cut already", "auto");
  return {
    topology: wanted === undefined ? null : await networkOf(wanted, options),
    collective: (topology) =>
      textOf(options, "collective") === undefined ? null : collectiveRequest(options, topology),
  };
}

/**
 * Returns the schedule of a JSON, .bys or CSV file, recognized by its content, for the network of --topology where that is given; a
 * JSON file may be of trees, of phases, of several collectives at once, or a list of sends, which --collective and its kin
 * complete. Throws InputError.
 */
export async function readScheduleFile(context: Context, file: string, heard: Heard = {}): Promise<ReadSchedule> {
  const { options } = context;
  const wanted = textOf(options, "topology");
  const idle = OPEN_IN_SENDS.filter((id) => heard.own?.includes(id) !== true);
  context.progress({ what: `reading ${file}` });
  const source = openSource(file, "the schedule");
  const isBys = looksLikeBys(headOf(source));
  const text = isBys ? null : textFrom(source, file, "the schedule");
  if (wanted === undefined) refuseNetworkOptions(options, nameOf(file));
  if (text !== null && isSendsText(text)) {
    const sends = readSends(text, nameOf(file), await sendsAsked(context));
    for (const note of sends.notes) context.note(note);
    return { schedule: sends.schedule, sends };
  }
  if (text !== null) await refuseOther(text, nameOf(file), heard.place);
  refuseSaid(context, idle, file, "schedule");
  const given: ReadScheduleOptions = {
    ...(heard.onClaims === undefined ? {} : { onClaims: heard.onClaims }),
    ...(wanted === undefined ? {} : { topology: await networkOf(wanted, options) }),
  };
  const schedule = text === null ? readBys(source, file, given) : readScheduleText(text, nameOf(file), given);
  return { schedule: await schedule, sends: null };
}

/** Returns the schedule alone. Throws as `readScheduleFile`. */
export const anyScheduleOf = async (context: Context, file: string, heard: Heard = {}): Promise<GivenSchedule> =>
  (await readScheduleFile(context, file, heard)).schedule;
