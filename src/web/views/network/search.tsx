import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { Focus } from "../../draw/marks.ts";
import { networkIndex, wireBetween } from "../../draw/network-index.ts";
import { nodeTitle } from "../../draw/tips.ts";
import type { NetworkView } from "../../protocol.ts";

const MOST_OFFERED = 40;

/** Returns what a text names: a node, a link as "a-b" or "a>b", a box; null where nothing. O(length). */
export function named(network: NetworkView, text: string): Focus["at"] | null {
  const { nodeOf } = networkIndex(network);
  const wish = text.trim();
  const node = nodeOf.get(wish) ?? nodeOf.get(wish.replace(/^(NPU|switch)\s+/i, ""));
  if (node !== undefined) return { kind: "node", node };
  const group = network.groups.indexOf(wish);
  if (group >= 0) return { kind: "group", group };
  for (let cut = 1; cut < wish.length - 1; cut++) {
    if (!"-> –→".includes(wish[cut])) continue;
    const [a, b] = [nodeOf.get(wish.slice(0, cut).trim()), nodeOf.get(wish.slice(cut + 1).trim())];
    const wire = a === undefined || b === undefined ? -1 : wireBetween(network, a, b);
    if (wire >= 0) return { kind: "wire", wire };
  }
  return null;
}

/** Returns names of nodes and boxes that have the text in them, those that begin with it first; at most 40. O(nodes). */
export function offered(network: NetworkView, text: string): { readonly name: string; readonly title: string }[] {
  const wish = text.trim().toLowerCase();
  const names = [
    ...network.groups.map((name) => ({ name, title: "box" })),
    ...network.nodeNames.map((name, node) => ({ name, title: nodeTitle(network, node) })),
  ];
  const starts = names.filter(({ name }) => name.toLowerCase().startsWith(wish)).slice(0, MOST_OFFERED);
  const others = names
    .filter(({ name }) => name.toLowerCase().indexOf(wish) > 0)
    .slice(0, MOST_OFFERED - starts.length);
  return [...starts, ...others];
}

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
