import { useSignal } from "@preact/signals";
import { Icon } from "../parts/icon.tsx";
import { offerFile, synthesize } from "../state/actions.ts";
import { busy, isStale, type Made, made, network, welcome } from "../state/store.ts";
import { Difference } from "./difference.tsx";
import { sentenceOf } from "./failures.ts";
import { Downloads } from "./late-window.tsx";
import "./answer.css";
import { useEffect, useRef } from "preact/hooks";
import { formatShare, formatTime, PS_PER_US } from "../../model/numbers/units.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Told } from "../parts/told.tsx";
import type { AnyReport, ScheduleView } from "../protocol.ts";
import { ask } from "../state/client.ts";
import { AnswerFold, isAnswerFolded, TimeScale } from "./answer-line.tsx";
import { factsOf } from "./facts.ts";

/** What came out: one sentence, its figures, and all that belongs to it. */
export function Answer() {
  const isSaving = useSignal(false);
  const last = made.value;
  const view = network.value;
  const save = (
    <button type="button" class="answer-save" disabled={view === null} onClick={() => (isSaving.value = true)}>
      <Icon name="download" /> Downloads
    </button>
  );
  return (
    <section class="answer" aria-label="Result" data-folded={last !== null && isAnswerFolded.value}>
      <h2 class="unseen">Result</h2>
      {last === null ? (
        <div class="answer-head">
          <p class="answer-sentence answer-before soft">
            {view === null
              ? "Reading the network..."
              : `${view.name || "The network"}: ${view.sizeText}. Synthesize to get a verified schedule and how close it is to what is possible.`}
          </p>
          {save}
        </div>
      ) : (
        <Result last={last} save={save} />
      )}
      <Difference />
      {isSaving.value && <Downloads onClose={() => (isSaving.value = false)} />}
    </section>
  );
}

function Result({ last, save }: { readonly last: Made; readonly save: preact.ComponentChildren }) {
  const { schedule, words } = last;
  const isFolded = isAnswerFolded.value;
  const stale = isStale.value && (
    <p class="answer-stale">
      <b>Out of date</b>
      <span class="answer-stale-why">this was made before you changed what is asked</span>
      <button type="button" disabled={busy.value !== null} onClick={() => void synthesize()}>
        Synthesize again
      </button>
    </p>
  );
  return (
    <>
      <div class="answer-head">
        <Told class="answer-sentence" text={schedule.answer} of={schedule}>
          {schedule.ref.wish === null && words.file !== null && <b>{words.file.name}: </b>}
          {schedule.answer}
        </Told>
        {isFolded && stale}
        {isFolded && <TimeScale report={schedule.report} />}
        <span class="answer-acts">
          <AnswerFold />
          {save}
        </span>
      </div>
      {schedule.optimism !== null && !isFolded && (
        <p class="answer-optimism">{sentenceOf({ message: schedule.optimism })}</p>
      )}
      {!isFolded && stale}
      {!isFolded && <Figures schedule={schedule} />}
      {!isFolded && <AnswerDetails last={last} />}
    </>
  );
}

/** The figures of a schedule, and whether the judge found it right. */
function Figures({ schedule: { figures, report } }: { readonly schedule: ScheduleView }) {
  const { verified } = report;
  return (
    <dl class="answer-figures" data-stale={isStale.value}>
      {figures
        .filter(({ name }) => name !== "Verified")
        .map(({ name, value, note }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <b>{value}</b> <span title={note}>{note}</span>
            </dd>
          </div>
        ))}
      <div class={verified ? "answer-good" : "answer-bad"}>
        <dt>{verified ? "Verified" : "Not verified"}</dt>
        <dd>
          <b>{verified ? "yes" : "no"}</b> <span title="by the independent judge">by the independent judge</span>
        </dd>
      </div>
    </dl>
  );
}

