import { textWidth, visible } from "../base/visible.ts";
import type { Progress } from "../request/progress.ts";

/** Shows how far the work is: one line that is written again on a terminal, else a plain line every few seconds. */
export interface ProgressDisplay {
  show(progress: Progress): void;
  /** Takes the line away, so that something else can be written. */
  erase(): void;
  /** Takes the line away for good. */
  close(): void;
}

/** Short runs show nothing. */
const FIRST_AFTER_MS = 400;
const REDRAW_MS = 100;
const LINE_EVERY_MS = 5000;

/** Returns "4.2 s", "3 min 20 s", "2 h 5 min". */
export function duration(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Of a share of the work that is smaller nothing can be said of the rest. */
const LEAST_FOR_ESTIMATE = 10;

/** Returns the line: what, how far, elapsed, rate, time left. `seconds` since this phase began. */
export function progressLine({ what, done, total, unit = "steps" }: Progress, seconds: number): string {
  const parts = [visible(what)];
  const isShare = unit === "%";
  if (done !== undefined && total !== undefined && total > 1)
    parts.push(isShare ? `${done} %` : visible(`${done} of ${total} ${unit}`));
  parts.push(duration(seconds));
  if (done !== undefined && total !== undefined && done > 0 && done < total && seconds > 0) {
    const rate = done / seconds;
    if (!isShare) parts.push(rate >= 1 ? `${Number(rate.toPrecision(3))}/s` : `${duration(1 / rate)} each`);
    if (!isShare || done >= LEAST_FOR_ESTIMATE) parts.push(`about ${duration((total - done) / rate)} left`);
  }
  return parts.join("  ");
}

/** Returns what of a line is no wider than this many columns. */
function cut(line: string, columns: number): string {
  let [end, width] = [0, 0];
  for (const character of line) {
    width += textWidth(character);
    if (width > columns) break;
    end += character.length;
  }
  return line.slice(0, end);
}

/** Returns the display on a stream. `now` in milliseconds; for tests. */
export function progressDisplay(
  stream: { write(text: string): unknown; readonly columns?: number },
  terminal: boolean,
  now: () => number = () => performance.now(),
): ProgressDisplay {
  const started = now();
  let current: Progress | null = null;
  let phaseStarted = started;
  let drawn = false;
  let lastLine = started;
  const draw = (): void => {
    if (current === null || now() - started < FIRST_AFTER_MS) return;
    const line = progressLine(current, (now() - phaseStarted) / 1000);
    if (terminal) {
      stream.write(`\r\u001b[2K${cut(line, (stream.columns || 80) - 1)}`);
      drawn = true;
    } else if (now() - lastLine >= LINE_EVERY_MS) {
      stream.write(`${line}\n`);
      lastLine = now();
    }
  };
  const timer = setInterval(draw, terminal ? REDRAW_MS : 500);
  timer.unref();
  const erase = (): void => {
    if (drawn) stream.write("\r\u001b[2K");
    drawn = false;
  };
  return {
    show(progress) {
      if (current === null || progress.what !== current.what) phaseStarted = now();
      current = progress;
    },
    erase,
    close() {
      clearInterval(timer);
      erase();
      current = null;
    },
  };
}
