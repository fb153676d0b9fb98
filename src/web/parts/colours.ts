import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { onScheme, type Palette, paletteOf } from "../draw/palette.ts";

/** Changes whenever the colours of the page do: what is painted on a canvas has to be painted again. */
export const scheme = signal(0);

onScheme(() => {
  scheme.value++;
});

/** The page's colours, as they change between light and dark. */
export const colours: ReadonlySignal<Palette> = computed(() => {
  scheme.value;
  return paletteOf(document.documentElement);
});
