import { changeOptions, synthesize } from "../state/actions.ts";
import { busy } from "../state/store.ts";

interface SynthesizeWithProps {
  readonly algorithm: string;
  /** Before the synthesis begins. */
  readonly onBegin?: () => void;
}

/** Chooses an algorithm for what is asked, and makes its schedule. */
export function SynthesizeWith({ algorithm, onBegin }: SynthesizeWithProps) {
  return (
    <button
      type="button"
      class="primary"
      disabled={busy.value !== null}
      onClick={async () => {
        onBegin?.();
        if (await changeOptions({ algorithm })) await synthesize();
      }}
    >
      {`Synthesize with ${algorithm}`}
    </button>
  );
}
