import { createContext } from "preact";
import { useContext, useRef } from "preact/hooks";
import { flagOf } from "../../../request/option-table.ts";
import type { Progress } from "../../../request/progress.ts";
import { TRAINING_ROWS } from "../../../request/training-rows.ts";
import { Combobox } from "../../parts/combobox.tsx";
import { type ControlProps, Field } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useBlame } from "../../parts/use-blame.ts";
import type { Failure } from "../../protocol.ts";
import { choose, say } from "../../state/actions.ts";
import { isOnlyMentioned, packFile } from "../../state/address-file.ts";
import type { Choices } from "../../state/choices.ts";
import { words } from "../../state/store.ts";
import { modelFileOf, modelWord, USUAL, workloads } from "./asking.ts";

/** Fields of forms of steps; what they say is kept as choices. */

type Name = keyof Choices;

/** What the fields of a form are lent. */
export interface FormState {
  /** Returns what is wrong with a field, a sentence; null where nothing is, and of null where no field is to blame. */
  errorAt(field: string | null): string | null;
  /** What was wrong is forgotten. */
  forgive(): void;
}

export const StepForm = createContext<FormState>({ errorAt: () => null, forgive: () => undefined });

/** Returns a sentence with a capital and an end. */
const sentence = (text: string): string => {
  const whole = /[.!?]$/.test(text) ? text : `${text}.`;
  return /^(the|what) /.test(whole) ? whole.charAt(0).toUpperCase() + whole.slice(1) : whole;
};

/** Returns what a field says of a failure. */
export const failureText = (field: string | null, { message }: Failure): string =>
  // the models are listed below the field
  sentence(field === "model" ? message.replace(/it must be one of [^;]{200,}/, "it must be one of the list") : message);

/** Returns what changes a field. */
export function useChange(): (name: Name, value: string) => void {
  const { errorAt, forgive } = useContext(StepForm);
  return (name, value) => {
    if (errorAt(name) !== null) forgive();
    choose({ [name]: value === "" ? undefined : value });
  };
}

export const textOf = (name: Name): string => words.value.choices[name] ?? "";

interface ModelFieldProps {
  /** Which models of the catalogue can be chosen. */
  readonly others: boolean;
}

/** The model: of the catalogue, chosen or typed, or a config.json. */
export function ModelField({ others }: ModelFieldProps) {
  const { errorAt } = useContext(StepForm);
  const change = useChange();
  const word = modelWord.value;
  const file = modelFileOf(word);
  const models = workloads.value?.there.models ?? [];
  const groups = [
    { title: "Transformers", choices: models.filter(({ isTransformer }) => isTransformer) },
    { title: "Others", choices: others ? models.filter(({ isTransformer }) => !isTransformer) : [] },
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
        <div class="step-model">
          {file === null ? (
            <Combobox
              control={control}
              value={textOf("model")}
              placeholder={USUAL.model}
              groups={groups}
              openLabel="Models to choose from"
              onType={(text) => change("model", text.replaceAll("~", ""))}
              onChoose={(value) => change("model", value)}
            />
          ) : (
            <input {...control} type="text" readOnly value={file} />
          )}
          <FileButton
            name={file}
            what="a config.json"
            label="Model's config.json"
            accept=".json,application/json"
            onOpen={open}
            onClose={() => change("model", "")}
          />
        </div>
      )}
    </Field>
  );
}

interface FileButtonProps {
  /** Of the file that is open; null: none. */
  readonly name: string | null;
  readonly what: string;
  /** Of the input. */
  readonly label: string;
  readonly accept: string;
  readonly onOpen: (file: File) => Promise<void>;
  readonly onClose: () => void;
}

