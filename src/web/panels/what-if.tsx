import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { formatBandwidth } from "../../model/numbers/units.ts";
import { nodeFigures, nodeTitle, wayOf } from "../draw/tips.ts";
import type { NetworkView } from "../protocol.ts";
import { program, type Selection } from "../state/store.ts";
import { changes, degrade, fail, restore } from "../state/what-if.ts";
import { changeText, factorOf, linkNamesOf, type Way } from "../state/what-if-changes.ts";
import { RestoreAll } from "./restore-all.tsx";
import "./inspector.css";

interface WhatIfProps {
  readonly network: NetworkView;
  readonly chosen: Selection;
}

/** What can be changed of the selection, and what the command line calls it. */
interface Target {
  readonly title: string;
  readonly names: readonly string[];
  /** Bandwidth as it is now, both ways where they are alike. */
  readonly bytesPerSecond: number;
}

function targetOf(network: NetworkView, chosen: Selection, way: Way): Target {
  if (chosen.kind === "node") {
    const { sent, received } = nodeFigures(network, chosen.node);
    const title = nodeTitle(network, chosen.node);
    return { title, names: [network.nodeNames[chosen.node]], bytesPerSecond: Math.max(sent, received) };
  }
  const { a, b } = network.wires;
  const [nameA, nameB] = [network.nodeNames[a[chosen.wire]], network.nodeNames[b[chosen.wire]]];
  const [there, back] = [wayOf(network, chosen.wire, true), wayOf(network, chosen.wire, false)];
  const title =
    way === "both" ? `${nameA} – ${nameB}` : way === "forward" ? `${nameA} → ${nameB}` : `${nameB} → ${nameA}`;
  const rates = [...(way === "backward" ? [] : [there]), ...(way === "forward" ? [] : [back])];
  return {
    title,
    names: linkNamesOf(nameA, nameB, there.links, back.links, way),
    bytesPerSecond: Math.max(...rates.map(({ bytesPerSecond }) => bytesPerSecond)),
  };
}

/** Fails the selection, or drags its bandwidth down; the schedule follows. */
export function WhatIf({ network, chosen }: WhatIfProps) {
  const way = useSignal<Way>("both");
  const id = useId();
  const { wires, nodeNames } = network;
  const isTwoWay = chosen.kind === "wire" && wires.forward[chosen.wire] > 0 && wires.backward[chosen.wire] > 0;
  const oneWay: Way =
    chosen.kind === "wire" && !isTwoWay ? (wires.forward[chosen.wire] > 0 ? "forward" : "backward") : "both";
  const target = targetOf(network, chosen, isTwoWay ? way.value : oneWay);
  const comma = target.names.find((name) => name.includes(","));
  if (comma !== undefined) {
    return <p class="soft">{comma} has a comma in its name, so that no list can name it: it cannot be failed here.</p>;
  }
  const what = chosen.kind === "wire" ? "link" : chosen.node < network.npuCount ? "NPU" : "switch";
  const many = target.names.length;
  return (
    <section class="what-if" aria-label="What if">
      <h3>What if this {what} ...</h3>
      {isTwoWay && chosen.kind === "wire" && (
        <div class="what-if-row">
          <label for={`${id}-way`}>which way</label>
          <select
            id={`${id}-way`}
            value={way.value}
            onChange={(event) => (way.value = event.currentTarget.value as Way)}
          >
            <option value="both">both ways</option>
            <option value="forward">
              {nodeNames[wires.a[chosen.wire]]} → {nodeNames[wires.b[chosen.wire]]}
            </option>
            <option value="backward">
              {nodeNames[wires.b[chosen.wire]]} → {nodeNames[wires.a[chosen.wire]]}
            </option>
          </select>
        </div>
      )}
      <div class="what-if-row">
        <button type="button" onClick={() => void fail(target.names)}>
          {many > 1 ? `fails (all ${many} links)` : "fails"}
        </button>
        {many > 1 && (
          <button type="button" onClick={() => void fail(target.names.slice(-1))}>
            loses one of {many}
          </button>
        )}
      </div>
      <Bandwidth key={target.names.join()} target={target} />
    </section>
  );
}

/** The share of its bandwidth that a target has left, dragged or typed. */
function Bandwidth({ target }: { readonly target: Target }) {
  const id = useId();
  const factor = factorOf(changes.value, target.names);
  // what is dragged is shown at once, the network follows
  const wished = useSignal<number | null>(null);
  useEffect(() => {
    wished.value = null;
  }, [factor, wished]);
  const shown = wished.value ?? factor;
  const set = (percent: number, atOnce: boolean): void => {
    if (!(percent > 0)) return;
    const share = Math.min(100, Math.max(1, percent)) / 100;
    wished.value = share;
    degrade(target.names, share, atOnce);
  };
  const whole = target.bytesPerSecond / factor;
  return (
    <div class="what-if-slider">
      <label for={`${id}-range`}>
        has {Math.round(shown * 1000) / 10} % of its bandwidth: <b>{formatBandwidth(whole * shown)}</b>
      </label>
      <input
        id={`${id}-range`}
        type="range"
        min={5}
        max={100}
        step={5}
        value={Math.round(shown * 100)}
        aria-valuetext={`${Math.round(shown * 100)} percent, ${formatBandwidth(whole * shown)}`}
        onInput={(event) => set(event.currentTarget.valueAsNumber, false)}
      />
      <input
        type="number"
        aria-label="percent of its bandwidth"
        min={1}
        max={100}
        step={1}
        value={Math.round(shown * 1000) / 10}
        onChange={(event) => set(event.currentTarget.valueAsNumber, true)}
      />
    </div>
  );
}

/** All that was changed in the network, to be taken back; all at once where the answer is not there, which has the button. */
export function Changes() {
  const all = changes.value;
  if (all.length === 0) return null;
  return (
    <section class="what-if" aria-label="Changes of the network">
      <div class="what-if-row">
        <h3>Changed</h3>
        {program.value !== null && <RestoreAll />}
      </div>
      <ul class="what-if-list">
        {all.map((change) => (
          <li key={`${change.name}=${change.factor}`}>
            {changeText(change)}
            <button type="button" aria-label={`Restore ${change.name}`} onClick={() => void restore(change)}>
              Restore
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
