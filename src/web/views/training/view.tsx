import { useEffect } from "preact/hooks";
import "../../parts/chart.css";
import "../step/step.css";
import { beginsAtOnce, words } from "../../state/store.ts";
import { networkWish } from "../../state/words.ts";
import { findWorkloads } from "../step/asking.ts";
import { running, step, train } from "./ask.ts";
import { Form } from "./form.tsx";
import { Result } from "./result.tsx";

/** What a step of a model takes on the network, and what better collectives gain. */
export function View() {
  const network = JSON.stringify(networkWish(words.value));
  useEffect(() => {
    const controller = new AbortController();
    void findWorkloads(controller.signal);
    return () => controller.abort();
  }, [network]);
  // an example, whose network and model are in the words by now
  const isAwaited = beginsAtOnce.value && running.value === null;
  useEffect(() => {
    if (!isAwaited) return;
    beginsAtOnce.value = false;
    void train();
  }, [isAwaited]);
  const made = step.value;
  return (
    <div class="step">
      <Form />
      {made === null ? (
        <p class="soft">
          {running.value === null
            ? "Every collective of the step becomes a verified schedule on this network; computations and collectives are then simulated together. Nothing was worked out yet."
            : "The step is on its way."}
        </p>
      ) : (
        <Result key={made.view} of={made} />
      )}
    </div>
  );
}