/** All that is behind the answer: why it is not faster, who else was tried, how it was made, and how to make it elsewhere. */
function AnswerDetails({ last: { schedule, words } }: { readonly last: Made }) {
  const { file } = words;
  const { report, command } = schedule;
  const isSame = report.deterministic && report.auto === undefined;
  return (
    <details class="answer-details">
      <summary>
        Why, how, and the same on the command line
        {report.auto !== undefined && `: ${report.algorithm} was chosen of ${report.auto.tried.length} tried`}
      </summary>
      <div class="answer-columns">
        <Bound report={report} />
        {report.auto !== undefined && <Rivals report={report} auto={report.auto} />}
        <Notes schedule={schedule} />
        <section>
          <h3>Made</h3>
          <dl class="answer-facts">
            {factsOf(report, schedule.ms, welcome.value?.threads).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </section>
        <section class="answer-wide">
          <h3>{isSame ? "The same file on the command line" : "On the command line"}</h3>
          {command === "" ? (
            <p class="soft">It was read from a file.</p>
          ) : (
            <>
              <p class="answer-command">
                <code>{command}</code>
                <CopyButton text={command} what="command" />
              </p>
              {!isSame && <p class="soft">{whyNotSame(report)}</p>}
              {file !== null && (
                <p class="answer-command">
                  <span class="soft">It reads {file.name}, which this page has:</span>
                  <button type="button" onClick={() => void offerFile(file)}>
                    Save {file.name}
                  </button>
                </p>
              )}
            </>
          )}
          <Sha256 schedule={schedule} />
        </section>
      </div>
    </details>
  );
}

/** Returns why the command may make another file, a sentence. */
const whyNotSame = ({ auto, algorithm }: AnyReport): string =>
  auto === undefined
    ? "What it finds within its time limit depends on the machine."
    : `What auto tries within its time limit depends on the machine; here it chose ${algorithm}.`;

const time = (us: number): string => formatTime(us * PS_PER_US);

function Bound({ report: { limit, classLimit, gaps } }: { readonly report: AnyReport }) {
  return (
    <section>
      <h3>Why it cannot be faster</h3>
      <p>
        No algorithm can take less than <b>{time(limit.us)}</b>: {limit.because}.
      </p>
      {classLimit !== null && (
        <p>
          With {classLimit.holdsFor}, no less than <b>{time(classLimit.us)}</b>: {classLimit.because}.
        </p>
      )}
      {gaps.map(({ because }) => (
        <p key={because}>{sentenceOf({ message: because })}</p>
      ))}
    </section>
  );
}

function Rivals({ report, auto }: { readonly report: AnyReport; readonly auto: NonNullable<AnyReport["auto"]> }) {
  const tried = auto.tried.toSorted((a, b) => a.us - b.us);
  return (
    <section>
      <h3>Algorithms tried</h3>
      <p>{sentenceOf({ message: auto.because })}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">Algorithm</th>
            <th scope="col">Time</th>
            <th scope="col">Of the limit</th>
          </tr>
        </thead>
        <tbody>
          {tried.map(({ algorithm, us, ofLimit }) => (
            <tr key={algorithm} aria-current={algorithm === report.algorithm ? "true" : undefined}>
              <th scope="row">{algorithm}</th>
              <td>{time(us)}</td>
              <td>{formatShare(ofLimit)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {auto.leftOut.length > 0 && (
        <details>
          <summary>{auto.leftOut.length} left out</summary>
          <ul>
            {auto.leftOut.map(({ algorithm, reason }) => (
              <li key={algorithm}>
                <b>{algorithm}</b>: {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function Notes({ schedule: { report, violations, optimism } }: { readonly schedule: ScheduleView }) {
  const notes = [
    ...(report.notes ?? []).filter((text) => text !== optimism),
    ...(report.deterministic ? [] : ["the time limit decided what was tried, so another run may choose otherwise"]),
  ];
  if (notes.length + violations.length === 0) return null;
  return (
    <section>
      <h3>Notes</h3>
      <ul>
        {violations.map((text) => (
          <li key={text} class="answer-violation">
            {sentenceOf({ message: text })}
          </li>
        ))}
        {notes.map((text) => (
          <li key={text}>{sentenceOf({ message: text })}</li>
        ))}
      </ul>
    </section>
  );
}

/** The fingerprint of the schedule's file: worked out when asked, for the file has to be written. */
function Sha256({ schedule: { ref } }: { readonly schedule: ScheduleView }) {
  const told = useSignal<string | null>(null);
  const asked = useRef("");
  useEffect(() => {
    told.value = null;
    asked.current = "";
  }, [ref.id, told]);
  const find = async (): Promise<void> => {
    told.value = "...";
    asked.current = ref.id;
    const tell = (text: string): void => {
      if (asked.current === ref.id) told.value = text;
    };
    try {
      const { sha256 } = await ask("file", { schedule: ref });
      tell(sha256 ?? "This page is not in a secure context (https or localhost), where browsers hash nothing.");
    } catch (error) {
      tell(sentenceOf(error as Error));
    }
  };
  return (
    <p class="answer-command">
      {told.value === null ? (
        <button type="button" onClick={() => void find()}>
          SHA-256 of the file
        </button>
      ) : (
        <>
          <span>SHA-256</span> <code aria-live="polite">{told.value}</code>
          {/^[0-9a-f]{64}$/.test(told.value) && <CopyButton text={told.value} what="SHA-256" />}
        </>
      )}
    </p>
  );
}
