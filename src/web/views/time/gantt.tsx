import { type ReadonlySignal, useSignal, useSignalEffect } from "@preact/signals";
import { select } from "d3-selection";
import { type D3ZoomEvent, type ZoomTransform, zoom, zoomIdentity } from "d3-zoom";
import { useEffect, useRef } from "preact/hooks";
import { formatTime } from "../../../model/numbers/units.ts";
import "./gantt.css";
import { sliceAt } from "./gantt-rows.ts";
import { type Chart, GanttStage, namesWidth, RULER } from "./gantt-stage.ts";

export interface GanttProps {
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

interface Tip {
  readonly x: number;
  readonly y: number;
  readonly lines: readonly string[];
}

/** The most that time is stretched: then a pixel is about this part of the whole. */
const MOST_ZOOM = 1e6;
const KEY_ZOOM = 1.6;
const KEY_PAN = 0.15;

/** The schedule as bars in rows: zoomed in time (pinch, wheel with Ctrl, + and -), scrolled, with a cursor that is dragged. */
export function Gantt({ chart, lastsPs, time, isPlaying, label, tell, onSeek, onChoose }: GanttProps) {
  const frame = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const ruler = useRef<HTMLCanvasElement>(null);
  const cursor = useRef<HTMLDivElement>(null);
  const stage = useRef<GanttStage | null>(null);
  const behaviour = useRef<ReturnType<typeof zoom<HTMLDivElement, unknown>> | null>(null);
  const transform = useSignal<ZoomTransform>(zoomIdentity);
  const size = useSignal({ width: 0, height: 0 });
  const tip = useSignal<Tip | null>(null);
  const top = useSignal(0);

  const left = namesWidth(chart.rows, size.value.width);
  const plot = Math.max(1, size.value.width - left);
  const sight = (): { from: number; to: number } => {
    const { k } = transform.value;
    const from = ((transform.value.invertX(left) - left) / plot) * lastsPs;
    return { from, to: from + lastsPs / k };
  };
  const timeAt = (clientX: number): number => {
    const { from, to } = sight();
    const { left: edge } = (frame.current as HTMLDivElement).getBoundingClientRect();
    return from + ((clientX - edge - left) / plot) * (to - from);
  };
  const zoomBy = (factor: number): void => {
    const { from, to } = sight();
    const at = time.value >= from && time.value <= to ? ((time.value - from) / (to - from)) * plot : plot / 2;
    const view = select(scroller.current as HTMLDivElement);
    behaviour.current?.scaleBy(view, factor, [left + at, 0]);
  };
  const panBy = (pixels: number): void => {
    behaviour.current?.translateBy(select(scroller.current as HTMLDivElement), pixels / transform.value.k, 0);
  };
  const whole = (): void => {
    behaviour.current?.transform(select(scroller.current as HTMLDivElement), zoomIdentity);
  };

  useEffect(() => {
    const made = new GanttStage(canvas.current as HTMLCanvasElement, ruler.current as HTMLCanvasElement);
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
  }, [size]);

  // what is in sight stays so when the plot changes its width
  const shown = useRef({ from: 0, k: 1 });
  useEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const { from, k } = shown.current;
    transform.value = zoomIdentity.translate(left - (left + from * plot) * k, 0).scale(k);
    select(element).property("__zoom", transform.value);
    let last = transform.value;
    const made = zoom<HTMLDivElement, unknown>()
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
      )
      .on("zoom", (event: D3ZoomEvent<HTMLDivElement, unknown>) => {
        // a drag scrolls the rows too
        if (event.transform.k === last.k && event.sourceEvent !== null) element.scrollTop -= event.transform.y - last.y;
        last = event.transform;
        shown.current = { from: (last.invertX(left) - left) / plot, k: last.k };
        transform.value = last;
        tip.value = null;
      });
    behaviour.current = made;
    select(element).call(made).on("dblclick.zoom", null);
    const onWheel = (event: WheelEvent): void => {
      const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      if (!isSideways || event.ctrlKey || transform.value.k === 1) return;
      event.preventDefault();
      panBy(-(event.deltaX || event.deltaY));
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => {
      element.removeEventListener("wheel", onWheel);
      select(element).on(".zoom", null);
    };
  }, [left, plot, transform, tip]);

  // another schedule or network is looked at from its beginning
  useEffect(whole, [lastsPs]);
  useEffect(() => stage.current?.show(chart), [chart]);
  useSignalEffect(() => {
    const { width, height } = size.value;
    if (width > 0) stage.current?.resize(width, height);
  });
  const scrolled = top.value;
  const inSight = sight();
  useEffect(() => stage.current?.look({ ...inSight, top: scrolled }));
  const placeCursor = (): void => {
    const line = cursor.current as HTMLDivElement;
    const { from, to } = sight();
    const x = (time.value - from) / (to - from);
    line.style.transform = `translateX(${left + x * plot}px)`;
    line.hidden = x < 0 || x > 1;
  };
  useEffect(placeCursor);
  useSignalEffect(placeCursor);
  // while it plays the cursor stays in sight
  useSignalEffect(() => {
    const { from, to } = sight();
    if (isPlaying.value && (time.value > to || time.value < from))
      panBy(-((time.value - from) / (to - from) - 0.1) * plot);
  });

  const found = (event: MouseEvent): number => {
    const { top: edge } = (scroller.current as HTMLDivElement).getBoundingClientRect();
    const y = event.clientY - edge + (scroller.current as HTMLDivElement).scrollTop;
    const row = Math.floor(y / chart.rowHeight);
    if (row < 0 || row >= chart.rows.names.length || timeAt(event.clientX) < sight().from) return -1;
    return sliceAt(chart.rows, row, timeAt(event.clientX), 1 - (y / chart.rowHeight - row));
  };
  const onPointerMove = (event: PointerEvent): void => {
    const slice = event.buttons === 0 ? found(event) : -1;
    const { left: edge, top: above } = (frame.current as HTMLDivElement).getBoundingClientRect();
    tip.value = slice < 0 ? null : { x: event.clientX - edge, y: event.clientY - above, lines: tell(slice) };
  };
  const scrub = (event: PointerEvent): void => {
    if (event.type === "pointerdown") (event.currentTarget as Element).setPointerCapture(event.pointerId);
    if (event.buttons === 1) onSeek(timeAt(event.clientX));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const acts: Record<string, () => void> = {
      "+": () => zoomBy(KEY_ZOOM),
      "=": () => zoomBy(KEY_ZOOM),
      "-": () => zoomBy(1 / KEY_ZOOM),
      "0": whole,
      ArrowLeft: () => panBy(KEY_PAN * plot),
      ArrowRight: () => panBy(-KEY_PAN * plot),
    };
    const act = acts[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  return (
    <div class="gantt" ref={frame}>
      <canvas
        class="gantt-ruler"
        ref={ruler}
        onPointerDown={scrub}
        onPointerMove={scrub}
        role="img"
        aria-label="Ruler of time"
      />
      <section
        class="gantt-scroll"
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        tabIndex={0}
        aria-label={`${label} Shown: ${formatTime(Math.max(0, inSight.from))} to ${formatTime(inSight.to)}. Plus and minus zoom, arrows move.`}
        onScroll={(event) => {
          top.value = event.currentTarget.scrollTop;
        }}
        onKeyDown={onKeyDown}
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
          <canvas class="gantt-rows" ref={canvas} role="img" aria-label={label} />
        </div>
      </section>
      <div class="gantt-cursor" ref={cursor} style={{ "--ruler": `${RULER}px` }} aria-hidden="true" />
      {tip.value !== null && (
        <div
          class={`gantt-tip${tip.value.x > size.value.width * 0.6 ? " is-left" : ""}`}
          style={{ left: `${tip.value.x}px`, top: `${tip.value.y}px` }}
        >
          {tip.value.lines.map((line) => (
            <div key={line}>{line}</div>
          ))}
        </div>
      )}
      <div class="gantt-zoom">
        <button type="button" class="icon" onClick={() => zoomBy(1 / KEY_ZOOM)} aria-label="Less of a zoom in time">
          -
        </button>
        <button type="button" class="icon" onClick={() => zoomBy(KEY_ZOOM)} aria-label="Zoom in time">
          +
        </button>
        <button type="button" onClick={whole} disabled={transform.value.k === 1}>
          All
        </button>
      </div>
    </div>
  );
}
