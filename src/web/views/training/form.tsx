import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { flagOf } from "../../../request/option-table.ts";
import { TRAINING_ROWS } from "../../../request/training-rows.ts";
import { Combobox } from "../../parts/combobox.tsx";
import { type ControlProps, Field } from "../../parts/field.tsx";
import { Fold } from "../../parts/fold.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useEscape } from "../../parts/use-escape.ts";
import { choose, say, showView } from "../../state/actions.ts";
import { isOnlyMentioned, packFile } from "../../state/address-file.ts";
import type { TrainingOption } from "../../state/choices.ts";
import { words } from "../../state/store.ts";
import { changes, restoreAll } from "../../state/what-if.ts";
import { changeText } from "../../state/what-if-changes.ts";
import {
  type FieldName,
  failure,
  fieldOf,
  modelFileOf,
  modelWord,
  running,
  stopTraining,
  train,
  USUAL,
  workloads,
} from "./ask.ts";

/** Returns a sentence with a capital and an end. */
const sentence = (text: string): string => {
  const whole = /[.!?]$/.test(text) ? text : `${text}.`;
  return /^(the|what) /.test(whole) ? whole.charAt(0).toUpperCase() + whole.slice(1) : whole;
};

/** Returns what is wrong with a field; null where nothing is. */
function errorAt(field: FieldName | null): string | null {
  const wrong = failure.value;
  if (wrong === null || fieldOf(wrong, modelFileOf(modelWord.value)) !== field) return null;
  // the models are listed below the field
  const message =
    field === "model"
      ? wrong.message.replace(/it must be one of [^;]{200,}/, "it must be one of the list")
      : wrong.message;
  return sentence(message);
}

const change = (name: FieldName, value: string): void => {
  if (errorAt(name) !== null) failure.value = null;
  choose({ [name]: value === "" ? undefined : value });
};

/** What is trained, how, and what it runs on; start and stop. */
export function Form() {
  const isOpen = useSignal(false);
  const now = running.value;
  useEscape(now !== null, stopTraining);
  useEffect(() => {
    if ((["microBatch", "optimizer", "bucket"] as const).some((name) => errorAt(name) !== null)) isOpen.value = true;
  }, [failure.value, isOpen]);
  return (
    <form
      class="training-form"
      aria-label="Training step"
      onSubmit={(event) => {
        event.preventDefault();
        void train();
      }}
    >
      <div class="training-fields">
        <ModelField />
        <ParallelField />
        <TextField name="batch" label="Batch" placeholder={USUAL.batch} hint="Samples of a step, over all copies." />
        <TextField name="seq" label="Sequence" placeholder="the model's own" hint="Tokens of a sample." />
        <SelectField name="pass" label="Pass" choices={PASSES} />
        <SelectField name="precision" label="Precision" choices={PRECISIONS} />
        <SelectField name="recompute" label="Recomputation" choices={RECOMPUTATIONS} />
        <AcceleratorField />
      </div>
      <Fold class="training-more" isOpen={isOpen} summary="More of the step">
        <div class="training-fields">
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
      <div class="training-go">
        {now === null ? (
          <button type="submit" class="primary">
            Work out the step
          </button>
        ) : (
          <button type="button" aria-keyshortcuts="Escape" onClick={stopTraining}>
            Stop <kbd>Esc</kbd>
          </button>
        )}
        {now !== null && (
          <p class="training-progress" aria-live="off">
            <progress
              {...(now.progress?.total === undefined ? {} : { value: now.progress.done ?? 0, max: now.progress.total })}
              aria-label="Training step"
            />
            <span>{progressText(now.progress)}</span>
          </p>
        )}
        <p class="training-failure" role="alert">
          {errorAt(null)}
        </p>
      </div>
    </form>
  );
}

function progressText(
  progress: { readonly what: string; readonly done?: number; readonly total?: number } | null,
): string {
  if (progress === null) return "reading the network";
  const { what, done, total } = progress;
  const doing = what === "meshes" ? "trying meshes" : `simulating with ${what}`;
  return total === undefined || done === undefined ? doing : `${doing}, ${done} of ${total}`;
}

/** The model: of the catalogue, chosen or typed, or a config.json. */
function ModelField() {
  const input = useRef<HTMLInputElement>(null);
  const word = modelWord.value;
  const file = modelFileOf(word);
  const models = workloads.value?.there.models ?? [];
  const groups = [
    { title: "Transformers", choices: models.filter(({ isTransformer }) => isTransformer) },
    { title: "Others", choices: models.filter(({ isTransformer }) => !isTransformer) },
  ].map(({ title, choices }) => ({ title, choices: choices.map(({ name, detail }) => ({ value: name, detail })) }));
  const open = async (chosen: File): Promise<void> => {
    const packed = await packFile({ name: chosen.name.replaceAll("~", "-"), content: chosen });
    if (isOnlyMentioned(packed)) say(`${chosen.name} is larger than a config.json: it was not taken`);
    else change("model", packed);
  };
  return (
    <Field
      label="Model"
      error={errorAt("model")}
      hint={file === null ? models.find(({ name }) => name === word)?.detail : "A file: Hugging Face's config.json."}
    >
      {(control) => (
        <div class="training-model">
          {file === null ? (
            <Combobox
              control={control}
              value={words.value.choices.model ?? ""}
              placeholder={USUAL.model}
              groups={groups}
              openLabel="Models to choose from"
              onType={(text) => change("model", text.replaceAll("~", ""))}
              onChoose={(value) => change("model", value)}
            />
          ) : (
            <input {...control} type="text" readOnly value={file} />
          )}
          {file === null ? (
            <button type="button" title="Open a config.json" onClick={() => input.current?.click()}>
              <Icon name="open" />
              <span class="unseen">Open a config.json</span>
            </button>
          ) : (
            <button type="button" title="Close the file" onClick={() => change("model", "")}>
              <Icon name="close" />
              <span class="unseen">Close {file}</span>
            </button>
          )}
          <input
            ref={input}
            type="file"
            hidden
            accept=".json,application/json"
            aria-label="Model's config.json"
            onChange={({ currentTarget }) => {
              const [chosen] = currentTarget.files ?? [];
              if (chosen !== undefined) void open(chosen);
              currentTarget.value = "";
            }}
          />
        </div>
      )}
    </Field>
  );
}

