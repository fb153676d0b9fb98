import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { formatSize, formatTime, PS_PER_US } from "../../../model/numbers/units.ts";
import { ChunkField } from "../../parts/chunk-field.tsx";
import { hasNoMessages, NoMessages } from "../../parts/no-messages.tsx";
import { useAnswer } from "../../parts/use-answer.ts";
import type { HopsView, NetworkView, TimelineView } from "../../protocol.ts";
import { type Made, type Selection, selection } from "../../state/store.ts";
import type { ViewProps } from "../view-props.ts";
import { ChartPanel } from "./chart-panel.tsx";
import { type ChunkPalette, chunkPalette } from "./chunk-colours.ts";
import { ChunkPanel } from "./chunk-panel.tsx";
import { endedAt, type Holdings, holdingsOf } from "./holdings.ts";
import { NpuPanel } from "./npu-panel.tsx";
import { TransfersTable } from "./transfers-table.tsx";
import { type Player, Transport } from "./transport.tsx";
import { useColours } from "./use-colours.ts";
import "./view.css";
import { NetworkCanvas } from "../network/network-canvas.tsx";
import { after, notBefore } from "./columns.ts";
import { advance, within } from "./playback.ts";
import { marksAt } from "./time-marks.ts";

/** The schedule in time: on the network, as a chart, and as tables. */
export function View({ made }: ViewProps) {
  return hasNoMessages(made) ? <NoMessages /> : <InTime made={made} />;
}

function InTime({ made }: { readonly made: Made }) {
  const timeline = useAnswer("timeline", made.schedule).value;
  const hops = useAnswer("hops", made.schedule).value;
  if (timeline.kind === "waiting" || hops.kind === "waiting")
    return (
      <p class="time-wait" role="status">
        Laying out the schedule in time ...
      </p>
    );
  if (timeline.kind === "failed" && hops.kind === "failed")
    return <Refused messages={[timeline.message, hops.message]} />;
  return (
    <Shown
      made={made}
      timeline={timeline.kind === "here" ? timeline.value : timeline.message}
      hops={hops.kind === "here" ? hops.value : hops.message}
    />
  );
}

const Refused = ({ messages }: { readonly messages: readonly string[] }) => (
  <div class="time-refused" role="note">
    {[...new Set(messages)].map((message) => (
      <p key={message}>{message}</p>
    ))}
  </div>
);

function underWayText(count: number, time: number, bytes: number): string {
  const at = formatTime(Math.round(time));
  if (count === 0) return `Nothing is under way at ${at}.`;
  const are = count === 1 ? "transfer is" : "transfers are";
  return `${count.toLocaleString("en")} ${are} under way at ${at}, of ${formatSize(Math.round(bytes))} each.`;
}

interface ShownProps {
  readonly made: Made;
  /** Or why they cannot be shown. */
  readonly timeline: TimelineView | string;
  readonly hops: HopsView | string;
}

