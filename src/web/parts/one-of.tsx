import { useId } from "preact/hooks";
import "./one-of.css";

interface OneOfProps<Value extends string | number> {
  /** What is chosen; for screen readers only where `isUntitled`. */
  readonly title: string;
  readonly isUntitled?: boolean;
  readonly choices: readonly (readonly [value: Value, text: string])[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** A few things of which one is chosen, all seen at once. */
export function OneOf<Value extends string | number>(props: OneOfProps<Value>) {
  const { title, isUntitled = false, choices, value, onChange } = props;
  const id = useId();
  return (
    <fieldset class="one-of" {...(isUntitled ? { "aria-label": title } : {})}>
      {!isUntitled && <legend>{title}</legend>}
      {choices.map(([choice, text]) => (
        <label key={choice} for={`${id}-${choice}`}>
          <input
            id={`${id}-${choice}`}
            type="radio"
            name={id}
            checked={choice === value}
            onChange={() => onChange(choice)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  );
}
