import { type Signal, useSignal } from "@preact/signals";
import type { Focus, NetworkMarks, NodeMark } from "../../draw/marks.ts";
import { Inspector } from "../../panels/inspector.tsx";
import { Changes, WhatIf } from "../../panels/what-if.tsx";
import { Panes } from "../../parts/panes/panes.tsx";
import type { NetworkView } from "../../protocol.ts";
import { type Selection, selection, words } from "../../state/store.ts";
import type { ViewProps } from "../view-props.ts";
import { NetworkCanvas } from "./network-canvas.tsx";
import "./view.css";
import { useId, useMemo } from "preact/hooks";
import { bandsOf } from "../../draw/shapes.ts";
import { setGroup, setOutsiders } from "../../state/what-if.ts";
import { named, offered } from "./names.ts";

/** The network: found, looked into, failed, slowed down, and the group chosen on it. */
export function View({ network }: Pick<ViewProps, "network">) {
  const focus = useSignal<Focus | null>(null);
  const choosing = useSignal<readonly number[] | null>(null);
  const chosen = selection.value;
  const choose = (next: Selection | null): void => {
    selection.value = next;
  };
  const pick = (next: Selection | null): void => {
    if (choosing.value === null) choose(next);
    else if (next?.kind === "node") toggle([next.node]);
  };
  const toggle = (nodes: readonly number[]): void => {
    const now = choosing.value ?? [];
    const npus = nodes.filter((node) => node < network.npuCount);
    const isFull = npus.every((npu) => now.includes(npu));
    choosing.value = isFull ? now.filter((npu) => !npus.includes(npu)) : [...new Set([...now, ...npus])];
  };
  const members = choosing.value;
  const { group } = words.value.options;
  const marks = useMemo(
    () => (members === null ? groupMarks(network, group) : choiceMarks(members)),
    [members, network, group],
  );
  const picture = (
    <div class="network-main">
      <Search
        network={network}
        onFound={(at) => {
          focus.value = { at };
          if (at.kind !== "group") choose(at);
        }}
      />
      <NetworkCanvas
        network={network}
        label={labelOf(network)}
        selection={choosing.value === null ? chosen : null}
        onSelect={pick}
        focus={focus.value}
        onBox={(nodes) => {
          choosing.value ??= [];
          toggle(nodes);
        }}
        isBoxing={choosing.value !== null}
        {...(marks === undefined ? {} : { marks })}
      />
      <p class="network-caption">
        {[network.placement.caption, network.sizeText].filter((text) => text !== "").join(". ")}.
      </p>
    </div>
  );
  const side = (
    <aside class="network-side" aria-label="Selection and changes">
      {chosen === null ? (
        <p class="soft">
          Select an NPU, a switch or a link: its figures appear here, and you can make it fail or take bandwidth away.
          Keys on the picture: + - 0, arrows; Shift and an arrow go from node to node.
        </p>
      ) : (
        <>
          <Inspector network={network} chosen={chosen} onChoose={choose} />
          <WhatIf network={network} chosen={chosen} />
        </>
      )}
      <Changes />
      <Group network={network} choosing={choosing} />
      <details>
        <summary>Bandwidths</summary>
        <Classes network={network} />
      </details>
    </aside>
  );
  return (
    <div class="network-view">
      <Panes
        name="network"
        panes={[
          { name: "network", title: "Picture", wide: 70, tall: 70, content: picture },
          { name: "side", title: "Selection and changes", wide: 30, tall: 30, content: side },
        ]}
        columns={BESIDE}
      />
    </div>
  );
}

const BESIDE = [["network"], ["side"]];

/** Members that are being chosen, with their ranks. */
function choiceMarks(members: readonly number[]): NetworkMarks {
  const nodes = new Map<number, NodeMark>(
    members.map((npu, rank) => [npu, { colour: "--chosen", ...(members.length <= 64 ? { text: `${rank}` } : {}) }]),
  );
  return { nodes };
}

/** The process group of the words, ringed; nothing where all NPUs take part. */
function groupMarks(network: NetworkView, group: unknown): NetworkMarks | undefined {
  if (typeof group !== "string") return undefined;
  return { nodes: new Map(membersOf(network, group).map((npu) => [npu, { colour: "--accent", ring: true }])) };
}

