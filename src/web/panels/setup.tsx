import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Fold } from "../parts/fold.tsx";
import { isNarrow } from "../parts/media.ts";
import { trouble, welcome, words } from "../state/store.ts";
import { AlgorithmField } from "./algorithm-field.tsx";
import { troubleSpot } from "./failures.ts";
import { MoreOptions } from "./more-options.tsx";
import { NetworkField } from "./network-field.tsx";
import { OpenFile } from "./open-file.tsx";
import { OptionSelect, OptionText } from "./option-fields.tsx";
import { SizeField } from "./size-field.tsx";
import "./setup.css";

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What is asked for in a line: "dgx-a100:2, all-gather, 256MiB, auto". */
function inShort(): string {
  const { topology, file, options } = words.value;
  const { collective, size, algorithm } = options;
  const name = welcome.value?.collectives.find(({ kind }) => kind === collective)?.name ?? collective;
  return [file?.name ?? topology, name, size ?? "1GiB", algorithm ?? "tacos"].join(", ");
}

function Fields() {
  const collectives = welcome.value?.collectives ?? [];
  return (
    <>
      <NetworkField />
      <OpenFile />
      <hr />
      <OptionSelect
        name="collective"
        label="Collective"
        choices={collectives.map(({ kind, name }) => [kind, upper(name)] as const)}
      />
      <SizeField />
      <AlgorithmField />
      <OptionText name="chunks" label="Chunks" placeholder="usual: 1" hint={'Per NPU; "auto" tries 1, 2, 4, ...'} />
      <MoreOptions />
    </>
  );
}

/** What is asked for; on a narrow page it folds away. */
export function Setup() {
  const isOpen = useSignal(false);
  const spot = troubleSpot(words.value.file !== null);
  useEffect(() => {
    if (spot !== null && spot !== "alert" && spot !== "export") isOpen.value = true;
  }, [trouble.value]);
  if (!isNarrow.value)
    return (
      <div class="setup-fields">
        <Fields />
      </div>
    );
  const summary = (
    <>
      <b>Setup</b> <span class="soft">{inShort()}</span>
    </>
  );
  return (
    <Fold class="setup" isOpen={isOpen} summary={summary}>
      <div class="setup-fields">
        <Fields />
      </div>
    </Fold>
  );
}
