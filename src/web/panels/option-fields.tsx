import type { ComponentChildren } from "preact";
import { flagOf } from "../../request/option-texts.ts";
import { Field } from "../parts/field.tsx";
import { changeOptions } from "../state/actions.ts";
import { words } from "../state/store.ts";
import { failureAt } from "./failures.ts";

/** Fields of options: each keeps its value in the words, says its name on the command line, and shows what is wrong with it. */

interface OptionProps {
  /** As in the words: "timeLimit". */
  readonly name: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** Why it says nothing here; it can still be emptied. */
  readonly idle?: string | null;
}

const textIn = (name: string): string => {
  const value = words.value.options[name];
  return typeof value === "string" ? value : "";
};
const change = (name: string, value: string | boolean | undefined): void => {
  void changeOptions({ [name]: value });
};

/** What all kinds of fields do alike. */
function useOption({ name, label, hint, idle = null }: OptionProps) {
  const flag = flagOf(name);
  const error = failureAt(flag as `--${string}`, words.value.file !== null);
  const isSet = words.value.options[name] !== undefined;
  return { field: { label, flag, hint: idle ?? hint, error }, disabled: idle !== null && !isSet };
}

/** A text of any kind; empty is the default. */
export function OptionText(props: OptionProps & { readonly placeholder?: string }) {
  const { field, disabled } = useOption(props);
  return (
    <Field {...field}>
      {(control) => (
        <input
          {...control}
          type="text"
          spellcheck={false}
          autocapitalize="off"
          disabled={disabled}
          placeholder={props.placeholder ?? ""}
          value={textIn(props.name)}
          onInput={({ currentTarget }) => change(props.name, currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** One of several words; the first stands for the default, where it is "". */
export function OptionSelect(
  props: OptionProps & { readonly choices: readonly (readonly [value: string, label: string])[] },
) {
  const { field, disabled } = useOption(props);
  const value = textIn(props.name);
  const isKnown = props.choices.some(([known]) => known === value);
  return (
    <Field {...field}>
      {(control) => (
        <select
          {...control}
          disabled={disabled}
          value={value}
          onChange={({ currentTarget }) => change(props.name, currentTarget.value)}
        >
          {!isKnown && <option value={value}>{value}</option>}
          {props.choices.map(([known, label]) => (
            <option key={known} value={known}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Yes or no. `on` is the option's value when it is ticked, `off` when it is not; undefined is the default. */
export function OptionCheck(
  props: OptionProps & { readonly on: boolean | undefined; readonly off: boolean | undefined; readonly flag?: string },
) {
  const { field, disabled } = useOption(props);
  const id = `option-${props.name}`;
  return (
    <div class="field-check">
      <input
        id={id}
        type="checkbox"
        disabled={disabled}
        checked={words.value.options[props.name] === props.on}
        aria-describedby={`${id}-error`}
        aria-invalid={field.error !== null}
        onChange={({ currentTarget }) => change(props.name, currentTarget.checked ? props.on : props.off)}
      />
      <label for={id}>{props.label}</label>
      <span class="field-flag">{props.flag ?? field.flag}</span>
      <span id={`${id}-error`} class="field-error" aria-live="polite">
        {field.error}
      </span>
    </div>
  );
}
