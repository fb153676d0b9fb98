import { jsonText } from "../../base/visible.ts";
import {
  type AtlasClass,
  type AtlasCollective,
  type AtlasIndex,
  changeText,
  harmText,
  NETWORK_FILE,
  type Ranked,
  ranked,
  worstByName,
} from "../../model/atlas/atlas-index.ts";
import { collectiveName } from "../../model/collective/collective.ts";
import { formatShare, formatTime, PS_PER_US } from "../../model/numbers/units.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type HarmView, harmViews, type Mark } from "../../picture/scene/harm-views.ts";
import { ATLAS_SCRIPT } from "./html-atlas-script.ts";
import { ATLAS_STYLE } from "./html-atlas-style.ts";
import { escaped, escapedLines } from "./svg.ts";
import { type HarmStep, harmSvg } from "./svg-harm.ts";

/** More rows than these are in the index only. */
const MOST_ROWS = 400;
const TOP_STEP = 6;
/** The hottest colour is of twice the time at least. */
const LEAST_TOP = 2;

const time = (us: number | null): string => (us === null ? "not simulated" : formatTime(us * PS_PER_US));
const gbps = (value: number | null): string => (value === null ? "–" : `${Number(value.toPrecision(4))} GB/s`);
const many = (count: number): string => count.toLocaleString("en");
const plural = (count: number, one: string, more = `${one}s`): string => `${many(count)} ${count === 1 ? one : more}`;
const changed = (ratio: number | null): string => (ratio === null ? "–" : changeText(ratio));

/** Returns how a class is called: "0-rail0", or "3-rail2 after 0-rail0". */
export function classTitle({ failed, on }: Pick<AtlasClass, "failed" | "on">): string {
  if (on.length === 0) return failed.join(" + ");
  return `${failed.filter((name) => !on.includes(name)).join(" + ")} after ${on.join(" + ")}`;
}

const alikeText = (members: number): string => (members > 1 ? `and ${many(members - 1)} alike` : "");

/** Returns the step of harm of each class, from none to the most there is; steps are finer where harm is small. */
function stepsOf({ classes }: AtlasCollective): HarmStep[] {
  const ratios = classes.map(({ slower, limitRose }) => slower ?? limitRose);
  const most = ratios.reduce<number>((a, b) => Math.max(a, b ?? 1), LEAST_TOP);
  return classes.map(({ status }, i) => {
    const ratio = ratios[i];
    if (status === "impossible" || status === "refused") return "x";
    if (status === "open" || ratio === null || ratio === undefined) return "o";
    if (changeText(ratio) === "no slower") return "0";
    const share = Math.sqrt(Math.log(ratio) / Math.log(most));
    return String(Math.max(1, Math.ceil(TOP_STEP * share - 1e-9))) as HarmStep;
  });
}

