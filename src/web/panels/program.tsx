import { useSignal } from "@preact/signals";
import { count } from "../../report/amounts.ts";
import { Icon } from "../parts/icon.tsx";
import { type OpenedProgram, program } from "../state/store.ts";
import { Downloads } from "./downloads.tsx";
import { sentenceOf } from "./failures.ts";
import { ProgramOnNetwork } from "./program-time.tsx";
import "./answer.css";
import "./program.css";

/** An opened program: what it does, in words, and whether it does it. */
export function Program({ opened }: { readonly opened: OpenedProgram }) {
  const isSaving = useSignal(false);
  const { name, explanation, verified, violations, warnings } = opened;
  return (
    <section class="answer program" aria-label={`Program ${name}`}>
      <h2 class="unseen">Program</h2>
      <div class="answer-head">
        <p class="answer-sentence" role="status">
          <b>{name}</b>: <span class={verified ? "program-good" : "program-bad"}>{verdictOf(opened)}</span>
        </p>
        <button type="button" onClick={() => (isSaving.value = true)}>
          <Icon name="download" /> Downloads
        </button>
        <button type="button" onClick={() => (program.value = null)}>
          Close
        </button>
      </div>
      {violations.length > 0 && (
        <ul class="program-violations">
          {violations.map((text) => (
            <li key={text}>{sentenceOf({ message: text })}</li>
          ))}
        </ul>
      )}
      {warnings.length > 0 && (
        <ul class="program-notes" aria-label="Notes">
          {warnings.map((text) => (
            <li key={text}>{sentenceOf({ message: text })}</li>
          ))}
        </ul>
      )}
      <ProgramOnNetwork opened={opened} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys */}
      <section class="program-words lines" data-lines tabIndex={0} aria-label="What the program does">
        {explanation}
      </section>
      {isSaving.value && <Downloads onClose={() => (isSaving.value = false)} />}
    </section>
  );
}

const verdictOf = ({ verified, violationCount, violations }: OpenedProgram): string => {
  if (verified) return "verified by symbolic execution; it does what its collective asks.";
  const shown = violations.length < violationCount ? `; the first ${violations.length} are shown` : "";
  return `it is wrong: ${count(violationCount, "violation")}${shown}.`;
};
