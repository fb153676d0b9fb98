import { effect, type ReadonlySignal, type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { select } from "d3-selection";
import { type D3ZoomEvent, type ZoomBehavior, type ZoomTransform, zoom, zoomIdentity } from "d3-zoom";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { formatTime } from "../../../model/numbers/units.ts";
import { actOnKey } from "../../parts/keys.ts";
import { isPrinting } from "../../parts/printing.ts";
import { withMicro } from "../../parts/visible-texts.ts";
import "./gantt.css";
import { sliceAt } from "./gantt-rows.ts";
import { type Chart, GanttStage, namesWidth, RULER, type Sight } from "./gantt-stage.ts";

interface GanttProps {
  readonly chart: Chart;
  /** All of the axis. */
  readonly lastsPs: number;
  readonly time: ReadonlySignal<number>;
  readonly isPlaying: ReadonlySignal<boolean>;
  readonly label: string;
  /** Lines of the bubble at a slice of the rows. */
  readonly tell: (slice: number) => readonly string[];
  readonly onSeek: (ps: number) => void;
  readonly onChoose: (slice: number) => void;
}

/** The most that time is stretched: then a pixel is about this part of the whole. */
const MOST_ZOOM = 1e6;
/** All rows are printed, up to so many pixels of them. */
const MOST_PRINTED = 8000;
const KEY_ZOOM = 1.6;
const KEY_PAN = 0.15;

/** The schedule as bars in rows: zoomed in time (pinch, wheel with Ctrl, + and -), scrolled, with a cursor that is dragged. */
export function Gantt(props: GanttProps) {
  const { chart, lastsPs, time, isPlaying, label, tell, onSeek, onChoose } = props;
  const frame = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const size = useSignal({ width: 0, height: 0 });
  const tip = useSignal<TipProps["tip"] | null>(null);
  const top = useSignal(0);

  const left = namesWidth(chart.rows, size.value.width);
  const plot = Math.max(1, size.value.width - left);
  const zoomed = useTimeZoom(scroller, { left, plot }, lastsPs, () => {
    tip.value = null;
  });
  const inSight = zoomed.sight();
  useStage(frame, scroller, chart, size, { ...inSight, top: top.value });
  const cursor = useCursor({ left, plot }, time, isPlaying, zoomed);

  const timeAt = (clientX: number): number => {
    const { from, to } = zoomed.sight();
    const { left: edge } = (frame.current as HTMLDivElement).getBoundingClientRect();
    return from + ((clientX - edge - left) / plot) * (to - from);
  };
  const found = (event: MouseEvent): number => {
    const { top: edge } = (scroller.current as HTMLDivElement).getBoundingClientRect();
    const y = event.clientY - edge + (scroller.current as HTMLDivElement).scrollTop;
    const row = Math.floor(y / chart.rowHeight);
    if (row < 0 || row >= chart.rows.names.length || timeAt(event.clientX) < zoomed.sight().from) return -1;
    return sliceAt(chart.rows, row, timeAt(event.clientX), 1 - (y / chart.rowHeight - row));
  };
  const onPointerMove = (event: PointerEvent): void => {
    const slice = event.buttons === 0 ? found(event) : -1;
    const { left: edge, top: above } = (frame.current as HTMLDivElement).getBoundingClientRect();
    tip.value = slice < 0 ? null : { x: event.clientX - edge, y: event.clientY - above, lines: tell(slice) };
  };
  const zoomBy = (factor: number): void => zoomed.by(factor, time.value);
  const acts = {
    "+": () => zoomBy(KEY_ZOOM),
    "=": () => zoomBy(KEY_ZOOM),
    "-": () => zoomBy(1 / KEY_ZOOM),
    "0": zoomed.whole,
    ArrowLeft: () => zoomed.pan(KEY_PAN * plot),
    ArrowRight: () => zoomed.pan(-KEY_PAN * plot),
  };

  return (
    <div class="gantt" ref={frame}>
      <Ruler onScrub={(clientX) => onSeek(timeAt(clientX))} />
      <section
        class="gantt-scroll"
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        tabIndex={0}
        aria-label={`${label} Shown: ${formatTime(Math.max(0, inSight.from))} to ${formatTime(inSight.to)}. Plus and minus zoom, arrows move.`}
        onScroll={(event) => {
          top.value = event.currentTarget.scrollTop;
        }}
        onKeyDown={(event) => actOnKey(event, acts, { withAlt: true })}
        onPointerMove={onPointerMove}
        onPointerLeave={() => {
          tip.value = null;
        }}
        onClick={(event) => {
          const slice = found(event);
          if (slice >= 0) onChoose(slice);
        }}
      >
        <div style={{ height: `${chart.rows.names.length * chart.rowHeight}px` }}>
          <canvas class="gantt-rows" role="img" aria-label={label} />
        </div>
      </section>
      <div class="gantt-cursor" ref={cursor} style={{ "--ruler": `${RULER}px` }} aria-hidden="true">
        <span />
      </div>
      {tip.value !== null && <Tip tip={tip.value} isLeft={tip.value.x > size.value.width * 0.6} />}
      <ZoomButtons onZoom={zoomBy} onWhole={zoomed.whole} isWhole={zoomed.transform.value.k === 1} />
    </div>
  );
}

/** The ruler of time; a drag along it goes there. */
function Ruler({ onScrub }: { readonly onScrub: (clientX: number) => void }) {
  const scrub = (event: PointerEvent): void => {
    if (event.type === "pointerdown") (event.currentTarget as Element).setPointerCapture(event.pointerId);
    if (event.buttons === 1) onScrub(event.clientX);
  };
  return (
    <canvas class="gantt-ruler" onPointerDown={scrub} onPointerMove={scrub} role="img" aria-label="Ruler of time" />
  );
}

interface TipProps {
  readonly tip: { readonly x: number; readonly y: number; readonly lines: readonly string[] };
  readonly isLeft: boolean;
}

const Tip = ({ tip: { x, y, lines }, isLeft }: TipProps) => (
  <div class={`gantt-tip${isLeft ? " is-left" : ""}`} style={{ left: `${x}px`, top: `${y}px` }}>
    {lines.map((line) => (
      <div key={line}>{line}</div>
    ))}
  </div>
);

interface ZoomButtonsProps {
  readonly onZoom: (factor: number) => void;
  readonly onWhole: () => void;
  readonly isWhole: boolean;
}

const ZoomButtons = ({ onZoom, onWhole, isWhole }: ZoomButtonsProps) => (
  <div class="gantt-zoom">
    <button type="button" class="icon" onClick={() => onZoom(1 / KEY_ZOOM)} aria-label="Less of a zoom in time">
      -
    </button>
    <button type="button" class="icon" onClick={() => onZoom(KEY_ZOOM)} aria-label="Zoom in time">
      +
    </button>
    <button type="button" onClick={onWhole} disabled={isWhole}>
      All
    </button>
  </div>
);

type Box = RefObject<HTMLDivElement | null>;

/** Where the bars are in the chart, pixels: right of the names. */
interface Plot {
  readonly left: number;
  readonly plot: number;
}

/** Returns the zoom of the time axis, and what zooms and moves it; `moved` is called whenever it did. */
function useTimeZoom(scroller: Box, { left, plot }: Plot, lastsPs: number, moved: () => void) {
  const behaviour = useRef<ZoomBehavior<HTMLDivElement, unknown> | null>(null);
  const transform = useSignal<ZoomTransform>(zoomIdentity);
  // what is in sight stays so when the plot changes its width
  const shown = useRef({ from: 0, k: 1 });
  const view = () => select(scroller.current as HTMLDivElement);
  const sight = (): { from: number; to: number } => {
    const { k } = transform.value;
    const from = ((transform.value.invertX(left) - left) / plot) * lastsPs;
    return { from, to: from + lastsPs / k };
  };
  const by = (factor: number, time: number): void => {
    const { from, to } = sight();
    // an end that is in sight may lie a rounding outside of it
    const slack = (to - from) * 1e-6;
    const at = time >= from - slack && time <= to + slack ? ((time - from) / (to - from)) * plot : plot / 2;
    behaviour.current?.scaleBy(view(), factor, [left + at, 0]);
  };
  const pan = (pixels: number): void => behaviour.current?.translateBy(view(), pixels / transform.value.k, 0);
  const whole = (): void => behaviour.current?.transform(view(), zoomIdentity);

  useEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const { from, k } = shown.current;
    transform.value = zoomIdentity.translate(left - (left + from * plot) * k, 0).scale(k);
    view().property("__zoom", transform.value);
    let last = transform.value;
    const made = zoomOf({ left, plot }).on("zoom", (event: D3ZoomEvent<HTMLDivElement, unknown>) => {
      // a drag scrolls the rows too
      if (event.transform.k === last.k && event.sourceEvent !== null) element.scrollTop -= event.transform.y - last.y;
      last = event.transform;
      shown.current = { from: (last.invertX(left) - left) / plot, k: last.k };
      transform.value = last;
      moved();
    });
    behaviour.current = made;
    view().call(made).on("dblclick.zoom", null);
    const onWheel = (event: WheelEvent): void => {
      const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      if (!isSideways || event.ctrlKey || transform.value.k === 1) return;
      event.preventDefault();
      pan(-(event.deltaX || event.deltaY));
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => {
      element.removeEventListener("wheel", onWheel);
      select(element).on(".zoom", null);
    };
  }, [left, plot, transform]);
  // another schedule or network is looked at from its beginning
  useEffect(whole, [lastsPs]);
  return { transform, sight, by, pan, whole };
}

