import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import "./kernel-table.css";
import { count } from "../../report/amounts.ts";
import type { Progress } from "../../request/progress.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import type { Failure, KernelTimes } from "../protocol.ts";
import { ask, failureOf } from "../state/client.ts";
import { notes } from "../state/store.ts";
import { sentenceOf } from "./failures.ts";
import { browserOf, FIGURES, figuresOf, markdownOf, NONE, summaryOf, UNITS } from "./kernel-times.ts";

interface Measured {
  readonly rows: readonly KernelTimes[];
  /** Null when nothing is measured any more. */
  readonly progress: Progress | null;
  readonly failure: Failure | null;
}

const BEGUN: Measured = { rows: [], progress: { what: "waiting for the worker" }, failure: null };

/** Measures the kernels, anew with each `turn`, until the table goes. */
function useKernelTimes(turn: number): Measured {
  const measured = useSignal(BEGUN);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const tell = (news: Partial<Measured>): void => {
      if (!signal.aborted) measured.value = { ...measured.value, ...news };
    };
    // the figures before stay until there are others
    tell({ ...BEGUN, rows: measured.value.rows });
    const onProgress = (progress: Progress): void => tell({ progress });
    const onPartial = (rows: readonly KernelTimes[]): void => tell({ rows });
    ask("kernels", {}, { signal, onProgress, onPartial }).then(
      (rows) => tell({ rows, progress: null }),
      (error) => tell({ progress: null, failure: failureOf(error) }),
    );
    return () => controller.abort();
  }, [turn]);
  return measured.value;
}

/** Every kernel on WebAssembly and on JavaScript, measured in the page's worker. */
export function View() {
  const turn = useSignal(0);
  const { rows, progress, failure } = useKernelTimes(turn.value);
  const where = `${browserOf(navigator.userAgent)}, ${count(navigator.hardwareConcurrency ?? 1, "thread")}`;
  return (
    <div class="kernels">
      <p>
        Each kernel solves one problem on WebAssembly, which the app runs on, and on JavaScript, which stands in for it.
        Answers are compared before they are timed.
      </p>
      <p>
        <strong>{where}</strong>, a call on one. The times are of this tab; <code>npm run bench -- kernels</code> has
        those of native code.
      </p>
      <State progress={progress} failure={failure} rows={rows} />
      {rows.length > 0 && <Table rows={rows} isBusy={progress !== null} />}
      {rows.length > 0 && (
        <div class="kernels-foot">
          <button type="button" onClick={() => turn.value++}>
            Measure again
          </button>
          <CopyButton text={markdownOf(rows, where)} what="table as Markdown" />
          <span class="soft" role="status">
            {notes.value.at(-1)?.text}
          </span>
        </div>
      )}
    </div>
  );
}

/** What is measured, what came out, or why nothing did. */
function State({ rows, progress, failure }: Measured) {
  return (
    <div class="kernels-state">
      {progress !== null && (
        <p class="kernels-progress">
          <progress value={progress.done ?? 0} max={progress.total ?? 1} aria-label="Kernels measured" />
          {progress.what}
        </p>
      )}
      <p role="status">{progress === null && failure === null && summaryOf(rows)}</p>
      <p role="alert">{failure !== null && sentenceOf(failure)}</p>
    </div>
  );
}

function Table({ rows, isBusy }: { readonly rows: readonly KernelTimes[]; readonly isBusy: boolean }) {
  return (
    <table class="kernels-table" aria-busy={isBusy}>
      <caption>{UNITS}</caption>
      <thead>
        <tr>
          <th scope="col">Kernel and its problem</th>
          {FIGURES.map((name) => (
            <th key={name} scope="col" class="n">
              <Breaking text={name} before={/(?=[A-Z])/} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.kernel}>
            <th scope="row">
              <b>{row.kernel}</b>{" "}
              <span>
                <Breaking text={row.network} before={/(?<=@)/} /> <span>{row.collective}</span>
              </span>
            </th>
            {figuresOf(row).map((figure, i) => (
              <td key={FIGURES[i]} class="n" data-wrong={figure === "no"}>
                {figure === NONE ? <None /> : figure}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A text that may break where it is narrow. */
const Breaking = ({ text, before }: { readonly text: string; readonly before: RegExp }) =>
  text.split(before).flatMap((part) => [<wbr key={part} />, part]);

/** A dash, which is read out as what it means. */
const None = () => (
  <>
    <span aria-hidden="true">{NONE}</span>
    <span class="unseen">none</span>
  </>
);
