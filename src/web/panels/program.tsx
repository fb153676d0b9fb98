import { useSignal } from "@preact/signals";
import { count, gbpsText, roundedSize } from "../../report/amounts.ts";
import { Icon } from "../parts/icon.tsx";
import { isReading, made, network, type OpenedProgram, program, words } from "../state/store.ts";
import { sentenceOf } from "./failures.ts";
import { Downloads } from "./late-window.tsx";
import "./answer.css";
import "./program.css";
import { useEffect } from "preact/hooks";
import { formatTime } from "../../model/numbers/units.ts";
import type { GivenFile, ProgramTime as Time } from "../protocol.ts";
import { typeNetwork } from "../state/actions.ts";
import { ask, failureOf } from "../state/client.ts";
import { networkWish } from "../state/words.ts";
import { networksOfSize } from "./program-networks.ts";

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

/** A size is typed letter by letter. */
const PAUSE_MS = 300;

interface Told {
  readonly of: string;
  readonly file: GivenFile | null;
  readonly time: Time | null;
  readonly refusal: string | null;
}
const NOTHING: Told = { of: "", file: null, time: null, refusal: null };

/** Returns the time of a program on the network that is shown, or why there is none; both null while it is looked for. */
function useTime({ file, verified }: OpenedProgram): Pick<Told, "time" | "refusal"> {
  const told = useSignal(NOTHING);
  const { size, group } = words.value.options;
  const of = JSON.stringify([network.value?.hash, size, group, isReading.value]);
  useEffect(() => {
    if (!verified || network.value === null || isReading.value) return;
    const controller = new AbortController();
    const tell = (time: Time | null, refusal: string | null): void => {
      if (!controller.signal.aborted) told.value = { of, file, time, refusal };
    };
    const timer = setTimeout(() => {
      const asked = { file, network: networkWish(words.value), options: { size, group } };
      ask("programTime", asked, { signal: controller.signal }).then(
        (answer) => ("refusal" in answer ? tell(null, answer.refusal) : tell(answer, null)),
        (error) => tell(null, failureOf(error).message),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [file, verified, of, told]);
  // between the render and the effect it is still that of the program or the network before
  return told.value.of === of && told.value.file === file ? told.value : NOTHING;
}

const bandwidthsOf = ({ sizeBytes, algbwGBps, busbwGBps, model }: Time): string =>
  ` for ${roundedSize(sizeBytes)}: algorithm bandwidth ${gbpsText(algbwGBps)}, bus bandwidth ${gbpsText(busbwGBps)}. Model: ${model}.`;

/** What a program, which names no network, has to do with the one that is shown; its simulated time there. */
function ProgramOnNetwork({ opened }: { readonly opened: OpenedProgram }) {
  const { time, refusal } = useTime(opened);
  const view = network.value;
  if (view === null) return null;
  const { rankCount, verified } = opened;
  const name = view.name || "the network";
  const fits = view.npuCount === rankCount || words.value.options["group"] !== undefined;
  const shown = made.value === null ? name : `${name} and the schedule made for it`;
  return (
    <div class="program-network">
      {time !== null && (
        <p>
          On {name} it takes <b>{formatTime(time.ps)}</b>
          {bandwidthsOf(time)}
        </p>
      )}
      {fits && refusal !== null && <p class="program-bad">{sentenceOf({ message: `not simulated: ${refusal}` })}</p>}
      {fits && time === null && refusal === null && (
        <p>{verified ? `Simulating it on ${name}...` : `A program that is wrong is not simulated on ${name}.`}</p>
      )}
      {!fits && (
        <p class="program-offer">
          It is for {count(rankCount, "GPU")}, but {name} has {count(view.npuCount, "NPU")}. A network for it:
          {networksOfSize(rankCount).map((preset) => (
            <button key={preset} type="button" onClick={() => typeNetwork(preset, true)}>
              {preset}
            </button>
          ))}
          or any other at the left.
        </p>
      )}
      <p class="soft">A program names no network. The views below show {shown}, not this program.</p>
    </div>
  );
}
