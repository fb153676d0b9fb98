import { network } from "./state/store.ts";
import { NetworkCanvas } from "./views/network/network-canvas.tsx";

/** The whole page. */
export function App() {
  return (
    <main>{network.value === null ? "..." : <NetworkCanvas network={network.value} label={network.value.name} />}</main>
  );
}
