import { formatShare, formatTime, PS_PER_US } from "../../model/numbers/units.ts";
import type { StepTasks } from "../../model/workload/step-tasks.ts";
import { at, escaped, framed, label, type Picture, short } from "./svg.ts";

/** A step with the collectives of one maker; parts sum to the whole. */
export interface StepBar {
  readonly name: string;
  readonly us: number;
  readonly computeUs: number;
  /** Waiting, by who communicates. */
  readonly waits: readonly { readonly group: string; readonly name: string; readonly us: number }[];
  readonly bubbleUs: number;
}

/** When tasks ran. */
export interface StepLanes {
  readonly tasks: StepTasks;
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
}

const WIDTH = 760;
const LEFT = 96;
const BAR = 20;
const GAP = 8;
const LEGEND = 26;
/** A lane of computations, and one of communications below it. */
const LANE = 9;
const STAGE = 2 * LANE + 8;
/** More stages than this would be thinner than a line of text. */
const MOST_STAGES = 24;
/** Colours of what is waited for, in order; computations have the first of the series. */
const COLOURS = ["k1", "k2", "k3", "k4", "k5", "d3", "d4"];

const lookOf = (place: number): string => `f${COLOURS[place % COLOURS.length]}`;

const rectangle = (x: number, y: number, width: number, height: number, look: string, title: string): string =>
  `<rect x="${at(x)}" y="${at(y)}" width="${at(Math.max(0.3, width))}" height="${at(height)}" class="${look}"><title>${escaped(title)}</title></rect>`;

const timeText = (us: number): string => formatTime(us * PS_PER_US);

/**
 * Yields the parts of an SVG of a training step: a bar for each maker of collectives, its parts computing, waiting by who
 * communicates, and the bubble; below it, of the first stages, when they compute and when they communicate. O(tasks).
 */
export const stepSvg = (title: string, bars: readonly StepBar[], lanes: StepLanes | null): Generator<string> =>
  framed(stepPicture(title, bars, lanes));

function stepPicture(title: string, bars: readonly StepBar[], lanes: StepLanes | null): Picture {
  const nameOf = new Map(bars.flatMap(({ waits }) => waits.map(({ group, name }) => [group, name] as const)));
  const groups = [...nameOf.keys()];
  const hasBubble = bars.some(({ bubbleUs }) => bubbleUs > 0);
  const longest = bars.reduce((most, { us }) => Math.max(most, us), 0);
  const scale = (WIDTH - LEFT - 110) / longest;
  const parts: string[] = [];
  const legend = [
    ["fk0", "computes"],
    ...groups.map((group, i) => [lookOf(i), `waits: ${nameOf.get(group)}`]),
    ...(hasBubble ? [["panel", "bubble"]] : []),
  ] as [string, string][];
  let x = LEFT;
  for (const [look, text] of legend) {
    parts.push(rectangle(x, 0, 12, 12, look, text), label(x + 17, 10, text, "label", "start"));
    x += 34 + 6.6 * text.length;
  }
  bars.forEach((bar, i) => {
    const top = LEGEND + i * (BAR + GAP);
    parts.push(label(LEFT - 8, top + 14, short(bar.name, 14), "label", "end"));
    let from = LEFT;
    const add = (us: number, look: string, what: string): void => {
      if (us <= 0) return;
      parts.push(
        rectangle(
          from,
          top,
          us * scale,
          BAR,
          look,
          `${bar.name}, ${what}: ${timeText(us)}, ${formatShare(us / bar.us)}`,
        ),
      );
      from += us * scale;
    };
    add(bar.computeUs, "fk0", "computes");
    for (const { group, name, us } of bar.waits) add(us, lookOf(groups.indexOf(group)), `waits for ${name}`);
    add(bar.bubbleUs, "panel", "bubble");
    parts.push(label(from + 8, top + 14, timeText(bar.us), "label", "start"));
  });
  const barsEnd = LEGEND + bars.length * (BAR + GAP);
  const stages = lanes === null ? 0 : Math.min(MOST_STAGES, lanes.tasks.actors.length);
  if (lanes !== null) parts.push(...lanesOf(lanes, groups, barsEnd + 16, stages));
  const more = lanes !== null && lanes.tasks.actors.length > stages ? `, of the first ${stages} stages` : "";
  return {
    title,
    sentence: `Where the time of a step goes, and when stages compute and communicate${more}; means over the stages.`,
    width: WIDTH,
    height: barsEnd + (stages === 0 ? 0 : 16 + stages * STAGE),
    parts,
  };
}

/** Returns the lanes of stages, what lies closer than a tenth of a point put together. */
function lanesOf(
  { tasks, startPs, endPs }: StepLanes,
  groups: readonly string[],
  top: number,
  stages: number,
): string[] {
  const { lanes, lane, works, work, actors } = tasks;
  const last = endPs.reduce((most, ps) => Math.max(most, ps), 0);
  const scale = (WIDTH - LEFT) / Math.max(1, last);
  const order = Array.from(lane.keys()).sort((a, b) => startPs[a] - startPs[b]);
  /** Open slices by stage and look. */
  const open = new Map<string, { from: number; to: number; y: number; look: string; title: string }>();
  const parts: string[] = [];
  const close = (key: string): void => {
    const slice = open.get(key);
    if (slice === undefined) return;
    parts.push(
      rectangle(LEFT + slice.from * scale, slice.y, (slice.to - slice.from) * scale, LANE, slice.look, slice.title),
    );
    open.delete(key);
  };
  for (const task of order) {
    const { actor, computes } = lanes[lane[task]];
    if (actor >= stages || endPs[task] === startPs[task]) continue;
    const one = works[work[task]];
    const name = one.kind === "communication" ? one.communication.name : "computes";
    const look = one.kind === "communication" ? lookOf(Math.max(0, groups.indexOf(one.communication.group))) : "fk0";
    const key = `${actor} ${look}`;
    const before = open.get(key);
    if (before !== undefined && (startPs[task] - before.to) * scale < 0.1) {
      before.to = Math.max(before.to, endPs[task]);
      continue;
    }
    close(key);
    const y = top + actor * STAGE + (computes ? 0 : LANE + 1);
    open.set(key, { from: startPs[task], to: endPs[task], y, look, title: `${actors[actor]}: ${name}` });
  }
  for (const key of [...open.keys()]) close(key);
  for (let stage = 0; stage < stages; stage++) {
    parts.push(label(LEFT - 8, top + stage * STAGE + 13, short(actors[stage], 14), "label", "end"));
  }
  return parts;
}
