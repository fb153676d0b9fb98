import type { FunctionComponent } from "preact";
import { useEffect, useErrorBoundary, useRef } from "preact/hooks";
import { useCode } from "../parts/use-code.ts";
import { showView, synthesize } from "../state/actions.ts";
import { busy, type Made, made, network, program, words } from "../state/store.ts";
import { VIEWS, type ViewName } from "../state/words.ts";
import { VIEW_ENTRIES } from "../views/registry.ts";
import type { ViewProps } from "../views/view-props.ts";
import { sentenceOf } from "./failures.ts";
import { tabAfter } from "./tabs.ts";
import "./views.css";

/** In the order in which the registry lists them. */
const ORDER = Object.keys(VIEW_ENTRIES).filter((name): name is ViewName => VIEWS.some((view) => view === name));

function Tabs() {
  const list = useRef<HTMLDivElement>(null);
  const { view } = words.value;
  useEffect(() => {
    // with the frame, which lays the page out anyway
    const frame = requestAnimationFrame(() => {
      list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
    });
    return () => cancelAnimationFrame(frame);
  }, [view]);
  const walk = (event: KeyboardEvent, at: number): void => {
    const to = tabAfter(event.key, at, ORDER.length);
    if (to === null) return;
    event.preventDefault();
    list.current?.querySelectorAll<HTMLElement>('[role="tab"]')[to].focus();
  };
  return (
    <div class="views-tabs sideways" role="tablist" aria-label="Views" ref={list}>
      {ORDER.map((name, at) => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          class="views-tab"
          aria-selected={name === view}
          aria-controls="view"
          tabIndex={name === view ? 0 : -1}
          onClick={() => showView(name)}
          onKeyDown={(event) => walk(event, at)}
        >
          {VIEW_ENTRIES[name].title}
        </button>
      ))}
    </div>
  );
}

/** Shows a view; where it breaks, it says so and the rest of the page goes on. */
function Shown({ View, view }: { readonly View: FunctionComponent<ViewProps>; readonly view: ViewName }) {
  const [error, again] = useErrorBoundary();
  const shown = network.value;
  if (error !== undefined)
    return (
      <div class="views-empty" role="alert">
        <p>
          <b>This view broke.</b> {sentenceOf(error instanceof Error ? error : { message: String(error) })} The others
          still work.
        </p>
        <button type="button" onClick={again}>
          Try again
        </button>
      </div>
    );
  if (shown === null) return <p class="views-empty soft">Reading the network...</p>;
  if (VIEW_ENTRIES[view].needsSchedule && made.value === null)
    return (
      <div class="views-empty">
        <p>
          {program.value === null
            ? "This view shows a schedule, and there is none yet."
            : `This view shows a schedule of ${shown.name || "the network"}, not ${program.value.name}; there is none yet.`}
        </p>
        <button type="button" class="primary" disabled={busy.value !== null} onClick={() => void synthesize()}>
          Synthesize
        </button>
      </div>
    );
  return <View network={shown} made={made.value as Made} />;
}

/** The views as tabs, the question that the chosen one answers, and the view. */
export function Views() {
  const { view } = words.value;
  const View = useCode(VIEW_ENTRIES[view].load, "This view");
  return (
    <div class="views">
      <div class="views-head">
        <Tabs />
        <p class="views-question">{VIEW_ENTRIES[view].question}</p>
      </div>
      <div class="views-panel" id="view" role="tabpanel" aria-labelledby={`tab-${view}`}>
        <h2 class="unseen">{VIEW_ENTRIES[view].title}</h2>
        {View === null && <p class="views-empty soft">Loading the view...</p>}
        {typeof View === "string" && (
          <p class="views-empty" role="alert">
            {View}
          </p>
        )}
        {View !== null && typeof View !== "string" && <Shown key={view} View={View} view={view} />}
      </div>
    </div>
  );
}