function Shown({ made: { network, schedule }, timeline, hops }: ShownProps) {
  const root = useRef<HTMLDivElement>(null);
  const { isDark } = useColours().value;
  const chunk = useSignal<number | null>(null);
  const view = typeof hops === "string" ? null : hops;
  const chunkCount = view?.chunkCount ?? schedule.chunkCount;
  const world = useMemo(() => {
    if (view === null) return null;
    const holdings = holdingsOf(view, network.npuCount);
    return { holdings, fill: new Fill(holdings), underWay: new UnderWay(view) };
  }, [view, network]);
  const palette = useMemo(() => chunkPalette(chunkCount, isDark), [chunkCount, isDark]);
  const totalPs = view?.totalPs ?? (timeline as TimelineView).totalPs;
  const owns = useCallback(
    (target: EventTarget | null): boolean =>
      target instanceof Element &&
      (target === document.body || target.id === "tab-time" || root.current?.contains(target) === true),
    [],
  );
  const player = usePlayer(totalPs, world?.underWay ?? null, owns);
  const slow = player.slowTime.value;
  const active = useMemo(() => world?.underWay.at(slow) ?? [], [world, slow]);

  // chunks of another schedule are others
  useEffect(() => {
    chunk.value = null;
  }, [schedule, chunk]);
  const chosen = selection.value;
  const npu = chosen?.kind === "node" && chosen.node < network.npuCount ? chosen.node : null;
  const choose = (next: number): void => {
    chunk.value = next === chunk.value ? null : next;
  };
  const chooseNpu = (node: number): void => {
    selection.value = { kind: "node", node };
  };
  const boundPs = schedule.report.limit.us * PS_PER_US;

  return (
    <div class="time" ref={root}>
      {world === null ? (
        <Refused messages={[hops as string]} />
      ) : (
        <div class="time-top">
          <div class="time-picture">
            <Picture
              network={network}
              {...world}
              palette={palette}
              time={player.time}
              slowTime={player.slowTime}
              chunk={chunk.value}
              selection={chosen}
              onSelect={(next) => {
                selection.value = next;
              }}
            />
          </div>
          <aside class="time-side" aria-label="Who holds what">
            <div class="time-choice">
              <ChunkField key={schedule.ref.id} chunkCount={chunkCount} chosen={chunk} />
              <label>
                NPU
                <select
                  value={npu ?? ""}
                  onChange={({ currentTarget: { value } }) => {
                    selection.value = value === "" ? null : { kind: "node", node: Number(value) };
                  }}
                >
                  <option value="">none</option>
                  {network.nodeNames.slice(0, network.npuCount).map((name, node) => (
                    <option key={name} value={node}>
                      {name}
                    </option>
                  ))}
                </select>
              </label>
            </div>
            {chunk.value === null && npu === null && (
              <p class="soft">
                NPUs fill up with what they are to have in the end. Choose a chunk (a bar below, or its number) to see
                who holds it and how it came there; choose an NPU (in the network) to see what it holds, sends and
                receives.
              </p>
            )}
            {chunk.value !== null && (
              <ChunkPanel
                network={network}
                holdings={world.holdings}
                palette={palette}
                time={slow}
                chunk={chunk.value}
                onNpu={chooseNpu}
              />
            )}
            {npu !== null && (
              <NpuPanel
                network={network}
                holdings={world.holdings}
                palette={palette}
                active={active}
                time={slow}
                npu={npu}
                chunk={chunk.value}
                onChunk={choose}
                onNpu={chooseNpu}
              />
            )}
          </aside>
        </div>
      )}
      <Transport {...player} />
      {typeof timeline === "string" ? (
        <Refused messages={[timeline]} />
      ) : (
        <ChartPanel
          network={network}
          timeline={timeline}
          hops={view}
          chunkCount={chunkCount}
          player={player}
          boundPs={boundPs}
          isDark={isDark}
          chunk={chunk.value}
          npu={npu}
          onChoose={choose}
        />
      )}
      {world !== null && (
        <details class="time-table">
          <summary>Transfers under way as a table</summary>
          <TransfersTable
            network={network}
            holdings={world.holdings}
            palette={palette}
            hops={active}
            caption={underWayText(active.length, slow, world.holdings.hops.chunkBytes)}
            chunk={chunk.value}
            onChoose={choose}
          />
        </details>
      )}
    </div>
  );
}

interface Props {
  readonly network: NetworkView;
  readonly holdings: Holdings;
  readonly fill: Fill;
  readonly underWay: UnderWay;
  readonly palette: ChunkPalette;
  readonly time: ReadonlySignal<number>;
  readonly slowTime: ReadonlySignal<number>;
  readonly chunk: number | null;
  readonly selection: Selection | null;
  readonly onSelect: (selection: Selection | null) => void;
}

