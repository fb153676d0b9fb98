import { useSignal } from "@preact/signals";

/** Returns the names that are hidden, and what hides or shows one. */
export function useHidden(): { readonly hidden: ReadonlySet<string>; readonly toggle: (name: string) => void } {
  const hidden = useSignal<ReadonlySet<string>>(new Set());
  return {
    hidden: hidden.value,
    toggle(name) {
      const next = new Set(hidden.value);
      if (!next.delete(name)) next.add(name);
      hidden.value = next;
    },
  };
}
