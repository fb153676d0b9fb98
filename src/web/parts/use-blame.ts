import { useEffect, useRef } from "preact/hooks";

/**
 * Moves to the field that made something fail, among those inside of what a selector names, when another thing failed; null: nothing
 * did. Whoever types elsewhere meanwhile stays there.
 */
export function useBlame(wrong: object | null, inside: string): void {
  const known = useRef(wrong);
  useEffect(() => {
    if (known.current === wrong) return;
    known.current = wrong;
    if (wrong === null) return;
    // the field may be in a part that folds out now
    const timer = setTimeout(() => {
      const { activeElement } = document;
      if (activeElement?.matches("input, textarea, select") && activeElement.closest(inside) === null) return;
      const field = document.querySelector<HTMLElement>(`${inside} [aria-invalid="true"]`);
      field?.focus({ preventScroll: true });
      field?.scrollIntoView({ block: "center" });
    }, 50);
    return () => clearTimeout(timer);
  }, [wrong, inside]);
}
