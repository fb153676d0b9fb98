import { useSignal } from "@preact/signals";
import { useContext, useEffect } from "preact/hooks";
import { flagOf } from "../../../request/option-table.ts";
import { Field } from "../../parts/field.tsx";
import { Fold } from "../../parts/fold.tsx";
import { useEscape } from "../../parts/use-escape.ts";
import { choose } from "../../state/actions.ts";
import { modelFileOf, modelWord, USUAL, workloads } from "../step/asking.ts";
import {
  AcceleratorField,
  FileButton,
  type FormState,
  failureText,
  Go,
  ModelField,
  meaningsOf,
  OPTIMIZERS,
  PRECISIONS,
  SelectField,
  StepForm,
  TextField,
} from "../step/fields.tsx";
import { failure, fieldOf, graphWord, openGraph, running, search, stopPlan } from "./ask.ts";

const FORM: FormState = {
  errorAt(field) {
    const wrong = failure.value;
    if (wrong === null) return null;
    const graph = modelFileOf(graphWord.value);
    return fieldOf(wrong, graph ?? modelFileOf(modelWord.value), graph !== null) === field
      ? failureText(field, wrong)
      : null;
  },
  forgive() {
    failure.value = null;
  },
};

const MAKERS = meaningsOf(["library", "best", "ideal"], {
  library: "those of libraries",
  best: "the best of all",
  ideal: "at the limit",
});
const MORE = ["passes", "planTime", "planBy", "optimizer"] as const;

/** What is planned, for what memory, on which meshes; start and stop. */
export function Form() {
  const isOpen = useSignal(false);
  useEscape(running.value !== null, stopPlan);
  useEffect(() => {
    if (MORE.some((name) => FORM.errorAt(name) !== null)) isOpen.value = true;
  }, [failure.value, isOpen]);
  const npus = workloads.value?.there.npuCount;
  const hasGraph = graphWord.value !== "";
  return (
    <StepForm.Provider value={FORM}>
      <form
        class="step-form"
        aria-label="Plan"
        onSubmit={(event) => {
          event.preventDefault();
          void search();
        }}
      >
        <div class="step-fields">
          {!hasGraph && <ModelField others={false} />}
          <GraphField />
          {hasGraph ? (
            <TextField
              name="dims"
              label="Open sizes"
              placeholder="batch=8,sequence=128"
              hint="Of dimensions that an ONNX model leaves open."
            />
          ) : (
            <>
              <TextField
                name="batch"
                label="Batch"
                placeholder={USUAL.batch}
                hint="Samples of a step, over all copies."
              />
              <TextField name="seq" label="Sequence" placeholder="the model's own" hint="Tokens of a sample." />
            </>
          )}
          <TextField
            name="memory"
            label="Memory"
            placeholder="the accelerator's"
            hint="Of an NPU, for the plan: 80GiB. With less, more is dealt or made again."
          />
          <TextField
            name="mesh"
            label="Mesh"
            placeholder="tried"
            hint={`Axes of ${npus === undefined ? "the" : npus} NPUs, neighbours last: 2x8; several to try: 2x8,16.`}
          />
          <AcceleratorField />
          <SelectField name="precision" label="Precision" choices={PRECISIONS} />
        </div>
        <Fold class="step-more" isOpen={isOpen} summary="More of the plan">
          <div class="step-fields">
            {!hasGraph && (
              <TextField
                name="passes"
                label="Passes"
                placeholder="1, 2, 4, 8"
                hint="Micro batches of a step; several to try."
              />
            )}
            <TextField
              name="planTime"
              label="Time limit"
              flag={flagOf("timeLimit")}
              placeholder="60s"
              hint="Of the searches, all together."
            />
            <SelectField name="planBy" label="Collectives" flag={flagOf("algorithms")} choices={MAKERS} />
            <SelectField name="optimizer" label="Optimiser" choices={OPTIMIZERS} />
          </div>
        </Fold>
        <Go
          text="Search a plan"
          title="Plan"
          running={running.value}
          onStop={stopPlan}
          failure={failure.value}
          doing={doing}
        />
      </form>
    </StepForm.Provider>
  );
}

const DOING: Readonly<Record<string, string>> = {
  "ways of splitting": "stating ways of splitting",
  collectives: "scheduling collectives",
  searches: "searching",
  simulations: "simulating steps",
};
const doing = (what: string): string => DOING[what] ?? what;

/** A graph instead of the model. */
function GraphField() {
  const { errorAt, forgive } = useContext(StepForm);
  const file = modelFileOf(graphWord.value);
  const take = (word: string): void => {
    forgive();
    choose({ graph: word === "" ? undefined : word });
  };
  return (
    <Field
      label={file === null ? "Graph instead" : "Graph"}
      error={errorAt("graph")}
      hint="ONNX, a torch graph or a tensor graph; or a config.json."
    >
      {(control) => (
        <div class="step-model">
          <input {...control} type="text" readOnly value={file ?? ""} placeholder="none" />
          <FileButton
            name={file}
            what="a graph"
            label="Graph's file"
            accept=".json,.onnx,application/json"
            onOpen={async (chosen) => take(await openGraph(chosen))}
            onClose={() => take("")}
          />
        </div>
      )}
    </Field>
  );
}
