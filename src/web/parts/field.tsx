import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import "./field.css";

/** What a control of a field has to carry, so that its label, hint and error are announced with it. */
export interface ControlProps {
  readonly id: string;
  readonly "aria-describedby": string;
  readonly "aria-invalid": boolean;
}

interface FieldProps {
  readonly label: string;
  /** Name of the option on the command line. */
  readonly flag?: string | undefined;
  readonly hint?: ComponentChildren;
  /** What is wrong with it, a sentence. */
  readonly error?: string | null;
  readonly children: (control: ControlProps) => ComponentChildren;
}

/** A labelled control with its name on the command line, a hint, and what is wrong with it. */
export function Field({ label, flag, hint, error = null, children }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <div class="field-head">
        <label for={id}>{label}</label>
        {flag !== undefined && <span class="field-flag">{flag}</span>}
      </div>
      {children({ id, "aria-describedby": `${id}-error ${id}-hint`, "aria-invalid": error !== null })}
      <div id={`${id}-error`} class="field-error" data-lines aria-live="polite">
        {error}
      </div>
      {hint !== undefined && (
        <div id={`${id}-hint`} class="field-hint">
          {hint}
        </div>
      )}
    </div>
  );
}
