import { selection } from "../../state/store.ts";
import type { ViewProps } from "../registry.ts";
import { NetworkCanvas } from "./network-canvas.tsx";

export function View({ network }: ViewProps) {
  return (
    <NetworkCanvas
      network={network}
      label={`${network.name}: ${network.sizeText}`}
      selection={selection.value}
      onSelect={(chosen) => {
        selection.value = chosen;
      }}
      height={560}
    />
  );
}
