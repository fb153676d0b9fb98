import { useEffect } from "preact/hooks";
import "../../parts/chart.css";
import "../step/step.css";
import "./plan.css";
import { words } from "../../state/store.ts";
import { networkWish } from "../../state/words.ts";
import { findWorkloads } from "../step/asking.ts";
import { plan, running } from "./ask.ts";
import { Form } from "./form.tsx";
import { Result } from "./result.tsx";

/** How every tensor of a step lies on the network so that it is fastest. */
export function View() {
  const network = JSON.stringify(networkWish(words.value));
  useEffect(() => {
    const controller = new AbortController();
    void findWorkloads(controller.signal);
    return () => controller.abort();
  }, [network]);
  const made = plan.value;
  return (
    <div class="step">
      <Form />
      {made === null ? (
        <p class="soft">
          {running.value === null
            ? "The search decides for every tensor whether it is whole, dealt or a summand along each axis of the NPUs, and whether it is kept; data, tensor, sequence and expert parallelism, ZeRO and FSDP are what it finds. Nothing was searched yet."
            : "The plan is on its way."}
        </p>
      ) : (
        <Result key={made.view} of={made} />
      )}
    </div>
  );
}
