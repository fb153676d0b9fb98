import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { formatTime } from "../../../model/numbers/units.ts";
import { grouped } from "../../../report/amounts.ts";
import { groupText } from "../../../report/training.ts";
import { colours } from "../../parts/colours.ts";
import { actOnKey } from "../../parts/keys.ts";
import type { StepTimeline } from "../../protocol.ts";
import { Gantt } from "../time/gantt.tsx";
import { type Chart, pixelOf } from "../time/gantt-stage.ts";
import { type FoundTimeline, whyNone } from "./asking.ts";
import { barsOf, coloursOf, nextStart, slicesAt, told } from "./rows.ts";
import { Sideways } from "./sideways.tsx";

/** So much of a colour is left where a communication is hidden behind computations. */
const HIDDEN = 0.34;
const ROW_HEIGHT = 22;
const MOST_HEIGHT = 460;

/** Returns a pixel between two. */
function mixed(one: number, other: number, share: number): number {
  let pixel = 0xff000000;
  for (const shift of [0, 8, 16]) {
    const [a, b] = [(one >>> shift) & 255, (other >>> shift) & 255];
    pixel |= Math.round(a * share + b * (1 - share)) << shift;
  }
  return pixel >>> 0;
}

interface StepInTimeProps {
  /** Finds the timeline; another one finds another, and the last stays until it is there, so that nothing moves. */
  readonly find: (signal: AbortSignal) => Promise<FoundTimeline>;
  /** Of which step it is, in words that end a sentence. */
  readonly of: string;
  /** Returns the colour of a kind of slices, a CSS variable. */
  readonly colourOf: (kind: string) => string;
}

/** The step in time: a row for the computations of each stage and for each of its kinds of communication. */
export function StepInTime({ find, of, colourOf }: StepInTimeProps) {
  const found = useSignal<FoundTimeline | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    const tell = (now: FoundTimeline): void => {
      if (!controller.signal.aborted) found.value = now;
    };
    find(controller.signal).then(tell, (error) => tell(whyNone(error)));
    return () => controller.abort();
  }, [find, found]);
  const timeline = found.value;
  return (
    <section class="step-block" aria-label="The step in time">
      <h3>The step in time</h3>
      {timeline === null && <p class="soft">The timeline is on its way.</p>}
      {typeof timeline === "string" && <p class="soft">{timeline}</p>}
      {timeline !== null && typeof timeline === "object" && (
        <Timeline timeline={timeline} of={of} colourOf={colourOf} />
      )}
    </section>
  );
}

interface TimelineProps extends Pick<StepInTimeProps, "of" | "colourOf"> {
  readonly timeline: StepTimeline;
}

function Timeline({ timeline, of, colourOf }: TimelineProps) {
  const time = useSignal(0);
  /** The chart follows the cursor. */
  const follows = useSignal(false);
  const palette = colours.value;
  const bars = useMemo(() => barsOf(timeline), [timeline]);
  const colour = useMemo(() => coloursOf(timeline), [timeline]);
  const chart = useMemo((): Chart => {
    const ground = pixelOf(palette("--sunk"));
    const own = timeline.kinds.map((kind) => pixelOf(palette(colourOf(kind))));
    const pixel = Uint32Array.from([ground, ...own.flatMap((one) => [mixed(one, ground, HIDDEN), one])]);
    return { rows: bars, rowHeight: ROW_HEIGHT, colour, pixel, lines: [] };
  }, [timeline, bars, colour, palette, colourOf]);
  const seek = (ps: number): void => {
    time.value = Math.max(0, Math.min(timeline.totalPs, ps));
  };
  const go = (direction: 1 | -1): void => {
    follows.value = true;
    seek(nextStart(bars, time.value, direction) ?? time.value);
    follows.value = false;
  };
  const label = `${timeline.rows.length} rows, ${grouped(timeline.row.length)} bars over ${formatTime(timeline.totalPs)}, ${of}.`;
  const groups = timeline.kinds.slice(2);
  const hasBubble = timeline.kind.includes(timeline.kinds.indexOf("bubble"));
  return (
    <>
      <ul class="step-key">
        <li>
          <i style={{ backgroundColor: `var(${colourOf("compute")})` }} />
          computes
        </li>
        {groups.map((group) => (
          <li key={group}>
            <i style={{ backgroundColor: `var(${colourOf(group)})` }} />
            {groupText(group)}
          </li>
        ))}
        {hasBubble && (
          <li>
            <i data-bubble style={{ backgroundColor: "var(--step-bubble)" }} />
            bubble
          </li>
        )}
        <li class="soft">Pale: hidden behind computations. Half high: computations wait for what has that colour.</li>
      </ul>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys of the chart within, which has the focus */}
      <div
        style={{ "--gantt-height": `${Math.min(MOST_HEIGHT, timeline.rows.length * ROW_HEIGHT)}px` }}
        onKeyDown={(event) => actOnKey(event, { ".": () => go(1), ",": () => go(-1) })}
      >
        <Gantt
          chart={chart}
          lastsPs={Math.max(1, timeline.totalPs)}
          time={time}
          isPlaying={follows}
          label={label}
          tell={(slice) => told(timeline, slice)}
          onSeek={seek}
          onChoose={(slice) => seek(timeline.startPs[slice])}
        />
      </div>
      <AtTime timeline={timeline} slices={slicesAt(bars, time.value)} ps={time.value} />
    </>
  );
}

interface AtTimeProps {
  readonly timeline: StepTimeline;
  /** [rows] slices at the time; -1: none */
  readonly slices: readonly number[];
  readonly ps: number;
}

/** What every row does at the time of the cursor. */
const AtTime = ({ timeline, slices, ps }: AtTimeProps) => (
  <details class="step-at">
    <summary>
      What runs at {formatTime(ps)} <span class="soft">(a click in the chart, comma and full stop go on)</span>
    </summary>
    <Sideways label="What every row does">
      <table class="step-table step-told">
        <caption class="unseen">What every row does at {formatTime(ps)}</caption>
        <tbody>
          {timeline.rows.map((name, row) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{slices[row] < 0 ? "nothing" : told(timeline, slices[row]).join("; ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Sideways>
  </details>
);
