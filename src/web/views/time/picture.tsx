import type { ReadonlySignal } from "@preact/signals";
import { formatTime } from "../../../model/numbers/units.ts";
import type { NetworkView } from "../../protocol.ts";
import type { Selection } from "../../state/store.ts";
import { NetworkCanvas } from "../network/network-canvas.tsx";
import type { ChunkPalette } from "./chunk-colours.ts";
import type { Fill } from "./fill.ts";
import type { Holdings } from "./holdings.ts";
import { marksAt } from "./time-marks.ts";
import type { UnderWay } from "./under-way.ts";

interface Props {
  readonly network: NetworkView;
  readonly holdings: Holdings;
  readonly fill: Fill;
  readonly underWay: UnderWay;
  readonly palette: ChunkPalette;
  readonly time: ReadonlySignal<number>;
  readonly slowTime: ReadonlySignal<number>;
  readonly chunk: number | null;
  readonly selection: Selection | null;
  readonly onSelect: (selection: Selection | null) => void;
}

/** The network at the player's time; the only part that is drawn for every frame. */
export function Picture(props: Props) {
  const { network, holdings, fill, underWay, palette, time, slowTime, chunk, selection, onSelect } = props;
  const now = time.value;
  const npu = selection?.kind === "node" && selection.node < network.npuCount ? selection.node : null;
  const active = underWay.at(now);
  const marks = marksAt({ network, holdings, palette, time: now, active, shares: fill.at(now), chunk, npu });
  return (
    <NetworkCanvas
      network={network}
      label={`The schedule on the network at ${formatTime(Math.round(slowTime.value))}; the tables below say the same.`}
      marks={marks}
      selection={selection}
      onSelect={onSelect}
      height="100%"
      hasLegend={false}
    />
  );
}
