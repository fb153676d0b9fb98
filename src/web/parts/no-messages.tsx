import { showView } from "../state/actions.ts";
import "./no-messages.css";
import type { Made } from "../state/store.ts";
import { SynthesizeWith } from "./synthesize-with.tsx";

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
