import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { movesLess } from "../../parts/media.ts";
import { beginsAtOnce } from "../../state/store.ts";
import { advance, within } from "./clock.ts";
import type { UnderWay } from "./holdings.ts";

/** What is described in words follows the player at most so often (ms). */
const WORDS_MS = 250;

/** What goes into the player, and what it reports. */
export interface Player {
  readonly time: ReadonlySignal<number>;
  readonly totalPs: number;
  readonly isPlaying: ReadonlySignal<boolean>;
  readonly speed: Signal<number>;
  readonly loops: Signal<boolean>;
  readonly seek: (ps: number) => void;
  readonly toggle: () => void;
  /** To the next (1) or previous (-1) start or end of a transfer. */
  readonly step: (direction: 1 | -1) => void;
}

export interface Playing extends Player {
  readonly time: Signal<number>;
  readonly isPlaying: Signal<boolean>;
  /** The same time for tables and sentences: it stands still in between while the schedule plays. */
  readonly slowTime: Signal<number>;
}

/** Returns a player of a schedule, at its start; space, comma, full stop, Home and End work where `owns` says so. */
export function usePlayer(
  totalPs: number,
  underWay: UnderWay | null,
  owns: (target: EventTarget | null) => boolean,
): Playing {
  const time = useSignal(0);
  const slowTime = useSignal(0);
  const isPlaying = useSignal(false);
  const speed = useSignal(1);
  const loops = useSignal(false);
  const player = useMemo<Playing>(() => {
    const tellSoon = atIntervals(() => {
      slowTime.value = time.value;
    });
    const seek = (ps: number): void => {
      time.value = within(ps, totalPs);
      tellSoon();
    };
    return {
      ...{ time, slowTime, isPlaying, speed, loops, totalPs, seek },
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
  // another schedule begins at its start, and an example by itself
  useEffect(() => {
    player.seek(0);
    isPlaying.value = beginsAtOnce.value && !movesLess.value;
    beginsAtOnce.value = false;
  }, [player, isPlaying]);
  useClock(player);
  useKeys(player, owns);
  return player;
}

/** Returns what tells something at once, and then at intervals however often it is called. */
function atIntervals(tell: () => void): () => void {
  let waiting: ReturnType<typeof setTimeout> | undefined;
  let toldAt = Number.NEGATIVE_INFINITY;
  const now = (): void => {
    waiting = undefined;
    toldAt = performance.now();
    tell();
  };
  return () => {
    if (waiting !== undefined) return;
    const wait = toldAt + WORDS_MS - performance.now();
    if (wait <= 0) now();
    else waiting = setTimeout(now, wait);
  };
}

/** Moves the time while the schedule plays. */
function useClock({ time, slowTime, isPlaying, speed, loops, totalPs }: Playing): void {
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
}

function useKeys(player: Playing, owns: (target: EventTarget | null) => boolean): void {
  useEffect(() => {
    const acts: Readonly<Record<string, () => void>> = {
      " ": player.toggle,
      ",": () => player.step(-1),
      ".": () => player.step(1),
      Home: () => player.seek(0),
      End: () => player.seek(player.totalPs),
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
  }, [player, owns]);
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