/** Returns a zoom along the plot: by wheel with Ctrl, pinch and drag. */
const zoomOf = ({ left, plot }: Plot): ZoomBehavior<HTMLDivElement, unknown> =>
  zoom<HTMLDivElement, unknown>()
    .scaleExtent([1, MOST_ZOOM])
    .extent([
      [left, 0],
      [left + plot, 1],
    ])
    .translateExtent([
      [left, Number.NEGATIVE_INFINITY],
      [left + plot, Number.POSITIVE_INFINITY],
    ])
    .filter((event: Event) =>
      event instanceof WheelEvent ? event.ctrlKey || event.metaKey || event.altKey : !(event as MouseEvent).button,
    );

/** Paints the chart on the canvases of the frame: as large as the scroller, what is in sight of it. */
function useStage(
  frame: Box,
  scroller: Box,
  chart: Chart,
  size: Signal<{ readonly width: number; readonly height: number }>,
  sight: Sight,
): void {
  const stage = useRef<GanttStage | null>(null);
  // with the page, not after it: paper has no later
  useLayoutEffect(() => {
    const [ruler, rows] = (frame.current as HTMLDivElement).querySelectorAll("canvas");
    const made = new GanttStage(rows, ruler);
    stage.current = made;
    const element = scroller.current as HTMLDivElement;
    const observer = new ResizeObserver(() => {
      size.value = { width: element.clientWidth, height: element.clientHeight };
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.end();
    };
  }, [frame, scroller, size]);
  useLayoutEffect(() => stage.current?.show(chart), [chart]);
  const whole = Math.min(MOST_PRINTED, chart.rows.names.length * chart.rowHeight);
  useLayoutEffect(
    () =>
      effect(() => {
        const { width, height } = size.value;
        if (width > 0) stage.current?.resize(width, isPrinting.value ? whole : height);
      }),
    [size, whole],
  );
  useEffect(() => stage.current?.look(sight));
}

/** Returns the line at the current time; while it plays it stays in sight. */
function useCursor(
  { left, plot }: Plot,
  time: ReadonlySignal<number>,
  isPlaying: ReadonlySignal<boolean>,
  { sight, pan }: ReturnType<typeof useTimeZoom>,
): Box {
  const cursor = useRef<HTMLDivElement>(null);
  const place = (): void => {
    const line = cursor.current as HTMLDivElement;
    const { from, to } = sight();
    const x = (time.value - from) / (to - from);
    line.style.transform = `translateX(${left + x * plot}px)`;
    line.hidden = x < 0 || x > 1;
    const label = line.firstElementChild as HTMLSpanElement;
    label.textContent = withMicro(formatTime(Math.round(time.value)));
    label.dataset["side"] = x > 0.5 ? "left" : "right";
  };
  useEffect(place);
  useSignalEffect(place);
  useSignalEffect(() => {
    const { from, to } = sight();
    if (isPlaying.value && (time.value > to || time.value < from))
      pan(-((time.value - from) / (to - from) - 0.1) * plot);
  });
  return cursor;
}
