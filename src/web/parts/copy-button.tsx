import { useSignal } from "@preact/signals";
import { say } from "../state/actions.ts";
import { Icon } from "./icon.tsx";

/** Copies a text; `what` names it for people: "command". */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const isDone = useSignal(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      isDone.value = true;
      setTimeout(() => {
        isDone.value = false;
      }, 1500);
      say(`The ${what} is on the clipboard.`);
    } catch {
      say(`The browser did not let the ${what} be copied: select it and copy it by hand.`);
    }
  };
  return (
    <button
      type="button"
      class="icon quiet"
      aria-label={`Copy the ${what}`}
      title={`Copy the ${what}`}
      onClick={() => void copy()}
    >
      <Icon name={isDone.value ? "done" : "copy"} />
    </button>
  );
}
