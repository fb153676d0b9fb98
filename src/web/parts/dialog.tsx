import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { notes } from "../state/store.ts";
import { Icon } from "./icon.tsx";
import "./dialog.css";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** What is under way in it, where anything is. */
  readonly doing?: ComponentChildren;
  /** What went wrong in it last, a sentence. */
  readonly error?: string | null;
  /** What its lower edge says until a button has done something. */
  readonly hint?: string;
  readonly children: ComponentChildren;
}

/** Returns the last sentence that was said since the window was opened; "" until then. */
function useSaid(): string {
  const said = useSignal("");
  const opened = useRef(notes.value.at(-1)?.id ?? 0);
  const last = notes.value.at(-1);
  useEffect(() => {
    // it stays when the note has passed
    if (last !== undefined && last.id > opened.current) said.value = last.text;
  }, [last, said]);
  return said.value;
}

/**
 * A window over the page, open while it is there: Escape, its button or a click beside it close it. What had the focus before it
 * has it then. Its lower edge, in sight however far it is scrolled, says what its buttons did.
 */
export function Dialog({ title, onClose, doing = null, error = null, hint = "", children }: DialogProps) {
  const said = useSaid();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // while it is still there: taken away open, it would take the focus along
    return () => shown?.close();
  }, []);
  useEffect(() => {
    // what was pressed is not hidden by a longer answer
    const pressed = document.activeElement;
    if (dialog.current?.contains(pressed)) pressed?.scrollIntoView({ block: "nearest" });
  }, [said, error]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onClose={() => {
        // taken away, it says so later, when the same window may be open once more
        if (dialog.current !== null) onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="icon quiet" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div class="dialog-body">{children}</div>
      <div class="dialog-foot">
        {doing}
        <p class="field-error" role="alert">
          {error}
        </p>
        <p role="status">{doing === null && error === null && (said || hint)}</p>
      </div>
    </dialog>
  );
}
