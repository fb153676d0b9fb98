import { useSignal } from "@preact/signals";
import { Icon } from "../parts/icon.tsx";
import { chooseScheme, SCHEMES, scheme } from "../parts/scheme.ts";
import { welcome } from "../state/store.ts";
import { Gallery } from "./late-window.tsx";
import { isHelpShown } from "./shortcuts.ts";
import "./header.css";

const SCHEME_NAMES = { auto: "as the system", light: "light", dark: "dark" } as const;

/** What this is, what runs it, and how it looks. */
export function Header() {
  return (
    <header class="header">
      <h1>
        <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
          <path d="M11 21V8M11 14L5 8M11 14l6-6M5 21V8M17 21V8" fill="none" stroke="currentColor" stroke-width="2" />
          <circle cx="5" cy="6" r="3.4" fill="currentColor" />
          <circle cx="11" cy="5" r="3.8" fill="currentColor" />
          <circle cx="17" cy="6" r="3.4" fill="currentColor" />
        </svg>
        Banyan
      </h1>
      <p class="header-promise">
        <span class="header-long">Schedules of collective communication, verified and bounded. </span>Runs in this tab;
        nothing is uploaded.
      </p>
      <Engine />
      <Examples />
      <SchemeButton />
      <button
        type="button"
        class="icon"
        aria-label="Help"
        title="Help (?)"
        aria-keyshortcuts="?"
        onClick={() => (isHelpShown.value = true)}
      >
        ?
      </button>
    </header>
  );
}

/** What opens the gallery. */
function Examples() {
  const isShown = useSignal(false);
  return (
    <>
      <button type="button" onClick={() => (isShown.value = true)}>
        Examples
      </button>
      {isShown.value && <Gallery onClose={() => (isShown.value = false)} />}
    </>
  );
}

/** The kernels and threads that work. */
function Engine() {
  const ready = welcome.value;
  const threads = ready === null ? "" : ready.threads === 1 ? "1 thread" : `${ready.threads} threads`;
  const why = globalThis.crossOriginIsolated
    ? "Kernels and threads of this tab"
    : "Browsers lend a page several threads only where it is cross-origin isolated, as `banyan serve` serves it";
  return (
    <p class="header-engine" title={why}>
      {ready === null ? "starting..." : `${ready.backend}, ${threads}`}
    </p>
  );
}

/** Goes on to the next scheme. */
function SchemeButton() {
  const told = useSignal("");
  const now = scheme.value;
  const next = SCHEMES[(SCHEMES.indexOf(now) + 1) % SCHEMES.length];
  const label = `Colours: ${SCHEME_NAMES[now]}`;
  return (
    <>
      <button
        type="button"
        class="icon"
        aria-label={label}
        title={`${label}; next: ${SCHEME_NAMES[next]}`}
        onClick={() => {
          chooseScheme(next);
          told.value = `Colours: ${SCHEME_NAMES[next]}`;
        }}
      >
        <Icon name={now} />
      </button>
      <span class="unseen" role="status">
        {told.value}
      </span>
    </>
  );
}
