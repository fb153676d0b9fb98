import { Told } from "../parts/told.tsx";
import { linesOf, remarksOf, sentenceOf } from "../state/difference.ts";
import { before, busy, isStale, type Made, made, trouble, words } from "../state/store.ts";
import { changes, comparing, isChanged, makeBefore, sameButChanges } from "../state/what-if.ts";
import { changeText } from "../state/what-if-changes.ts";
import { RestoreAll } from "./restore-all.tsx";
import "./difference.css";

const MOST_NAMED = 4;

/** What a change of the network made of the schedule; nothing where nothing was changed. */
export function Difference() {
  if (!isChanged(words.value)) return null;
  const failure = trouble.value?.failure;
  const after = made.value !== null && !isStale.value && isChanged(made.value.words) ? made.value : null;
  const past = before.value !== null && sameButChanges(before.value.words, words.value) ? before.value : null;
  return (
    <section class="difference" aria-label="What if">
      <div class="difference-head">
        <h3>What if: {changedText()}</h3>
        <RestoreAll />
      </div>
      {failure?.kind === "infeasible" ? (
        <p class="difference-bad" role="status">
          No schedule exists any more: {failure.message}.
        </p>
      ) : (
        <>
          {after !== null && past !== null && <Comparison past={past} after={after} />}
          {after !== null && past === null && <Unknown />}
          {after === null && (
            <p class="soft">
              {busy.value?.what === "make"
                ? "The schedule follows ..."
                : "Synthesize to see what it makes of the schedule."}
            </p>
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

function Comparison({ past, after }: { readonly past: Made; readonly after: Made }) {
  const lines = linesOf(past, after);
  const [begin, now] = [`It ${sentenceOf(past, after)}: ${lines[0].past} before,`, lines[0].after];
  const limits = `now. The limit was ${lines[1].past} and is ${lines[1].after}.`;
  const end = [limits, ...remarksOf(past, after)].join(" ");
  return (
    <>
      <Told class="difference-sentence" text={`${begin} ${now} ${end}`} of={after}>
        {begin} <b>{now}</b> {end}
      </Told>
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
