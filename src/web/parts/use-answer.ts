import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Answer, Refusal, ScheduleView } from "../protocol.ts";
import { ask, failureOf } from "../state/client.ts";

/** Requests about a schedule as it is. */
type AboutSchedule = "loads" | "trees" | "timeline" | "hops";

type Waiting<Value> =
  | { readonly kind: "waiting" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "here"; readonly value: Value };

const WAITING = { kind: "waiting" } as const;

/** Answers by schedule, so that a view that is shown again need not ask again. */
const known = new WeakMap<ScheduleView, Map<AboutSchedule, unknown>>();

/**
 * Returns what the worker answers about a schedule; "waiting" until then, "failed" with a sentence where it refuses or fails.
 * A request is given up when the schedule changes or the view goes; answers are kept as long as the schedule, and never shown
 * for another one.
 */
export function useAnswer<Name extends AboutSchedule>(
  name: Name,
  schedule: ScheduleView | null,
): { readonly value: Waiting<Exclude<Answer<Name>, Refusal>> } {
  type Value = Exclude<Answer<Name>, Refusal>;
  const state = useSignal<{ readonly of: ScheduleView | null; readonly now: Waiting<Value> }>({
    of: null,
    now: WAITING,
  });
  useEffect(() => {
    if (schedule === null) return;
    const tell = (now: Waiting<Value>): void => {
      state.value = { of: schedule, now };
    };
    const answers = known.get(schedule) ?? new Map<AboutSchedule, unknown>();
    known.set(schedule, answers);
    const before = answers.get(name) as Value | undefined;
    if (before !== undefined) {
      tell({ kind: "here", value: before });
      return;
    }
    tell(WAITING);
    const controller = new AbortController();
    ask(name, { schedule: schedule.ref } as never, { signal: controller.signal }).then(
      (answer) => {
        if (controller.signal.aborted) return;
        if ("refusal" in answer) tell({ kind: "failed", message: answer.refusal });
        else {
          answers.set(name, answer);
          tell({ kind: "here", value: answer as Value });
        }
      },
      (error) => {
        if (!controller.signal.aborted) tell({ kind: "failed", message: failureOf(error).message });
      },
    );
    return () => controller.abort();
  }, [name, schedule, state]);
  // between the render and the effect the answer is still that of the schedule before
  const { of, now } = state.value;
  return { value: of === schedule ? now : WAITING };
}
