import { useEffect } from "preact/hooks";
import { formatSize } from "../../../model/numbers/units.ts";
import { count } from "../../../report/amounts.ts";
import { isCovered } from "../../parts/covered.ts";
import { choose } from "../../state/actions.ts";
import { FIRST_RANGE, POWERS, rangeText, type SizeRange, STEPS, sizesOf, withEnd } from "../../state/size-range.ts";
import { busy, welcome } from "../../state/store.ts";
import { failure, makersOf, range, runComparison, running, stopComparison, tried } from "./run.ts";

/** Sizes, algorithms, start and stop. */
export function Controls() {
  const { from, to, step } = range.value;
  const now = running.value;
  const sizes = sizesOf(range.value).length;
  useEscape(now !== null);
  return (
    <div class="compare-controls">
      <SizeSelect label="From" value={from} onChange={(power) => setRange(withEnd(range.value, "from", power))} />
      <SizeSelect label="to" value={to} onChange={(power) => setRange(withEnd(range.value, "to", power))} />
      <label>
        times
        <select
          value={step}
          onChange={({ currentTarget }) => setRange({ ...range.value, step: Number(currentTarget.value) })}
        >
          {STEPS.map((doublings) => (
            <option key={doublings} value={doublings}>
              {2 ** doublings}
            </option>
          ))}
        </select>
      </label>
      <span class="soft">{`${sizes} ${sizes === 1 ? "size" : "sizes"}`}</span>
      {now === null ? (
        <button type="button" class="primary" disabled={welcome.value === null} onClick={() => void runComparison()}>
          Compare
        </button>
      ) : (
        <button type="button" aria-keyshortcuts="Escape" onClick={stopComparison}>
          Stop <kbd>Esc</kbd>
        </button>
      )}
      <Tried />
      {now !== null && (
        <p class="compare-progress" aria-live="off">
          <progress
            {...(now.progress?.total === undefined ? {} : { value: now.progress.done ?? 0, max: now.progress.total })}
            aria-label="Comparison"
          />
          <span>{now.progress?.what ?? "reading the network"}</span>
        </p>
      )}
      {failure.value !== null && (
        <p class="compare-failure" role="alert">
          {failure.value.place === null ? "" : `${failure.value.place}: `}
          {failure.value.message}
        </p>
      )}
    </div>
  );
}

/** Escape stops the comparison that is looked at, where nothing else is under way that it would cancel. */
function useEscape(isRunning: boolean): void {
  useEffect(() => {
    if (!isRunning) return;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented || isCovered() || busy.value !== null) return;
      event.preventDefault();
      stopComparison();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [isRunning]);
}

function setRange(range: SizeRange): void {
  const sizes = rangeText(range);
  choose({ sizes: sizes === rangeText(FIRST_RANGE) ? undefined : sizes });
}

interface SizeSelectProps {
  readonly label: string;
  readonly value: number;
  readonly onChange: (power: number) => void;
}

function SizeSelect({ label, value, onChange }: SizeSelectProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => onChange(Number(currentTarget.value))}>
        {POWERS.map((power) => (
          <option key={power} value={power}>
            {formatSize(2 ** power)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Which algorithms are tried. */
function Tried() {
  const makers = makersOf();
  const usual = new Set(makers.filter(({ solves }) => !solves).map(({ name }) => name));
  const now = tried.value ?? usual;
  const toggle = (toggled: string): void => {
    const next = makers.map(({ name }) => name).filter((name) => now.has(name) !== (name === toggled));
    const isUsual = next.length === usual.size && next.every((name) => usual.has(name));
    choose({ algorithms: isUsual || next.length === 0 ? undefined : next.join(",") });
  };
  return (
    <details class="compare-tried">
      <summary>{tried.value === null ? "All algorithms that apply" : count(now.size, "algorithm")}</summary>
      <fieldset aria-label="Algorithms to compare">
        {makers.map(({ name, description, solves }) => (
          <label key={name} title={description}>
            <input type="checkbox" checked={now.has(name)} onChange={() => toggle(name)} />
            {name}
            {solves && <span class="soft">solves programs: slow</span>}
          </label>
        ))}
      </fieldset>
      {tried.value !== null && (
        <button type="button" onClick={() => choose({ algorithms: undefined })}>
          All that apply
        </button>
      )}
    </details>
  );
}
