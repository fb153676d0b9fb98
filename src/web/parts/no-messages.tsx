import { changeOptions, showView, synthesize } from "../state/actions.ts";
import { busy, type Made } from "../state/store.ts";
import "./no-messages.css";

/** The algorithm whose trees need no switches that sum; it makes all collectives that those make. */
export const FORWARDING = "forestcoll";

/** Returns whether switches do what NPUs would, so that nothing goes from NPU to NPU one by one. */
export const hasNoMessages = ({ schedule }: Made): boolean => Object.values(schedule.lacks).includes("messages");

/** Says why a schedule whose switches sum cannot be drawn in time, what shows it, and which schedule can. */
export function NoMessages() {
  return (
    <div class="no-view" role="note">
      <p>
        Switches duplicate and sum what passes them in this schedule (NVLS): nothing goes from NPU to NPU, transfer by
        transfer, that could be drawn in time.
      </p>
      <p>{`Its trees are in the view Trees. With ${FORWARDING}, switches only forward, and every transfer can be drawn.`}</p>
      <div class="no-view-ways">
        <button type="button" onClick={() => showView("trees")}>
          Show the trees
        </button>
        <SynthesizeWith algorithm={FORWARDING} />
      </div>
    </div>
  );
}

interface SynthesizeWithProps {
  readonly algorithm: string;
  /** Before the synthesis begins. */
  readonly onBegin?: () => void;
}

/** Chooses an algorithm for what is asked, and makes its schedule. */
export function SynthesizeWith({ algorithm, onBegin }: SynthesizeWithProps) {
  return (
    <button
      type="button"
      class="primary"
      disabled={busy.value !== null}
      onClick={async () => {
        onBegin?.();
        if (await changeOptions({ algorithm })) await synthesize();
      }}
    >
      {`Synthesize with ${algorithm}`}
    </button>
  );
}
