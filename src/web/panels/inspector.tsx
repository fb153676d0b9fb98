import { formatBandwidth } from "../../model/numbers/units.ts";
import { wiresAt } from "../draw/network-index.ts";
import { nodeFigures, nodeTitle, wayOf, wayText, wireTitle } from "../draw/tips.ts";
import type { NetworkView } from "../protocol.ts";
import type { Selection } from "../state/store.ts";
import "./inspector.css";

interface InspectorProps {
  readonly network: NetworkView;
  readonly chosen: Selection;
  readonly onChoose: (chosen: Selection) => void;
}

/** So many links of a node are listed. */
const MOST_LISTED = 200;

/** What is known of the selected node or wire, with its neighbours to go on to. */
export function Inspector({ network, chosen, onChoose }: InspectorProps) {
  return chosen.kind === "node" ? (
    <NodeFacts network={network} node={chosen.node} onChoose={onChoose} />
  ) : (
    <WireFacts network={network} wire={chosen.wire} onChoose={onChoose} />
  );
}

type Choosing = Pick<InspectorProps, "network" | "onChoose">;

function NodeFacts({ network, node, onChoose }: Choosing & { readonly node: number }) {
  const { sent, received } = nodeFigures(network, node);
  const wires = wiresAt(network, node);
  const { a, b, forward, backward } = network.wires;
  const group = network.nodeGroup[node];
  const traits = network.nodeTraits[node];
  const skills = [...(traits & 1 ? ["duplicates"] : []), ...(traits & 2 ? ["sums"] : [])];
  const isNpu = node < network.npuCount;
  return (
    <section class="inspector" aria-label="Selection">
      <h3>{nodeTitle(network, node)}</h3>
      <dl class="inspector-figures">
        <dt>Kind</dt>
        <dd>{isNpu ? `NPU, id ${node}` : ["switch", ...skills].join(", ")}</dd>
        {group >= 0 && (
          <>
            <dt>Box</dt>
            <dd>{network.groups[group]}</dd>
          </>
        )}
        <dt>Sends</dt>
        <dd>{formatBandwidth(sent)}</dd>
        <dt>Receives</dt>
        <dd>{formatBandwidth(received)}</dd>
        <dt>Linked with</dt>
        <dd>{wires.length === 1 ? "1 node" : `${wires.length} nodes`}</dd>
      </dl>
      <ul class="inspector-links" aria-label="Links">
        {Array.from(wires.subarray(0, MOST_LISTED), (wire) => {
          const isA = a[wire] === node;
          const [there, back] = isA ? [forward[wire], backward[wire]] : [backward[wire], forward[wire]];
          const rates =
            there === back
              ? `⇄ ${formatBandwidth(there)}`
              : [
                  ...(there > 0 ? [`→ ${formatBandwidth(there)}`] : []),
                  ...(back > 0 ? [`← ${formatBandwidth(back)}`] : []),
                ].join(" ");
          return (
            <li key={wire}>
              <button type="button" onClick={() => onChoose({ kind: "wire", wire })}>
                {nodeTitle(network, isA ? b[wire] : a[wire])} <span>{rates}</span>
              </button>
            </li>
          );
        })}
      </ul>
      {wires.length > MOST_LISTED && <p class="soft">and {wires.length - MOST_LISTED} more</p>}
    </section>
  );
}

function WireFacts({ network, wire, onChoose }: Choosing & { readonly wire: number }) {
  const ends = [network.wires.a[wire], network.wires.b[wire]];
  const [a, b] = ends.map((node) => network.nodeNames[node]);
  return (
    <section class="inspector" aria-label="Selection">
      <h3>Link {wireTitle(network, wire)}</h3>
      <dl class="inspector-figures">
        <dt>
          {a} → {b}
        </dt>
        <dd>{wayText(wayOf(network, wire, true))}</dd>
        <dt>
          {b} → {a}
        </dt>
        <dd>{wayText(wayOf(network, wire, false))}</dd>
      </dl>
      <div class="what-if-row">
        {ends.map((node) => (
          <button key={node} type="button" onClick={() => onChoose({ kind: "node", node })}>
            {nodeTitle(network, node)}
          </button>
        ))}
      </div>
    </section>
  );
}
