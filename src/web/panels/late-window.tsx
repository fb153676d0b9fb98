import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { useCode } from "../parts/use-code.ts";
import { say } from "../state/actions.ts";

interface WindowProps {
  readonly onClose: () => void;
}

/** Returns a window whose code is loaded when it is first shown; where that fails it says so and closes. */
export function lateWindow(
  load: () => Promise<{ readonly View: FunctionComponent<WindowProps> }>,
  what: string,
): FunctionComponent<WindowProps> {
  return ({ onClose }) => {
    const View = useCode(load, what);
    useEffect(() => {
      if (typeof View !== "string") return;
      say(View);
      onClose();
    }, [View]);
    return View === null || typeof View === "string" ? null : <View onClose={onClose} />;
  };
}

export const Downloads = lateWindow(() => import("./downloads.tsx"), "The list of downloads");
export const Gallery = lateWindow(() => import("./gallery.tsx"), "The list of examples");
export const Help = lateWindow(() => import("./help.tsx"), "The help");
