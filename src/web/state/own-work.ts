import { batch, type Signal, signal } from "@preact/signals";
import type { Progress } from "../../request/progress.ts";
import type { Failure } from "../protocol.ts";
import { failureOf } from "./client.ts";

/** What a piece of work is lent. */
interface Lent {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  /** Whether nothing newer was begun, and it was not stopped. */
  readonly isLast: () => boolean;
}

/** Work of a view's own, one piece at a time; it goes on while other views are shown. */
export interface OwnWork {
  /** Null while nothing runs. */
  readonly running: Signal<{ readonly progress: Progress | null } | null>;
  readonly failure: Signal<Failure | null>;
  /** Stops what runs and begins other work; resolves when that has ended, whatever its end. */
  run(work: (lent: Lent) => Promise<void>): Promise<void>;
  stop(): void;
}

/** Returns a place for work of a view's own. */
export function ownWork(): OwnWork {
  let controller: AbortController | null = null;
  const running: OwnWork["running"] = signal(null);
  const failure: OwnWork["failure"] = signal(null);
  return {
    running,
    failure,
    async run(work) {
      controller?.abort();
      const own = new AbortController();
      controller = own;
      const isLast = (): boolean => controller === own;
      batch(() => {
        running.value = { progress: null };
        failure.value = null;
      });
      const onProgress = (progress: Progress): void => {
        if (isLast()) running.value = { progress };
      };
      try {
        await work({ signal: own.signal, onProgress, isLast });
      } catch (error) {
        const found = failureOf(error);
        if (isLast() && found.kind !== "cancelled") failure.value = found;
      } finally {
        if (isLast()) {
          controller = null;
          running.value = null;
        }
      }
    },
    stop() {
      controller?.abort();
      controller = null;
      running.value = null;
    },
  };
}
