import { useMemo } from "preact/hooks";
import { OneOf } from "../../parts/one-of.tsx";
import type { LoadsView, NetworkView, TrafficView } from "../../protocol.ts";
import { choose } from "../../state/actions.ts";
import { MATRICES, type MatrixName } from "../../state/choices.ts";
import { selection, words } from "../../state/store.ts";
import { ABOUT_LINKS, ABOUT_TRAFFIC, trafficText } from "./about.ts";
import { npusOf, type Pairs } from "./matrix.ts";
import { MatrixPanel } from "./matrix-panel.tsx";

interface MatricesProps {
  readonly network: NetworkView;
  readonly loads: LoadsView;
  readonly shares: Float64Array;
  readonly chosenWire: number | null;
  readonly onWire: (wire: number) => void;
}

const MATRIX_NAMES: Readonly<Record<MatrixName, string>> = {
  traffic: ABOUT_TRAFFIC.title,
  links: "Use of the links",
};

/** The heat maps from each node to each. Where switches are between NPUs, links alone say little of who talks to whom. */
export function Matrices(props: MatricesProps) {
  const { network, loads } = props;
  const hasSwitches = network.nodeNames.length > network.npuCount;
  const usual = hasSwitches ? "traffic" : "links";
  const shown = loads.traffic === null ? "links" : (words.value.choices.matrix ?? usual);
  return (
    <>
      {loads.traffic !== null && (
        <OneOf
          title="What the matrix shows"
          isUntitled
          choices={MATRICES.map((name) => [name, MATRIX_NAMES[name]] as const)}
          value={shown}
          onChange={(name) => choose({ matrix: name === usual ? undefined : name })}
        />
      )}
      {shown === "traffic" && loads.traffic !== null ? (
        <TrafficMatrix network={network} traffic={loads.traffic} />
      ) : (
        <LinkMatrix {...props} />
      )}
    </>
  );
}

function LinkMatrix({ network, shares, chosenWire, onWire }: MatricesProps) {
  const { linkSource, linkTarget, wires } = network;
  const pairs = useMemo<Pairs>(
    () => ({ source: linkSource, target: linkTarget, value: shares, together: "mean" }),
    [linkSource, linkTarget, shares],
  );
  const chosen = useMemo(() => {
    if (chosenWire === null) return [];
    const [a, b] = [wires.a[chosenWire] as number, wires.b[chosenWire] as number];
    return [[a, b] as const, [b, a] as const];
  }, [wires, chosenWire]);
  return (
    <MatrixPanel
      nodes={network}
      pairs={pairs}
      about={ABOUT_LINKS}
      chosen={chosen}
      onPick={(link) => onWire(wires.ofLink[link] as number)}
    />
  );
}

const NONE: readonly never[] = [];

function TrafficMatrix({ network, traffic }: { readonly network: NetworkView; readonly traffic: TrafficView }) {
  const nodes = useMemo(() => npusOf(network), [network]);
  const pairs = useMemo<Pairs>(
    () => ({ source: traffic.source, target: traffic.target, value: traffic.bytes, together: "sum" }),
    [traffic],
  );
  const sentence = useMemo(() => trafficText(traffic, network.nodeNames), [traffic, network]);
  return (
    <>
      <p class="links-note">{sentence}</p>
      <MatrixPanel
        nodes={nodes}
        pairs={pairs}
        about={ABOUT_TRAFFIC}
        chosen={NONE}
        onPick={(pair) => {
          selection.value = { kind: "node", node: traffic.source[pair] as number };
        }}
      />
    </>
  );
}
