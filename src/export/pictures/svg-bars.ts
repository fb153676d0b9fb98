import { InputError } from "../../base/errors.ts";
import { lookOf } from "../../picture/shapes.ts";
import { at, escaped, framed, label, type Picture, type PictureOptions, short } from "./svg.ts";
import { axisOf, isWide, type Measured } from "./svg-axes.ts";

/** Bars of a plot: one for each value of a column, or some side by side, by the values of another. */
export interface BarPlot {
  readonly title: string;
  readonly groupName: string;
  /** What the bars of a group are, in order; one of "" where they are alone. */
  readonly series: readonly string[];
  readonly groups: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
  readonly measured: Measured;
}

const WIDTH = 640;
const BAR = 16;
const MOST_BARS = 400;
const LONGEST = 34;

/**
 * Yields the parts of an SVG of bars from the left, their values beside them; logarithmic where values differ by more than 20 times. Throws
 * InputError for none, and for more than 400.
 */
export const barsSvg = (plot: BarPlot, options: PictureOptions = {}): Generator<string> =>
  framed(barsPicture(plot), options);

function barsPicture({ title, groupName, series, groups, measured }: BarPlot): Picture {
  const values = groups.flatMap((group) => group.values).filter((value) => value !== null);
  if (values.length === 0) throw new InputError("the bars of a plot", "at least one");
  const count = groups.length * series.length;
  if (count > MOST_BARS) throw new InputError("the bars of a plot", `at most ${MOST_BARS} bars`, count);
  const axis = axisOf(values, measured, { about: 8, fromZero: true });
  const isLog = isWide(values);
  const left = 20 + 6.8 * groups.reduce((most, { name }) => Math.max(most, short(name, LONGEST).length), 4);
  const hasLegend = series.length > 1;
  const top = hasLegend ? 44 : 18;
  const groupHeight = BAR * series.length + (series.length > 1 ? 12 : 8);
  const bottom = top + groups.length * groupHeight;
  function* parts(): Generator<string> {
    let x = left;
    if (hasLegend)
      for (const [i, name] of series.entries()) {
        const text = short(name, LONGEST);
        yield `<rect x="${at(x)}" y="0" width="12" height="12" class="fk${lookOf(i).colour}"/>${label(x + 17, 10, text, "label", "start")}`;
        x += 38 + 6.8 * text.length;
      }
    for (const tick of axis.ticks) {
      const place = left + WIDTH * axis.place(tick);
      yield `<path d="M${at(place)} ${at(top)}V${at(bottom)}" class="axis"/>${label(place, bottom + 16, axis.text(tick), "small")}`;
    }
    yield label(left + WIDTH / 2, bottom + 36, measured.name, "small soft");
    yield label(left - 8, top - 6, groupName, "small soft", "end");
    for (const [g, group] of groups.entries()) {
      const y = top + g * groupHeight + 4;
      yield label(left - 8, y + (BAR * series.length) / 2 + 4, short(group.name, LONGEST), "label", "end");
      for (const [i, value] of group.values.entries()) {
        const place = y + i * BAR;
        if (value === null) {
          yield label(left + 6, place + 12, "nothing", "small soft", "start");
          continue;
        }
        const end = Math.max(1, WIDTH * axis.place(value));
        const said = escaped(`${group.name}${series[i] === "" ? "" : `, ${series[i]}`}: ${measured.text(value)}`);
        yield `<rect x="${at(left)}" y="${at(place)}" width="${at(end)}" height="${BAR - 2}" class="fk${lookOf(i).colour}"><title>${said}</title></rect>`;
        yield label(left + end + 6, place + 11, measured.text(value), "small", "start");
      }
    }
  }
  const sentence = `${measured.name} by ${groupName}${isLog ? "; the axis is logarithmic" : ""}.`;
  const legendWidth = hasLegend ? series.reduce((sum, name) => sum + 38 + 6.8 * short(name, LONGEST).length, 0) : 0;
  return { title, sentence, width: left + Math.max(WIDTH + 70, legendWidth), height: bottom + 44, parts: parts() };
}
