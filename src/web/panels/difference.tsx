import { formatTime, PS_PER_US } from "../../model/units.ts";
import { percent } from "../parts/percent.ts";
import { before, busy, type Made, made, trouble, words } from "../state/store.ts";
import { changes, comparing, isChanged, makeBefore, restoreAll, sameButChanges, setGroup } from "../state/what-if.ts";
import { changeText } from "../state/what-if-changes.ts";
import "./difference.css";

const MOST_NAMED = 4;

/** What a change of the network made of the schedule; nothing where nothing was changed. */
export function Difference() {
  if (!isChanged(words.value)) return null;
  const failure = trouble.value?.failure;
  const after = made.value !== null && isChanged(made.value.words) ? made.value : null;
  const past = before.value !== null && sameButChanges(before.value.words, words.value) ? before.value : null;
  return (
    <section class="difference" aria-label="What if">
      <div class="difference-head">
        <h3>What if: {changedText()}</h3>
        <button type="button" onClick={() => void (changes.value.length > 0 ? restoreAll() : setGroup([]))}>
          {changes.value.length > 0 ? "Restore all" : "All NPUs again"}
        </button>
      </div>
      {failure?.kind === "infeasible" ? (
        <p class="difference-bad" role="status">
          No schedule exists any more: {failure.message}.
        </p>
      ) : (
        <>
          {after !== null && past !== null && <Comparison past={past} after={after} />}
          {after !== null && past === null && <Unknown />}
          {after === null && busy.value === null && (
            <p class="soft">Synthesize to see what it makes of the schedule.</p>
          )}
        </>
      )}
    </section>
  );
}

function changedText(): string {
  const { group } = words.value.options;
  const texts = changes.value.map(changeText);
  const parts = [...texts, ...(typeof group === "string" ? ["a process group"] : [])];
  const more = parts.length - MOST_NAMED;
  return more > 0 ? `${parts.slice(0, MOST_NAMED).join(", ")} and ${more} more` : parts.join(", ");
}

function Unknown() {
  const { isBusy, trouble: text } = comparing.value;
  return (
    <p class="difference-head">
      {text === "" ? "The unchanged network has no schedule of the same words yet." : `It could not be made: ${text}`}
      <button type="button" disabled={isBusy || busy.value !== null} onClick={() => void makeBefore()}>
        {isBusy ? "Making it ..." : "Make it to compare"}
      </button>
    </p>
  );
}

interface Line {
  readonly name: string;
  readonly past: string;
  readonly after: string;
  readonly change: string;
  readonly isWorse: boolean | null;
}

/** Returns "+12.5 %", "-3 %", "the same". */
export function changeShare(past: number, after: number): string {
  if (past === after || past === 0) return "the same";
  const percent = (after / past - 1) * 100;
  const text = Math.abs(percent) < 0.05 ? "0" : `${Math.round(Math.abs(percent) * 10) / 10}`;
  return `${percent > 0 ? "+" : "−"}${text} %`;
}

/** Returns the figures of two schedules beside each other. */
export function linesOf(past: Made, after: Made): Line[] {
  const [one, other] = [past.schedule, after.schedule];
  const time = (name: string, from: number, to: number): Line => ({
    name,
    past: formatTime(from),
    after: formatTime(to),
    change: changeShare(from, to),
    isWorse: from === to ? null : to > from,
  });
  const share = (made: Made["schedule"]): number => made.report.ofLimit ?? made.report.optimality;
  const [shareBefore, shareAfter] = [share(one), share(other)];
  const points = Math.round((shareAfter - shareBefore) * 1000) / 10;
  return [
    time(one.report.simulated === null ? "time, planned" : "time, simulated", one.totalPs, other.totalPs),
    time("limit for any algorithm", one.report.limit.us * PS_PER_US, other.report.limit.us * PS_PER_US),
    time("bound of its routes", one.report.bound.us * PS_PER_US, other.report.bound.us * PS_PER_US),
    {
      name: "share of the limit",
      past: percent(shareBefore),
      after: percent(shareAfter),
      change: points === 0 ? "the same" : `${points > 0 ? "+" : "−"}${Math.abs(points)} points`,
      isWorse: points === 0 ? null : points < 0,
    },
  ];
}

function Comparison({ past, after }: { readonly past: Made; readonly after: Made }) {
  const lines = linesOf(past, after);
  const [{ change, isWorse }] = lines;
  const times = after.schedule.totalPs / past.schedule.totalPs;
  const sentence =
    isWorse === null
      ? "takes as long as before"
      : times >= 2
        ? `takes ${Number(times.toPrecision(3))} times as long`
        : `takes ${change.slice(1)} ${isWorse ? "longer" : "less"}`;
  return (
    <>
      <p class="difference-sentence" role="status">
        It {sentence}: {lines[0].past} before, <b>{lines[0].after}</b> now. The limit was {lines[1].past} and is{" "}
        {lines[1].after}.
      </p>
      <details class="difference-scroll">
        <summary>Before and now in figures</summary>
        <table>
          <thead>
            <tr>
              <th />
              <th>before</th>
              <th>now</th>
              <th>change</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={line.name}>
                <th scope="row">{line.name}</th>
                <td>{line.past}</td>
                <td>{line.after}</td>
                <td class={line.isWorse === null ? "" : line.isWorse ? "difference-bad" : "difference-good"}>
                  {line.change}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}