/** The network at the player's time; the only part that is drawn for every frame. */
function Picture(props: Props) {
  const { network, holdings, fill, underWay, palette, time, slowTime, chunk, selection, onSelect } = props;
  const now = time.value;
  const npu = selection?.kind === "node" && selection.node < network.npuCount ? selection.node : null;
  const active = underWay.at(now);
  const marks = marksAt({ network, holdings, palette, time: now, active, shares: fill.at(now), chunk, npu });
  return (
    <NetworkCanvas
      network={network}
      label={`The schedule on the network at ${formatTime(Math.round(slowTime.value))}; the tables below say the same.`}
      marks={marks}
      selection={selection}
      onSelect={onSelect}
      height="100%"
      hasLegend={false}
    />
  );
}

/** The share that each NPU holds of what it wants, at any time: a few states are kept, and hops played from the nearest. */
export class Fill {
  readonly #holdings: Holdings;
  readonly #stride: number;
  /** State after every `stride` hops. */
  readonly #kept: Float64Array[];
  readonly #state: Float64Array;
  #played = 0;

  /** O(hops); keeps about as many numbers as there are hops, or fewer. */
  constructor(holdings: Holdings) {
    this.#holdings = holdings;
    this.#stride = Math.max(4096, holdings.npuCount);
    this.#state = holdings.atStart.slice();
    this.#kept = [this.#state.slice()];
    const count = holdings.gain.length;
    while (this.#played + this.#stride <= count) {
      this.#play(this.#played + this.#stride);
      this.#kept.push(this.#state.slice());
    }
  }

  #play(until: number): void {
    const { hops, gain } = this.#holdings;
    for (; this.#played < until; this.#played++) this.#state[hops.target[this.#played]] += gain[this.#played];
  }

