import { useSignal } from "@preact/signals";
import type { Focus, NetworkMarks, NodeMark } from "../../draw/marks.ts";
import { Inspector } from "../../panels/inspector.tsx";
import { Changes, WhatIf } from "../../panels/what-if.tsx";
import type { NetworkView } from "../../protocol.ts";
import { type Selection, selection, words } from "../../state/store.ts";
import type { ViewProps } from "../registry.ts";
import { Classes } from "./classes.tsx";
import { Group, membersOf } from "./group.tsx";
import { NetworkCanvas } from "./network-canvas.tsx";
import { Search } from "./search.tsx";
import "./view.css";
import { useMemo } from "preact/hooks";

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
  return (
    <div class="network-view">
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
          height="clamp(320px, 58vh, 720px)"
        />
        <p class="network-caption">
          {[network.placement.caption, network.sizeText].filter((text) => text !== "").join(". ")}.
        </p>
      </div>
      <aside class="network-side" aria-label="Selection and changes">
        {chosen === null ? (
          <p class="soft">
            Select an NPU, a switch or a link: its figures stand here, and it can fail or lose bandwidth. Keys on the
            picture: + - 0, arrows; Shift and an arrow go from node to node.
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
    </div>
  );
}

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
