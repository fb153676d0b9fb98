import { heatColour } from "../../draw/heat.ts";
import { bandsOf } from "../../draw/wire-paths.ts";
import type { NetworkView } from "../../protocol.ts";

/** What the colours and widths of wires stand for. */
export function Legend({ network, isHeat }: { readonly network: NetworkView; readonly isHeat: boolean }) {
  if (isHeat) {
    const steps = Array.from({ length: 8 }, (_, i) => i / 7);
    const scale = (isDark: boolean): string => steps.map((share) => heatColour(share, isDark)).join(",");
    return (
      <div class="network-canvas-legend">
        <span>
          idle
          <i
            class="network-canvas-scale"
            style={{
              "--scale-light": `linear-gradient(90deg,${scale(false)})`,
              "--scale-dark": `linear-gradient(90deg,${scale(true)})`,
            }}
          />
          always busy
        </span>
      </div>
    );
  }
  const bands = bandsOf(network);
  return (
    <div class="network-canvas-legend">
      {network.classes.map(({ text }, index) => (
        <span key={text}>
          <i style={{ borderTop: `${Math.max(2, bands[index].width)}px solid var(--band-${bands[index].step})` }} />
          {text}
        </span>
      ))}
    </div>
  );
}
