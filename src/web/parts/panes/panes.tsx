import { useSignal } from "@preact/signals";
import { type ComponentChildren, Fragment } from "preact";
import { useCallback, useId, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../icon.tsx";
import { keep, kept } from "../kept.ts";
import { actOnKey } from "../keys.ts";
import { useEscape } from "../use-escape.ts";
import {
  type Axis,
  foldedAt,
  maximisedAt,
  type PaneRoom,
  type PaneState,
  readPanes,
  shareOf,
  splitAfter,
  splitAt,
  splitOf,
  writePanes,
} from "./layout.ts";
import "./panes.css";

export interface Pane extends PaneRoom {
  readonly title: string;
  readonly content: ComponentChildren;
}

/** Panes by column, from left to right and from top to bottom. */
type Columns = readonly (readonly string[])[];

interface PanesProps {
  /** What is done to them is kept under this name. */
  readonly name: string;
  /** In the order in which a narrow page has them below each other. */
  readonly panes: readonly Pane[];
  /** How they stand beside each other, and how on a wide page. */
  readonly columns: Columns;
  readonly wideColumns?: Columns;
}

/** From so many pixels on panes stand beside each other, and as on a wide page. */
const BESIDE = 620;
const WIDE = 1400;
/** Pixels that a pane keeps, however far its neighbour is drawn. */
const LEAST: Readonly<Record<Axis, number>> = { wide: 200, tall: 90 };

/** Panes with lines between them that are dragged or moved by keys; each can be folded, and can fill the whole window. */
export function Panes({ name, panes, columns, wideColumns = columns }: PanesProps) {
  const root = useRef<HTMLDivElement>(null);
  const width = useWidth(root);
  const state = useSignal<PaneState>(readPanes(kept(keptAs(name)), panes));
  const change = (next: PaneState): void => {
    state.value = next;
    keep(keptAs(name), writePanes(next));
  };
  const now = state.value;
  const isStacked = width < BESIDE;
  const shown = isStacked ? panes.map((pane) => [pane.name]) : width < WIDE ? columns : wideColumns;
  const { maximised } = now;
  const leave = useCallback(() => {
    state.value = maximisedAt(state.value, null);
    keep(keptAs(name), writePanes(state.value));
  }, [state, name]);
  useEscape(maximised !== null, leave);
  const paneOf = (which: string): Pane => panes.find((pane) => pane.name === which) as Pane;
  const isFolded = (which: string): boolean => now.folded.includes(which);
  const isFull = maximised !== null;
  const line = (axis: Axis, one: Pane, other: Pane) => (
    <Line axis={axis} panes={[one, other]} state={now} onChange={change} />
  );
  return (
    <div class="panes" ref={root} data-layout={isFull ? "full" : isStacked ? "stacked" : "beside"}>
      {shown.map((column, at) => {
        const isThin = column.every(isFolded);
        const before = shown[at - 1];
        const hasLine = !isStacked && !isFull && before !== undefined && !isThin && !before.every(isFolded);
        return (
          <Fragment key={column[0]}>
            {hasLine && line("wide", paneOf(before[0]), paneOf(column[0]))}
            <div
              class="panes-column"
              data-thin={isThin && !isStacked}
              hidden={isFull && !column.includes(maximised)}
              style={isThin || isStacked ? undefined : { flexGrow: shareOf(now, "wide", paneOf(column[0])) }}
            >
              {column.map((which, row) => {
                const above = column[row - 1];
                const isHeld = isFolded(which);
                const parted = !isFull && above !== undefined && !isHeld && !isFolded(above);
                return (
                  <Fragment key={which}>
                    {parted && line("tall", paneOf(above), paneOf(which))}
                    <One pane={paneOf(which)} state={now} onChange={change} />
                  </Fragment>
                );
              })}
            </div>
          </Fragment>
        );
      })}
    </div>
  );
}

const keptAs = (name: string): string => `panes.${name}`;

/** Returns how wide an element is, as it changes. */
function useWidth(root: { readonly current: HTMLDivElement | null }): number {
  const width = useSignal(Number.POSITIVE_INFINITY);
  useLayoutEffect(() => {
    const element = root.current as HTMLDivElement;
    const measure = (): void => {
      if (element.clientWidth > 0) width.value = element.clientWidth;
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [root, width]);
  return width.value;
}

interface OneProps {
  readonly pane: Pane;
  readonly state: PaneState;
  readonly onChange: (state: PaneState) => void;
}

/** A pane: its title, what folds it and what lets it fill all, and what it holds. */
function One({ pane, state, onChange }: OneProps) {
  const id = useId();
  const { name, title, content } = pane;
  const isFolded = state.folded.includes(name);
  const isMaximised = state.maximised === name;
  const fold = isFolded ? "Unfold it" : "Fold it away: the others have its room";
  const maximise = isMaximised ? "Back beside the others (Esc)" : "The whole window for it (Esc leaves it)";
  return (
    <section
      class={`pane pane-${name}`}
      aria-labelledby={id}
      data-folded={isFolded}
      hidden={state.maximised !== null && !isMaximised}
      style={isFolded ? undefined : { flexGrow: shareOf(state, "tall", pane) }}
    >
      <div class="pane-head">
        <h3 id={id}>{title}</h3>
        <button
          type="button"
          class="icon quiet"
          aria-label={`Fold ${title}`}
          title={fold}
          aria-pressed={isFolded}
          onClick={() => onChange(foldedAt(state, name, !isFolded))}
        >
          <Icon name={isFolded ? "down" : "up"} />
        </button>
        <button
          type="button"
          class="icon quiet"
          aria-label={`Maximise ${title}`}
          title={maximise}
          aria-pressed={isMaximised}
          onClick={() => onChange(maximisedAt(state, isMaximised ? null : name))}
        >
          <Icon name={isMaximised ? "smaller" : "larger"} />
        </button>
      </div>
      <div class="pane-body" hidden={isFolded}>
        {content}
      </div>
    </section>
  );
}

interface LineProps {
  readonly axis: Axis;
  readonly panes: readonly [Pane, Pane];
  readonly state: PaneState;
  readonly onChange: (state: PaneState) => void;
}

/** The line between two panes: dragged, or moved by arrows, Home and End; a double click puts it where it was at first. */
function Line({ axis, panes, state, onChange }: LineProps) {
  const line = useRef<HTMLHRElement>(null);
  const room = useSignal(0);
  const [one, other] = panes;
  const isUpright = axis === "wide";
  /** Where the panes beside it begin, and how much room they have together. */
  const span = (): readonly [from: number, pixels: number] => {
    const { previousElementSibling: first, nextElementSibling: last } = line.current as HTMLHRElement;
    const [a, b] = [first as Element, last as Element].map((side) => side.getBoundingClientRect());
    return isUpright ? [a.left, b.right - a.left] : [a.top, b.bottom - a.top];
  };
  useLayoutEffect(() => {
    room.value = span()[1];
  });
  const split = splitOf(shareOf(state, axis, one), shareOf(state, axis, other), room.value, LEAST[axis]);
  const move = (to: number): void => onChange(splitAt(state, axis, panes, to));
  const drag = (event: PointerEvent): void => {
    if (!line.current?.hasPointerCapture(event.pointerId)) return;
    const [from, pixels] = span();
    const to = (100 * ((isUpright ? event.clientX : event.clientY) - from)) / pixels;
    move(Math.max(split.least, Math.min(split.most, to)));
  };
  const restore = (): void => {
    const mine = panes.map(({ name }) => `${axis} ${name}`);
    const shares = Object.entries(state.shares).filter(([key]) => !mine.includes(key));
    onChange({ ...state, shares: Object.fromEntries(shares) });
  };
  return (
    <hr
      ref={line}
      class="panes-line"
      tabIndex={0}
      aria-label={`Between ${one.title} and ${other.title}`}
      aria-orientation={isUpright ? "vertical" : "horizontal"}
      aria-valuenow={split.now}
      aria-valuemin={split.least}
      aria-valuemax={split.most}
      aria-valuetext={`${one.title} has ${split.now} %`}
      onKeyDown={(event) => {
        const to = splitAfter(event.key, split);
        if (to !== null) actOnKey(event, { [event.key]: () => move(to) });
      }}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        line.current?.focus();
        line.current?.setPointerCapture(event.pointerId);
      }}
      onPointerMove={drag}
      onDblClick={restore}
    />
  );
}
