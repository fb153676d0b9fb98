import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { onScheme, type Palette, paletteOf } from "../../draw/palette.ts";

/** Returns the page's colours, as they change between light and dark. */
export function useColours(): ReadonlySignal<Palette> {
  const colours = useSignal(paletteOf(document.documentElement));
  useEffect(
    () =>
      onScheme(() => {
        colours.value = paletteOf(document.documentElement);
      }),
    [colours],
  );
  return colours;
}
