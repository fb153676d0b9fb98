import { useSignal } from "@preact/signals";
import { useContext, useEffect } from "preact/hooks";
import { flagOf } from "../../../request/option-table.ts";
import { TRAINING_ROWS } from "../../../request/training-rows.ts";
import { Field } from "../../parts/field.tsx";
import { Fold } from "../../parts/fold.tsx";
import { useEscape } from "../../parts/use-escape.ts";
import { showView } from "../../state/actions.ts";
import { changes } from "../../state/what-if.ts";
import { changeText } from "../../state/what-if-changes.ts";
import { modelFileOf, modelWord, USUAL, workloads } from "../step/asking.ts";
import {
  AcceleratorField,
  type FormState,
  failureText,
  Go,
  type Meanings,
  ModelField,
  meaningsOf,
  OPTIMIZERS,
  PRECISIONS,
  SelectField,
  StepForm,
  Text,
  TextField,
  textOf,
  useChange,
} from "../step/fields.tsx";
import { failure, fieldOf, running, stopTraining, train } from "./ask.ts";

const FORM: FormState = {
  errorAt(field) {
    const wrong = failure.value;
    return wrong === null || fieldOf(wrong, modelFileOf(modelWord.value)) !== field ? null : failureText(field, wrong);
  },
  forgive() {
    failure.value = null;
  },
};

/** What is trained, how, and what it runs on; start and stop. */
export function Form() {
  const isOpen = useSignal(false);
  const now = running.value;
  useEscape(now !== null, stopTraining);
  useEffect(() => {
    if ((["microBatch", "optimizer", "bucket"] as const).some((name) => FORM.errorAt(name) !== null))
      isOpen.value = true;
  }, [failure.value, isOpen]);
  return (
    <StepForm.Provider value={FORM}>
      <form
        class="step-form"
        aria-label="Training step"
        onSubmit={(event) => {
          event.preventDefault();
          void train();
        }}
      >
        <div class="step-fields">
          <ModelField others />
          <ParallelField />
          <TextField name="batch" label="Batch" placeholder={USUAL.batch} hint="Samples of a step, over all copies." />
          <TextField name="seq" label="Sequence" placeholder="the model's own" hint="Tokens of a sample." />
          <SelectField name="pass" label="Pass" choices={PASSES} />
          <SelectField name="precision" label="Precision" choices={PRECISIONS} />
          <SelectField name="recompute" label="Recomputation" choices={RECOMPUTATIONS} />
          <AcceleratorField />
        </div>
        <Fold class="step-more" isOpen={isOpen} summary="More of the step">
          <div class="step-fields">
            <TextField
              name="microBatch"
              label="Micro batch"
              placeholder="1, or the best"
              hint="Samples that one copy takes at a time."
            />
            <SelectField name="optimizer" label="Optimiser" choices={OPTIMIZERS} />
            <TextField
              name="bucket"
              label="Bucket"
              placeholder="25MB"
              hint="Gradients that are summed at once, at least."
            />
          </div>
        </Fold>
        <WhatIf />
        <Go
          text="Work out the step"
          title="Training step"
          running={now}
          onStop={stopTraining}
          failure={failure.value}
          doing={doing}
        />
      </form>
    </StepForm.Provider>
  );
}

const doing = (what: string): string => (what === "meshes" ? "trying meshes" : `simulating with ${what}`);

/** How NPUs split the step: a mesh, or the fastest. */
function ParallelField() {
  const { errorAt } = useContext(StepForm);
  const change = useChange();
  const npus = workloads.value?.there.npuCount;
  const hint = `${npus === undefined ? "" : `${npus} NPUs: `}dp, tp, pp, cp (product: the NPUs), ep, etp, vp, zero, sp.`;
  return (
    <Field label="Parallel" flag={flagOf("parallel")} hint={hint} error={errorAt("parallel")}>
      {(control) => (
        <div class="step-parallel">
          <Text name="parallel" control={control} placeholder="auto: the fastest mesh" />
          {textOf("parallel") !== "" && (
            <button type="button" onClick={() => change("parallel", "")}>
              auto
            </button>
          )}
        </div>
      )}
    </Field>
  );
}

const PASSES = meaningsOf(TRAINING_ROWS.pass.parse.words, {
  train: "training step",
  prefill: "inference: prefill",
  decode: "inference: decode",
});
/** With "auto" nothing said leaves it to the search. */
const RECOMPUTATIONS: Meanings = [
  ["", "none; auto: any"],
  ...TRAINING_ROWS.recompute.parse.words.map((word) => [word, word] as const),
];

/** What failed or was slowed down in the network, with which the step is worked out. */
function WhatIf() {
  const changed = changes.value;
  if (changed.length === 0)
    return (
      <p class="step-what-if soft">
        To see what a failure costs a step, fail or slow down links and NPUs in the{" "}
        <button type="button" class="step-link" onClick={() => showView("network")}>
          view of the network
        </button>
        .
      </p>
    );
  return (
    <p class="step-what-if">
      <b>With</b> {changed.map(changeText).join("; ")}: the step is compared with that of the whole network.
    </p>
  );
}
