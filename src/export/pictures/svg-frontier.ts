import { InputError } from "../../base/errors.ts";
import { roundStep } from "../../picture/scales.ts";
import { at, escaped, framed, label, type Picture, type PictureOptions, short } from "./svg.ts";

/** A network of the plot. */
interface FrontierPoint {
  readonly name: string;
  /** T_L / alpha. */
  readonly steps: number;
  /** T_B in M / B. */
  readonly bandwidth: number;
}

interface Frontier {
  readonly title: string;
  readonly points: readonly FrontierPoint[];
  /** What no network beats in either. */
  readonly bound: { readonly steps: number; readonly bandwidth: number };
}

const WIDTH = 720;
const HEIGHT = 380;
/** Above the plot: the name of its upright axis. */
const TOP = 18;
const LEFT = 64;
const LINE_HEIGHT = 15;
/** Room for a name of the greatest length. */
const LONGEST = 44;

/** Yields the parts of an SVG of networks by comm steps and bandwidth time, with the bounds of both. Throws InputError for none. */
export const frontierSvg = (frontier: Frontier, options: PictureOptions = {}): Generator<string> =>
  framed(frontierPicture(frontier), options);

/** Returns that picture without its frame. */
function frontierPicture({ title, points, bound }: Frontier): Picture {
  if (points.length === 0) throw new InputError("the networks of a plot", "at least one");
  const sorted = [...points].sort((a, b) => a.steps - b.steps || b.bandwidth - a.bandwidth);
  const steps = axis([bound.steps, ...sorted.map((point) => point.steps)], true);
  const times = axis([bound.bandwidth, ...sorted.map((point) => point.bandwidth)], false);
  const x = (value: number): number => LEFT + WIDTH * steps.place(value);
  const y = (value: number): number => TOP + HEIGHT * (1 - times.place(value));
  function* parts(): Generator<string> {
    for (const tick of steps.ticks)
      yield `<path d="M${at(x(tick))} ${TOP}v${HEIGHT}" class="axis"/>${label(x(tick), TOP + HEIGHT + 18, String(tick), "small")}`;
    for (const tick of times.ticks)
      yield `<path d="M${LEFT} ${at(y(tick))}h${WIDTH}" class="axis"/>${label(LEFT - 8, y(tick) + 4, times.text(tick), "small", "end")}`;
    yield label(LEFT + WIDTH / 2, TOP + HEIGHT + 38, "T_L in comm steps", "soft");
    yield label(LEFT - 44, 6, "T_B in M/B", "soft", "start");
    yield `<path d="M${at(x(bound.steps))} ${TOP}v${HEIGHT}M${LEFT} ${at(y(bound.bandwidth))}h${WIDTH}" class="wire" style="stroke:var(--soft)" stroke-width="1.6" stroke-dasharray="6 4"/>`;
    yield label(LEFT + WIDTH - 4, y(bound.bandwidth) + 14, "bounds", "small soft", "end");
    yield `<path d="${stairs(sorted, x, y)}" class="wire k0" stroke-width="1.6" stroke-opacity=".5"/>`;
    yield* named(sorted, x, y);
  }
  const sentence = "No other network found has less of both. Dashed: what none can have less of.";
  return { title, sentence, width: LEFT + WIDTH + 20, height: TOP + HEIGHT + 46, parts: parts() };
}

interface Axis {
  readonly ticks: readonly number[];
  readonly place: (value: number) => number;
  readonly text: (value: number) => string;
}

/** A linear axis with round ticks, a margin of a twentieth around the values. */
function axis(values: readonly number[], whole: boolean): Axis {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const span = Math.max(high - low, whole ? 4 : 0.01);
  const round = roundStep(span / 6);
  const step = whole ? Math.max(1, Math.round(round)) : round;
  const [from, to] = [low - span / 20, low + span * 1.1];
  const ticks: number[] = [];
  for (let i = Math.ceil(from / step); i * step <= to; i++) ticks.push(i * step);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return { ticks, place: (value) => (value - from) / (to - from), text: (value) => value.toFixed(digits) };
}

type Place = (value: number) => number;

/** The edge of what is reached: along the best T_B so far, then down. */
const stairs = (points: readonly FrontierPoint[], x: Place, y: Place): string =>
  points
    .map(({ steps, bandwidth }, i) =>
      i === 0 ? `M${at(x(steps))} ${at(y(bandwidth))}` : `H${at(x(steps))}V${at(y(bandwidth))}`,
    )
    .join("");

/** Yields points and their names above them to the right, moved up where they would cover each other or leave the picture. */
function* named(points: readonly FrontierPoint[], x: Place, y: Place): Generator<string> {
  const taken: { readonly left: number; readonly right: number; readonly y: number }[] = [];
  for (const { name, steps, bandwidth } of points) {
    const [px, py] = [x(steps), y(bandwidth)];
    const title = escaped(`${name}: ${steps} steps, T_B ${Number(bandwidth.toPrecision(6))} M/B`);
    yield `<circle cx="${at(px)}" cy="${at(py)}" r="4.2" class="fk0"><title>${title}</title></circle>`;
    const text = short(name, LONGEST);
    const width = 6.6 * text.length;
    const left = Math.min(px + 8, LEFT + WIDTH + 16 - width);
    let line = py - 10;
    const covers = () =>
      taken.some((other) => left < other.right && other.left < left + width && Math.abs(other.y - line) < LINE_HEIGHT);
    while (covers()) line -= LINE_HEIGHT;
    taken.push({ left, right: left + width, y: line });
    if (py - line > LINE_HEIGHT) yield `<path d="M${at(px)} ${at(py - 5)}L${at(left)} ${at(line)}" class="axis"/>`;
    yield label(left, line, text, "label", "start");
  }
}
