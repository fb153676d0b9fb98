import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

interface FoldProps {
  readonly class: string;
  readonly isOpen: Signal<boolean>;
  readonly summary: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Folds something away; it is made when it is first opened. */
export function Fold({ class: name, isOpen, summary, children }: FoldProps) {
  const isMade = useRef(false);
  isMade.current ||= isOpen.value;
  return (
    <details
      class={name}
      open={isOpen.value}
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>{summary}</summary>
      {isMade.current && children}
    </details>
  );
}
