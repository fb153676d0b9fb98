import { useComputed } from "@preact/signals";
import { Combobox } from "../parts/combobox.tsx";
import { Field } from "../parts/field.tsx";
import { typeNetwork } from "../state/actions.ts";
import { isReading, network, welcome, words } from "../state/store.ts";
import { failureAt } from "./failures.ts";
import { networkChoices } from "./network-choices.ts";

/** The network as a preset: a text, chosen or typed. */
export function NetworkField() {
  const groups = useComputed(() => networkChoices(welcome.value?.presets ?? []));
  const { topology, file } = words.value;
  const error = failureAt("network", file !== null);
  const view = network.value;
  return (
    <Field
      label="Network"
      flag="TOPO"
      error={error === null || view === null ? error : `${error}\nStill shown: ${view.name}.`}
      hint={view === null || isReading.value ? "Reading the network..." : view.sizeText}
    >
      {(control) => (
        <Combobox
          control={control}
          value={topology}
          placeholder={file === null ? "dgx-a100:2, mesh:4x4, ..." : "the file below"}
          groups={groups.value}
          openLabel="Networks to choose from"
          onType={(text) => typeNetwork(text)}
          onChoose={(value) => typeNetwork(value, true)}
        />
      )}
    </Field>
  );
}