/** Opens a file, or closes the one that is open. */
export function FileButton({ name, what, label, accept, onOpen, onClose }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      {name === null ? (
        <button type="button" title={`Open ${what}`} onClick={() => input.current?.click()}>
          <Icon name="open" />
          <span class="unseen">Open {what}</span>
        </button>
      ) : (
        <button type="button" title="Close the file" onClick={onClose}>
          <Icon name="close" />
          <span class="unseen">Close {name}</span>
        </button>
      )}
      <input
        ref={input}
        type="file"
        hidden
        accept={accept}
        aria-label={label}
        onChange={({ currentTarget }) => {
          const [chosen] = currentTarget.files ?? [];
          if (chosen !== undefined) void onOpen(chosen);
          currentTarget.value = "";
        }}
      />
    </>
  );
}

interface TextFieldProps {
  readonly name: Name;
  readonly label: string;
  /** Of the command line, where it is not called as the choice. */
  readonly flag?: string;
  readonly placeholder: string;
  readonly hint: string;
}

export function TextField({ name, label, flag = flagOf(name), placeholder, hint }: TextFieldProps) {
  const { errorAt } = useContext(StepForm);
  return (
    <Field label={label} flag={flag} hint={hint} error={errorAt(name)}>
      {(control) => <Text name={name} control={control} placeholder={placeholder} />}
    </Field>
  );
}

export function Text({
  name,
  control,
  placeholder,
}: Pick<TextFieldProps, "name" | "placeholder"> & { readonly control: ControlProps }) {
  const change = useChange();
  return (
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
}

/** What the NPUs are: as the network's name tells, one that is known, or figures. */
export function AcceleratorField() {
  const { errorAt } = useContext(StepForm);
  const change = useChange();
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

/** Values with what they mean; "" is said by saying nothing. */
export type Meanings = readonly (readonly [value: string, meaning: string])[];

/** Returns words as choices; the first is the usual one, which goes without saying. */
export const meaningsOf = (texts: readonly string[], meanings: Readonly<Record<string, string>> = {}): Meanings =>
  texts.map((word, i) => [i === 0 ? "" : word, meanings[word] ?? word]);

export const PRECISIONS = meaningsOf(TRAINING_ROWS.precision.parse.words);
export const OPTIMIZERS = meaningsOf(TRAINING_ROWS.optimizer.parse.words);

interface SelectFieldProps extends Pick<TextFieldProps, "name" | "label" | "flag"> {
  readonly choices: Meanings;
}

export function SelectField({ name, label, flag = flagOf(name), choices }: SelectFieldProps) {
  const { errorAt } = useContext(StepForm);
  const change = useChange();
  return (
    <Field label={label} flag={flag} error={errorAt(name)}>
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
}

interface GoProps {
  /** On the button. */
  readonly text: string;
  /** What is worked on. */
  readonly title: string;
  readonly running: { readonly progress: Progress | null } | null;
  readonly onStop: () => void;
  /** What went wrong last. */
  readonly failure: Failure | null;
  /** Returns what is done, in words. */
  readonly doing: (what: string) => string;
}

/** Start and stop, how far it is, and what no field is to blame for. */
export function Go({ text, title, running, onStop, failure, doing }: GoProps) {
  const { errorAt } = useContext(StepForm);
  useBlame(failure, ".step-form");
  return (
    <div class="step-go">
      {running === null ? (
        <button type="submit" class="primary">
          {text}
        </button>
      ) : (
        <button type="button" aria-keyshortcuts="Escape" onClick={onStop}>
          Stop <kbd>Esc</kbd>
        </button>
      )}
      {running !== null && (
        <p class="step-progress" aria-live="off">
          <progress
            {...(running.progress?.total === undefined
              ? {}
              : { value: running.progress.done ?? 0, max: running.progress.total })}
            aria-label={title}
          />
          <span>{progressText(running.progress, doing)}</span>
        </p>
      )}
      <p class="step-failure" role="alert">
        {errorAt(null)}
      </p>
    </div>
  );
}

function progressText(progress: Progress | null, doing: GoProps["doing"]): string {
  if (progress === null) return "reading the network";
  const { what, done, total } = progress;
  return total === undefined || done === undefined ? doing(what) : `${doing(what)}, ${done} of ${total}`;
}
