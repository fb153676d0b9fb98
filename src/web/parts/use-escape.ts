import { useEffect } from "preact/hooks";
import { busy } from "../state/store.ts";
import { isCovered } from "./covered.ts";

/** Escape stops the work of a view that is looked at, where nothing else is under way that it would cancel. */
export function useEscape(isRunning: boolean, stop: () => void): void {
  useEffect(() => {
    if (!isRunning) return;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented || isCovered() || busy.value !== null) return;
      event.preventDefault();
      stop();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [isRunning, stop]);
}
