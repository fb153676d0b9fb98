import type { ComponentChildren } from "preact";

/** Scrolls sideways what is wider than the page, by keys too. */
export const Sideways = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
  <section class="sideways" tabIndex={0} aria-label={label}>
    {children}
  </section>
);
