import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { Focus } from "../../draw/marks.ts";
import type { NetworkView } from "../../protocol.ts";
import { named, offered } from "./names.ts";

/** Finds an NPU, switch, box or link by its name. */
export function Search(props: { readonly network: NetworkView; readonly onFound: (at: Focus["at"]) => void }) {
  const { network, onFound } = props;
  const id = useId();
  const text = useSignal("");
  const isMissed = useSignal(false);
  const go = (): void => {
    const first = named(network, text.value) ?? named(network, offered(network, text.value)[0]?.name ?? "");
    isMissed.value = text.value.trim() !== "" && first === null;
    if (text.value.trim() !== "" && first !== null) onFound(first);
  };
  return (
    <form
      class="network-search"
      aria-label="Find in the network"
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <label for={id}>Find</label>
      <input
        id={id}
        type="search"
        list={`${id}-names`}
        autocomplete="off"
        placeholder={`NPU, switch, box or link, ${example(network)}`}
        aria-describedby={isMissed.value ? `${id}-missed` : undefined}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          isMissed.value = false;
          // a name that was taken from the list is complete
          if (event instanceof InputEvent && event.inputType === "insertReplacementText") go();
        }}
      />
      <datalist id={`${id}-names`}>
        {offered(network, text.value).map(({ name, title }) => (
          <option key={`${title} ${name}`} value={name}>
            {title}
          </option>
        ))}
      </datalist>
      <button type="submit">Show</button>
      {isMissed.value && (
        <span id={`${id}-missed`} class="network-missed" role="status">
          nothing here is called {text.value.trim()}
        </span>
      )}
    </form>
  );
}

const example = ({ nodeNames, wires }: NetworkView): string =>
  wires.a.length === 0 ? nodeNames[0] : `${nodeNames[wires.a[0]]}-${nodeNames[wires.b[0]]}`;