/** Everything about one collective that the page shows. */
interface Shown {
  readonly kind: string;
  readonly name: string;
  readonly collective: AtlasCollective;
  readonly rows: readonly Ranked[];
  readonly steps: readonly HarmStep[];
  readonly byName: ReadonlyMap<string, number>;
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Returns figures of a class before and after, as pairs of name and text. */
function figuresOf({ collective }: Shown, one: AtlasClass): [string, string][] {
  const { healthy } = collective;
  const { schedule, status, why, kept, keptNote } = one;
  if (schedule === null)
    return [
      [status === "impossible" ? "no way" : status, why ?? "not made yet"],
      ["time before", time(healthy.us)],
    ];
  const hasRate = healthy.throughputGBps !== null && schedule.throughputGBps !== null;
  return [
    ["slower by", harmText(one)],
    ["time", `${time(healthy.us)} → ${time(schedule.us)}`],
    [
      "limit",
      `${time(healthy.limitUs)} → ${time(schedule.limitUs)} (${changed(one.limitRose).replace("no slower", "no rise")})`,
    ],
    ["algbw", `${gbps(healthy.algbwGBps)} → ${gbps(schedule.algbwGBps)}`],
    ...(hasRate
      ? [["throughput", `${gbps(healthy.throughputGBps)} → ${gbps(schedule.throughputGBps)}`] as [string, string]]
      : []),
    ["of limit", schedule.ofLimit === null ? "–" : formatShare(schedule.ofLimit)],
    ["kept", kept === null ? (keptNote ?? "–") : `${many(kept.kept)} of ${many(kept.of)} ${kept.what}`],
    ["blame", schedule.because],
  ];
}

/** Yields the page of an atlas: one file, nothing loaded. O(nodes + links + classes). */
export function* atlasPage(index: AtlasIndex, topology: Topology): Generator<string> {
  const shown = Object.entries(index.collectives).map(([kind, collective]): Shown => {
    const name = capital(collectiveName(kind));
    const rows = ranked(collective);
    return { kind, name, collective, rows, steps: stepsOf(collective), byName: worstByName(collective) };
  });
  const title = `Failures of ${index.network.name}`;
  yield `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>\n`;
  yield '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="generator" content="Banyan">\n';
  yield `<style>${ATLAS_STYLE}</style></head>\n<body><main>\n<header><p class="brand">Banyan · atlas of failures</p><h1>${escaped(title)}</h1>\n`;
  for (const sentence of answers(shown))
    yield `<p class="answer">${escaped(sentence).replaceAll(" %", "\u00a0%")}</p>\n`;
  yield "</header>\n";
  const [first] = shown;
  if (first === undefined) return yield "</main></body></html>\n";
  yield* controls(shown);
  const worst = first.rows.find(({ one }) => one.failed.length === 1)?.one.failed[0];
  const { views, marks } = harmViews(topology, (name) => first.byName.get(name), worst);
  yield* pictures(views, marks, shown);
  yield "<section><h2>Ranking</h2>\n";
  for (const one of shown) yield* ranking(one);
  yield "</section>\n";
  yield* made(index);
  yield `<script type="application/json" id="data">${dataOf(shown, marks)}</script>\n<script>${ATLAS_SCRIPT}</script>\n`;
  yield "</main></body></html>\n";
}

/** Returns what the atlas says, in a sentence for each collective and one before them. */
function answers(shown: readonly Shown[]): string[] {
  const lines = shown.map(({ name, rows }) => {
    const failures = rows.reduce((sum, { members }) => sum + members, 0);
    const none = rows.filter(({ one }) => one.status === "impossible").reduce((sum, { members }) => sum + members, 0);
    const open = rows.filter(({ one }) => one.status === "open").length;
    const worst = rows.find(({ one }) => one.status === "done");
    return [
      `${name}: ${plural(failures, "failure")} in ${plural(rows.length, "class", "classes")}`,
      none === 0 ? "all leave a way" : `${many(none)} ${none === 1 ? "leaves" : "leave"} no way`,
      ...(worst === undefined
        ? []
        : [
            `the worst ${none === 0 ? "" : "of the others "}is ${classTitle(worst.one)}${worst.members > 1 ? ` (${many(worst.members)} alike)` : ""}: ${harmText(worst.one) === "no slower" ? "no slower" : `${harmText(worst.one).replace("+", "")} longer`}`,
          ]),
      ...(open === 0 ? [] : [`${plural(open, "class", "classes")} still open`]),
    ].join("; ");
  });
  return lines.map((line) => `${line}.`);
}

/** Yields the choice of a collective and the field that finds a failure: with scripts only. */
function* controls(shown: readonly Shown[]): Generator<string> {
  yield '<form class="bar" hidden><fieldset><legend>Collective</legend><div class="pick">';
  for (const [i, { kind, name }] of shown.entries())
    yield `<label><input type="radio" name="kind" value="${escaped(kind)}"${i === 0 ? " checked" : ""}><span>${escaped(name)}</span></label>`;
  const example = Object.keys(shown[0]?.collective.failures ?? {})[0] ?? "0-1";
  yield `</div></fieldset><div class="find"><label for="find">Find a failure by its name</label><input id="find" type="search" autocomplete="off" spellcheck="false" placeholder="${escaped(example)}"></div></form>\n`;
}

const WORDS: Readonly<Record<string, string>> = { x: "no way left", o: "open", q: "not in this atlas" };

/** Yields the pictures, what their colours mean, and the panel of figures. */
function* pictures(views: readonly HarmView[], marks: readonly Mark[], shown: readonly Shown[]): Generator<string> {
  const [first] = shown as [Shown];
  const stepOf = (mark: number): HarmStep => {
    const steps = (marks[mark] as Mark).names.flatMap((name) => {
      const at = first.byName.get(name);
      return at === undefined ? [] : [first.steps[at] as HarmStep];
    });
    const order = "qo0123456x";
    return steps.reduce<HarmStep>((a, b) => (order.indexOf(b) > order.indexOf(a) ? b : a), "q");
  };
  yield '<div class="look"><div>\n';
  for (const one of shown) yield* legend(one);
  for (const [i, view] of views.entries()) {
    yield `<figure class="picture"><div class="tools"><h2>${escaped(view.heading)}</h2><div hidden><button type="button" data-zoom="0.7071" aria-label="Smaller: ${escaped(view.heading)}">−</button><button type="button" data-zoom="1.4142" aria-label="Larger: ${escaped(view.heading)}">+</button><button type="button" data-zoom="fit">Fit</button></div></div>`;
    yield `<div class="scroll" tabindex="0" role="group" aria-label="${escaped(view.heading)}: arrow keys walk through its parts">\n`;
    yield* harmSvg(view, `view${i}`, stepOf);
    yield `</div><figcaption>${escaped(view.sentence)}</figcaption></figure>\n`;
  }
  yield '</div><aside class="panel" aria-label="Figures"><div id="panel" aria-live="polite"><h2>Figures</h2><p class="note">They need scripts, which are off here; the ranking below has them all.</p></div></aside></div>\n';
}

/** Yields what each colour stands for, by the failures that have it. */
function* legend({ kind, collective, steps }: Shown): Generator<string> {
  yield `<ul class="legend" data-kind="${escaped(kind)}" aria-label="Colours">`;
  for (const step of ["0", "1", "2", "3", "4", "5", "6", "x", "o"] as const) {
    const ratios = collective.classes.flatMap(({ slower, limitRose }, i) =>
      steps[i] === step ? [slower ?? limitRose ?? 1] : [],
    );
    if (ratios.length === 0) continue;
    const [low, high] = [changeText(Math.min(...ratios)), changeText(Math.max(...ratios))];
    const text = WORDS[step] ?? (low === high ? low : `${low} to ${high}`);
    yield `<li><i class="h${step}" aria-hidden="true"></i>${escaped(text)}</li>`;
  }
  yield `<li><i class="hq" aria-hidden="true"></i>${WORDS["q"]}</li></ul>\n`;
}

/** Yields the ranking of one collective. */
function* ranking(shown: Shown): Generator<string> {
  const { kind, name, collective, rows, steps } = shown;
  const { healthy } = collective;
  const listed = rows.slice(0, MOST_ROWS);
  yield `<div data-kind="${escaped(kind)}"><table><caption>${escaped(name)}: ${time(healthy.us)} without a failure, limit ${time(healthy.limitUs)}. The most harmful first; a name shows where its class is.</caption>`;
  yield '<thead><tr><th scope="col">Failure</th><th scope="col" class="r">Slower by</th><th scope="col" class="r">Time</th><th scope="col" class="r">Limit</th><th scope="col" class="r">Of limit</th><th scope="col" class="r">Kept</th><th scope="col" class="r">Schedule</th><th scope="col">Blame</th></tr></thead><tbody>\n';
  for (const { at, one, members } of listed) {
    const { schedule, kept, keptNote, why } = one;
    const title = classTitle(one);
    const cell = (key: string, text: string, html = escaped(text)): string =>
      `<td class="r" data-k="${key}">${html}</td>`;
    yield `<tr data-at="${at}"><th scope="row"><button type="button" data-at="${at}" aria-pressed="false">${escaped(title)}</button> <span class="note">${alikeText(members)}</span></th>`;
    yield cell(
      "Slower by",
      "",
      `<span><i class="h${steps[at]}" aria-hidden="true"></i>${escaped(harmText(one))}</span>`,
    );
    yield cell("Time", schedule === null ? "–" : time(schedule.us));
    yield cell("Limit", schedule === null ? "–" : time(schedule.limitUs));
    yield cell("Of limit", schedule?.ofLimit == null ? "–" : formatShare(schedule.ofLimit));
    yield cell("Kept", kept === null ? "–" : `${many(kept.kept)} of ${many(kept.of)} ${kept.what}`);
    const file = `${kind} without ${title.replace(/[^\w.+-]+/g, "_")}.json`;
    yield cell(
      "Schedule",
      "",
      schedule === null
        ? "–"
        : `<a href="${escaped(schedule.file)}" download="${escaped(file)}">${sizeOf(schedule.bytes)}</a>`,
    );
    const blame = schedule?.because ?? why ?? "not made yet";
    yield `<td class="why" data-k="Blame">${escaped(keptNote === null ? blame : `${blame}; ${keptNote}`)}</td></tr>\n`;
  }
  yield "</tbody></table>\n";
  if (rows.length > listed.length)
    yield `<p class="note">And ${plural(rows.length - listed.length, "class", "classes")} that do no more harm: index.json has them all.</p>\n`;
  yield "</div>\n";
}

const sizeOf = (bytes: number): string =>
  bytes >= 1e6 ? `${Number((bytes / 1e6).toPrecision(3))} MB` : `${Math.max(1, Math.round(bytes / 1e3))} kB`;

/** Yields how the atlas was made, and how it is asked. */
function* made({ network, making, version }: AtlasIndex): Generator<string> {
  const facts: [string, string][] = [
    ["Network", `${network.npus} NPUs, ${network.switches} switches, ${network.links} links`],
    ["Hash", network.hash],
    ...Object.entries(making).map(([id, text]): [string, string] => [id, text === true ? "yes" : text]),
    ["Banyan", version],
  ];
  yield '<section><h2>How it was made</h2>\n<dl class="facts">';
  for (const [name, value] of facts) yield `<div><dt>${escaped(capital(name))}</dt><dd>${escaped(value)}</dd></div>`;
  yield `</dl>\n<p>Every schedule was verified by a judge that shares no code with the makers. A class holds for all its failures by a symmetry of the network (file ${NETWORK_FILE}); its schedule is that of the failure that is named, and is moved to another one by:</p>\n`;
  yield `<pre tabindex="0"><code>${escapedLines("banyan atlas lookup . --failed NAME --collective allreduce -o schedule.json")}</code></pre></section>\n`;
}

/** Returns what the script needs, as JSON that can stand in a page. */
function dataOf(shown: readonly Shown[], marks: readonly Mark[]): string {
  const names = new Set(shown.flatMap(({ byName }) => [...byName.keys()]));
  const list = [...names];
  const placeOf = new Map(list.map((name, i) => [name, i]));
  const kinds = Object.fromEntries(
    shown.map((one) => {
      const { kind, collective, rows, steps, byName } = one;
      const members = new Map(rows.map((row) => [row.at, row.members]));
      const cards = collective.classes.map((each, at) => ({
        name: classTitle(each),
        alike: alikeText(members.get(at) ?? 0),
        href: each.schedule?.file ?? null,
        rows: figuresOf(one, each),
      }));
      const sets = Object.fromEntries(Object.entries(collective.failures).filter(([name]) => name.includes("+")));
      return [
        kind,
        { of: list.map((name) => byName.get(name) ?? -1), steps, cards, sets, further: collective.further },
      ];
    }),
  );
  const known = marks.map(({ label, names: all }) => [label, all.flatMap((name) => placeOf.get(name) ?? [])]);
  return jsonText({ names: list, marks: known, kinds }).replaceAll("<", "\\u003c");
}