const labelOf = ({ name, sizeText, placement, gone }: NetworkView): string =>
  [
    `Network ${name}`,
    sizeText,
    ...(placement.caption === "" ? [] : [placement.caption]),
    ...(gone.nodes.length + gone.wires.length > 0
      ? [`failed: ${gone.nodes.length} nodes, ${gone.wires.length} pairs of linked nodes`]
      : []),
  ].join(": ");

/** The bandwidths that there are between linked nodes. */
function Classes({ network }: { readonly network: NetworkView }) {
  const bands = bandsOf(network);
  return (
    <table class="network-classes">
      <caption>Bandwidth between linked nodes, the faster way</caption>
      <thead>
        <tr>
          <th>drawn as</th>
          <th>bandwidth</th>
          <th>pairs of nodes</th>
        </tr>
      </thead>
      <tbody>
        {network.classes.map(({ text, wires }, index) => (
          <tr key={text}>
            <td>
              <i style={{ borderTop: `${Math.max(2, bands[index].width)}px solid var(--band-${bands[index].step})` }} />
            </td>
            <td>{text}</td>
            <td>{wires}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Finds an NPU, switch, box or link by its name. */
function Search(props: { readonly network: NetworkView; readonly onFound: (at: Focus["at"]) => void }) {
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

interface GroupProps {
  readonly network: NetworkView;
  /** NPUs that are being chosen by pointer, in the order of their ranks; null: none are. */
  readonly choosing: Signal<readonly number[] | null>;
}

/** Chooses the NPUs that take part: by pointer, by a box, by names. */
function Group({ network, choosing }: GroupProps) {
  const id = useId();
  const { group, outsiders } = words.value.options;
  const given = typeof group === "string" ? group : "";
  const chosen = choosing.value;
  const names = chosen?.map((npu) => network.nodeNames[npu]) ?? [];
  const hasComma = names.some((name) => name.includes(","));
  return (
    <section class="what-if" aria-label="Process group">
      <h3>Process group</h3>
      {chosen === null ? (
        <>
          <p class="network-group">{given === "" ? "All NPUs take part." : `Ranks in order: ${given}`}</p>
          <div class="what-if-row">
            <button type="button" onClick={() => (choosing.value = membersOf(network, given))}>
              {given === "" ? "Choose NPUs" : "Change"}
            </button>
            {given !== "" && (
              <button type="button" onClick={() => void setGroup([])}>
                All NPUs again
              </button>
            )}
          </div>
          {given !== "" && (
            <label class="what-if-row" for={`${id}-relay`}>
              <input
                id={`${id}-relay`}
                type="checkbox"
                checked={outsiders !== "none"}
                onChange={(event) => void setOutsiders(event.currentTarget.checked)}
              />
              others may pass data on (--outsiders)
            </label>
          )}
        </>
      ) : (
        <>
          <p>
            Click NPUs, or draw a box around them: the order is that of the ranks. <b>{chosen.length} chosen</b>
            {names.length > 0 && `: ${names.slice(0, 24).join(", ")}${names.length > 24 ? " ..." : ""}`}
          </p>
          {hasComma && <p class="network-missed">Names with a comma cannot be listed.</p>}
          <div class="what-if-row">
            <button
              type="button"
              disabled={chosen.length < 2 || hasComma}
              onClick={() => {
                choosing.value = null;
                void setGroup(names);
              }}
            >
              Use these {chosen.length}
            </button>
            <button type="button" onClick={() => (choosing.value = [])}>
              Clear
            </button>
            <button type="button" onClick={() => (choosing.value = null)}>
              Leave it
            </button>
          </div>
        </>
      )}
    </section>
  );
}

/** Returns the NPUs of a group as it is written, those of all groups where there are several; none for what is not there. */
function membersOf({ nodeNames, npuCount }: NetworkView, group: string): number[] {
  const names = group.split(/[,;]/).map((name) => name.trim());
  return names.map((name) => nodeNames.indexOf(name)).filter((npu) => npu >= 0 && npu < npuCount);
}
