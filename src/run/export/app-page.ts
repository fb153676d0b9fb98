import { InputError } from "../../base/errors.ts";
import { jsonText } from "../../base/visible.ts";
import { topologyJsonParts } from "../../export/networks/topology-json.ts";
import { scheduleJsonParts } from "../../export/schedules/schedule-json.ts";
import { treeFlowJsonParts } from "../../export/schedules/tree-flow-json.ts";
import { aboutBytes, jsonBytesOf } from "../../model/steps/estimate.ts";
import { withoutPhases } from "../../model/steps/schedule.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import { aboutOf } from "../../report/result.ts";
import type { Exporter, Written } from "./exporter.ts";
import { treesJsonBytesOf, writeShown } from "./schedule-output.ts";
import { expanded } from "./steps.ts";
import type { World } from "./world.ts";

/** The app in one file, with what it shows inside. */

/** Where the built page takes what it is to open. */
const [BEFORE, EMPTY, AFTER] = ['<script type="application/json" id="banyan-inside">', "null", "</script>"] as const;
const PLACE = `${BEFORE}${EMPTY}${AFTER}`;

/** A larger text inside a page is more than browsers open. */
const MOST_INSIDE = 2 ** 28;

/** What a page opens by itself. */
interface Inside {
  readonly name: string;
  readonly kind: "schedule" | "network";
  /** About how long its JSON file is. */
  readonly bytes: number;
  /** Returns the parts of that file. */
  parts(): Iterable<string>;
}

/** Returns a text as a page may hold it between the quotes of a JSON text: no `<` that could end or open an element. */
const quoted = (text: string): string => jsonText(text).slice(1, -1).replaceAll("<", "\\u003c");

/** Yields the page with something inside; nothing of that is held but one part. */
function* filled([head, tail]: readonly [string, string], { name, kind, parts }: Inside): Generator<string> {
  yield `${head}${BEFORE}{"name":"${quoted(name)}","kind":"${kind}","text":"`;
  for (const part of parts()) yield quoted(part);
  yield `"}${AFTER}${tail}`;
}

/** Returns what stands before and behind the place of the page. Throws InputError for a page that is not the app. */
async function halvesOf(world: World): Promise<readonly [string, string]> {
  const [head = "", tail, ...more] = (await world.page()).split(PLACE);
  if (tail !== undefined && more.length === 0) return [head, tail];
  throw new InputError("the built app", `a page with ${PLACE} once`, tail === undefined ? 0 : more.length + 1);
}

/** Writes the page. Throws InputError for more inside than browsers open. */
async function write(world: World, path: string, inside: Inside): Promise<Written> {
  const output = world.file(path);
  if (inside.bytes > MOST_INSIDE) {
    const most = `a ${inside.kind} whose JSON has at most ${aboutBytes(MOST_INSIDE)}`;
    throw new InputError("--to", most, `html, about ${aboutBytes(inside.bytes)}`);
  }
  const halves = await halvesOf(world);
  const whole = inside.bytes + halves[0].length + halves[1].length;
  output.refuseWithoutRoom(whole);
  const bytes = writeShown(world, output, filled(halves, inside), whole);
  return { bytes, what: `the app with a ${inside.kind}` };
}

export const APP_EXPORTER: Exporter = {
  name: "html",
  extension: ".html",
  description: "the app as one page with a schedule or network inside, for any browser, nothing loaded",
  async ready(world) {
    await halvesOf(world);
  },
  fromSchedule(world, { schedule: given, report }, path) {
    const schedule = withoutPhases(given, "--to html");
    const { collective, topology } = schedule;
    const about = report === null ? undefined : aboutOf(report);
    const inside = { name: `${collective.kind} on ${topology.name}`, kind: "schedule" } as const;
    return isTreeFlow(schedule)
      ? write(world, path, {
          ...inside,
          bytes: treesJsonBytesOf(schedule),
          parts: () => treeFlowJsonParts(schedule, about),
        })
      : write(world, path, {
          ...inside,
          bytes: jsonBytesOf(schedule),
          parts: () => scheduleJsonParts(expanded(schedule, "--to html"), about),
        });
  },
  fromNetwork(world, { topology }, path) {
    const parts = [...topologyJsonParts(topology)];
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    return write(world, path, { name: topology.name, kind: "network", bytes, parts: () => parts });
  },
};