  /** Returns the shares [npus] at a time, 0 .. 1; the array is used again. O(log hops + hops between two kept states). */
  at(time: number): Float64Array {
    const ended = endedAt(this.#holdings, time);
    if (ended < this.#played || ended - this.#played > this.#stride) {
      const nearest = Math.floor(ended / this.#stride);
      this.#state.set(this.#kept[nearest]);
      this.#played = nearest * this.#stride;
    }
    this.#play(ended);
    return this.#state;
  }
}

/** What is told in words follows the player at most so often (ms). */
const WORDS_MS = 250;

interface Playing extends Player {
  readonly time: Signal<number>;
  /** The same time for tables and sentences: it stands still in between while the schedule plays. */
  readonly slowTime: ReadonlySignal<number>;
}

/** Returns a player of a schedule, at its start; space, comma, full stop, Home and End work where `owns` says so. */
function usePlayer(totalPs: number, underWay: UnderWay | null, owns: (target: EventTarget | null) => boolean): Playing {
  const time = useSignal(0);
  const slowTime = useSignal(0);
  const isPlaying = useSignal(false);
  const speed = useSignal(1);
  const loops = useSignal(false);

  const player = useMemo<Playing>(() => {
    let waiting: ReturnType<typeof setTimeout> | undefined;
    let toldAt = Number.NEGATIVE_INFINITY;
    // at once, and then at intervals while the slider is dragged
    const tellSoon = (): void => {
      if (waiting !== undefined) return;
      const tell = (): void => {
        waiting = undefined;
        toldAt = performance.now();
        slowTime.value = time.value;
      };
      const wait = toldAt + WORDS_MS - performance.now();
      if (wait <= 0) tell();
      else waiting = setTimeout(tell, wait);
    };
    const seek = (ps: number): void => {
      time.value = within(ps, totalPs);
      tellSoon();
    };
    return {
      time,
      slowTime,
      isPlaying,
      speed,
      loops,
      totalPs,
      seek,
      toggle() {
        if (!isPlaying.value && time.value >= totalPs) seek(0);
        isPlaying.value = !isPlaying.value;
        slowTime.value = time.value;
      },
      step(direction) {
        isPlaying.value = false;
        const next = direction > 0 ? underWay?.next(time.value) : underWay?.previous(time.value);
        seek(next ?? (direction > 0 ? totalPs : 0));
      },
    };
  }, [totalPs, underWay, time, slowTime, isPlaying, speed, loops]);

  // another schedule begins at its start
  useEffect(() => {
    isPlaying.value = false;
    player.seek(0);
  }, [player, isPlaying]);

  const plays = isPlaying.value;
  useEffect(() => {
    if (!plays) return;
    let frame = 0;
    let last = performance.now();
    let told = last;
    const tick = (now: number): void => {
      const { timePs, done } = advance(time.value, now - last, totalPs, speed.value, loops.value);
      last = now;
      time.value = timePs;
      if (done || now - told >= WORDS_MS) {
        told = now;
        slowTime.value = timePs;
      }
      if (done) isPlaying.value = false;
      else frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [plays, totalPs, time, slowTime, speed, loops, isPlaying]);

  useEffect(() => {
    const acts: Readonly<Record<string, () => void>> = {
      " ": player.toggle,
      ",": () => player.step(-1),
      ".": () => player.step(1),
      Home: () => player.seek(0),
      End: () => player.seek(totalPs),
    };
    const onKeyDown = (event: KeyboardEvent): void => {
      const act = acts[event.key];
      if (act === undefined || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (!owns(event.target) || !isPlayersKey(event.key, event.target as Element)) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [player, totalPs, owns]);
  return player;
}

/**
 * Returns whether a key that is pressed on an element is the player's: fields for text keep all keys, lists all but those that
 * step, and what Space presses keeps Space.
 */
function isPlayersKey(key: string, target: Element): boolean {
  if (target.closest("textarea, input:not([type='range'], [type='checkbox'])") !== null) return false;
  if (target.closest("select") !== null) return key === "," || key === ".";
  return key !== " " || target.closest("button, summary, a, [type='checkbox']") === null;
}

/** Which hops are under way at a time, and when the next one starts or ends. */
export class UnderWay {
  readonly #hops: HopsView;
  /** [hops] the earliest start of this hop and all that end later. */
  readonly #earliest: Float64Array;
  /** All starts, ascending. */
  readonly #starts: Float64Array;
  /** The last answer, which holds until the next hop starts or ends. */
  #last = { from: 0, until: 0, found: [] as readonly number[] };

  /** O(hops log hops). */
  constructor(hops: HopsView) {
    this.#hops = hops;
    this.#starts = hops.startPs.slice().sort();
    this.#earliest = hops.startPs.slice();
    for (let hop = this.#earliest.length - 2; hop >= 0; hop--) {
      this.#earliest[hop] = Math.min(this.#earliest[hop], this.#earliest[hop + 1]);
    }
  }

  /**
   * Returns the hops with start <= time < end, in the order of their ends: the same list while none starts or ends. Looks at no
   * hop beyond the last of them.
   */
  at(time: number): readonly number[] {
    if (time < this.#last.from || time >= this.#last.until)
      this.#last = { from: time, until: this.next(time) ?? Number.POSITIVE_INFINITY, found: this.#found(time) };
    return this.#last.found;
  }

  #found(time: number): number[] {
    const { startPs, endPs } = this.#hops;
    const found: number[] = [];
    for (let hop = after(endPs, time); hop < endPs.length && this.#earliest[hop] <= time; hop++) {
      if (startPs[hop] <= time) found.push(hop);
    }
    return found;
  }

  /** Returns the next time after `time` at which a hop starts or ends; null after the last. O(log hops). */
  next(time: number): number | null {
    const { endPs } = this.#hops;
    const start = after(this.#starts, time);
    const end = after(endPs, time);
    if (end === endPs.length) return null;
    return start < this.#starts.length ? Math.min(this.#starts[start], endPs[end]) : endPs[end];
  }

  /** Returns the last time before `time` at which a hop starts or ends; null before the first. O(log hops). */
  previous(time: number): number | null {
    const { endPs } = this.#hops;
    const start = notBefore(this.#starts, time) - 1;
    const end = notBefore(endPs, time) - 1;
    if (start < 0) return null;
    return end >= 0 ? Math.max(this.#starts[start], endPs[end]) : this.#starts[start];
  }
}
