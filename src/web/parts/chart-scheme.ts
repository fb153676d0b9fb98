import { signal } from "@preact/signals";
import { onScheme } from "../draw/palette.ts";

/** Changes whenever the colours of the page do: what is painted on a canvas has to be painted again. */
export const scheme = signal(0);

onScheme(() => {
  scheme.value++;
});
