import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useBlame } from "../parts/use-blame.ts";
import { cancel, synthesize } from "../state/actions.ts";
import { busy, isArriving, network, trouble, welcome, words } from "../state/store.ts";
import { troubleSpot } from "./failures.ts";
import "./run.css";

/** What is under way where the worker does not say it. */
const DOING = {
  make: "Synthesizing",
  open: "Reading the file",
  export: "Writing the file",
  compare: "Comparing",
  network: "Reading the network",
} as const;

/** Returns seconds since something began, a number that grows. */
function useSeconds(of: unknown): number {
  const seconds = useSignal(0);
  useEffect(() => {
    const begun = performance.now();
    seconds.value = 0;
    const timer = setInterval(() => {
      seconds.value = (performance.now() - begun) / 1000;
    }, 100);
    return () => clearInterval(timer);
  }, [of]);
  return seconds.value;
}

/** What the user waits for, how far it is, and how to stop it. */
function Progress() {
  const { what = "make", progress = null } = busy.value ?? {};
  const seconds = useSeconds(what);
  const step = progress?.what ?? DOING[what];
  const text = step.charAt(0).toUpperCase() + step.slice(1);
  const { done, total, unit = "" } = progress ?? {};
  const isCounted = done !== undefined && total !== undefined && total > 0;
  return (
    <div class="run-progress">
      <div class="run-line">
        <span role="status">{text}</span>
        <span class="soft">
          {isCounted && (unit === "%" ? `${done} %, ` : `${done} of ${total} ${unit}, `)}
          {seconds.toFixed(1)} s
        </span>
      </div>
      {isCounted ? <progress aria-label={text} value={done} max={total} /> : <progress aria-label={text} />}
    </div>
  );
}

/** Returns what a field made fail in a synthesis last; null: nothing. */
function fieldFailure(): object | null {
  const wrong = trouble.value;
  const isOfField = troubleSpot(words.value.file !== null)?.startsWith("--") === true;
  return wrong?.about === "make" && isOfField ? wrong : null;
}

/** The button that everything leads to, and what it is busy with. */
export function Run() {
  useBlame(fieldFailure(), ".page-side");
  const isBusy = busy.value !== null && busy.value.what !== "network";
  // no press is to meet the button that stops the example of a first visit, which comes in its place
  const isReady = welcome.value !== null && network.value !== null && !isArriving.value;
  return (
    <div class="run">
      {isBusy && <Progress />}
      {isBusy ? (
        <button key="cancel" type="button" class="run-button" aria-keyshortcuts="Escape" onClick={cancel}>
          Cancel <kbd>Esc</kbd>
        </button>
      ) : (
        <button
          key="begin"
          type="button"
          class="run-button primary"
          aria-keyshortcuts="Control+Enter Meta+Enter"
          disabled={!isReady}
          onClick={() => void synthesize()}
        >
          {isReady ? "Synthesize" : "Starting..."}
        </button>
      )}
    </div>
  );
}
