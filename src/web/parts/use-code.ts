import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";

type Loaded<Props> = FunctionComponent<Props> | string;
type Load<Props> = () => Promise<{ readonly View: FunctionComponent<Props> }>;

/** Returns a part of the page whose code is loaded when it is first shown: null until then, a sentence where it could not be loaded. */
export function useCode<Props>(load: Load<Props>, what: string): Loaded<Props> | null {
  const loaded = useSignal<{ readonly of: Load<Props>; readonly view: Loaded<Props> } | null>(null);
  useEffect(() => {
    let isWanted = true;
    const show = (view: Loaded<Props>): void => {
      if (isWanted) loaded.value = { of: load, view };
    };
    load().then(
      ({ View }) => show(View),
      () => show(`${what} could not be loaded. Is the network there? Loading the page again may help.`),
    );
    return () => {
      isWanted = false;
    };
  }, [load]);
  return loaded.value?.of === load ? loaded.value.view : null;
}