const textOf = (name: TrainingOption): string => words.value.choices[name] ?? "";

interface TextFieldProps {
  readonly name: TrainingOption;
  readonly label: string;
  readonly placeholder: string;
  readonly hint: string;
}

const TextField = ({ name, label, placeholder, hint }: TextFieldProps) => (
  <Field label={label} flag={flagOf(name)} hint={hint} error={errorAt(name)}>
    {(control) => <Text name={name} control={control} placeholder={placeholder} />}
  </Field>
);

const Text = ({
  name,
  control,
  placeholder,
}: Pick<TextFieldProps, "name" | "placeholder"> & { readonly control: ControlProps }) => (
  <input
    {...control}
    type="text"
    spellcheck={false}
    autocapitalize="off"
    placeholder={placeholder}
    value={textOf(name)}
    onInput={({ currentTarget }) => change(name, currentTarget.value)}
  />
);

/** How NPUs split the step: a mesh, or the fastest. */
function ParallelField() {
  const npus = workloads.value?.there.npuCount;
  const hint = `${npus === undefined ? "" : `${npus} NPUs: `}dp, tp, pp, cp (product: the NPUs), ep, etp, vp, zero, sp.`;
  return (
    <Field label="Parallel" flag={flagOf("parallel")} hint={hint} error={errorAt("parallel")}>
      {(control) => (
        <div class="training-parallel">
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

/** What the NPUs are: as the network's name tells, one that is known, or figures. */
function AcceleratorField() {
  const { accelerators = [], own = null } = workloads.value?.there ?? {};
  const value = textOf("accelerator");
  const name = value === "" ? own : value;
  const groups = [
    { title: "Accelerators", choices: accelerators.map(({ name: known, detail }) => ({ value: known, detail })) },
  ];
  const hint =
    accelerators.find((one) => one.name === name)?.detail ??
    "A name, or figures: peak=989TFLOPS, bandwidth=3.35TB/s, memory=80GB.";
  return (
    <Field label="Accelerator" flag={flagOf("accelerator")} hint={hint} error={errorAt("accelerator")}>
      {(control) => (
        <Combobox
          control={control}
          value={value}
          placeholder={own === null ? "h100, ..." : `${own}, the network's`}
          groups={groups}
          openLabel="Accelerators to choose from"
          onType={(text) => change("accelerator", text)}
          onChoose={(chosen) => change("accelerator", chosen)}
        />
      )}
    </Field>
  );
}

type Choices = readonly (readonly [value: string, meaning: string])[];

/** Returns words as choices; the first is the usual one, which goes without saying. */
const choicesOf = (words: readonly string[], meanings: Readonly<Record<string, string>> = {}): Choices =>
  words.map((word, i) => [i === 0 ? "" : word, meanings[word] ?? word]);

const PASSES = choicesOf(TRAINING_ROWS.pass.parse.words, {
  train: "training step",
  prefill: "inference: prefill",
  decode: "inference: decode",
});
const PRECISIONS = choicesOf(TRAINING_ROWS.precision.parse.words);
const OPTIMIZERS = choicesOf(TRAINING_ROWS.optimizer.parse.words);
/** With "auto" nothing said leaves it to the search. */
const RECOMPUTATIONS: Choices = [
  ["", "none; auto: any"],
  ...TRAINING_ROWS.recompute.parse.words.map((word) => [word, word] as const),
];

interface SelectFieldProps {
  readonly name: TrainingOption;
  readonly label: string;
  readonly choices: Choices;
}

const SelectField = ({ name, label, choices }: SelectFieldProps) => (
  <Field label={label} flag={flagOf(name)} error={errorAt(name)}>
    {(control) => (
      <select {...control} value={textOf(name)} onChange={({ currentTarget }) => change(name, currentTarget.value)}>
        {choices.map(([value, meaning]) => (
          <option key={value} value={value}>
            {meaning}
          </option>
        ))}
      </select>
    )}
  </Field>
);

/** What failed or was slowed down in the network, with which the step is worked out. */
function WhatIf() {
  const changed = changes.value;
  if (changed.length === 0)
    return (
      <p class="training-what-if soft">
        To see what a failure costs a step, fail or slow down links and NPUs in the{" "}
        <button type="button" class="training-link" onClick={() => showView("network")}>
          view of the network
        </button>
        .
      </p>
    );
  return (
    <p class="training-what-if">
      <b>With</b> {changed.map(changeText).join("; ")}: the step is compared with that of the whole network.{" "}
      <button type="button" class="training-link" onClick={() => void restoreAll()}>
        Restore all
      </button>
    </p>
  );
}
