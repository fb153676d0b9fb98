import { useMemo } from "preact/hooks";
import "./links.css";
import { formatTime } from "../../../model/numbers/units.ts";
import { count, percent } from "../../../report/amounts.ts";
import { useAnswer } from "../../parts/use-answer.ts";
import type { LoadsView, NetworkView } from "../../protocol.ts";
import { type Made, selection } from "../../state/store.ts";
import { NetworkCanvas } from "../network/network-canvas.tsx";
import type { ViewProps } from "../registry.ts";
import { heatOfWires, sharesOf, spreadByClass, spreadOf } from "./figures.ts";
import { ClassTable, LinkTables } from "./link-tables.tsx";
import { Matrices } from "./matrices.tsx";
import { OverTime } from "./over-time.tsx";

/** How busy every link is. */
export function View({ made }: ViewProps) {
  const loads = useAnswer("loads", made.schedule).value;
  if (loads.kind === "waiting") return <p class="links-none">Adding up the use of the links…</p>;
  if (loads.kind === "failed") return <p class="links-none">{loads.message}</p>;
  return <Links made={made} network={made.schedule.network ?? made.network} loads={loads.value} />;
}

interface LinksProps {
  readonly made: Made;
  readonly network: NetworkView;
  readonly loads: LoadsView;
}

function Links({ made, network, loads }: LinksProps) {
  const shares = useMemo(() => sharesOf(loads), [loads]);
  const marks = useMemo(() => ({ heat: heatOfWires(network, shares) }), [network, shares]);
  const spreads = useMemo(() => spreadByClass(network, shares), [network, shares]);
  const chosen = selection.value;
  const chosenWire = chosen?.kind === "wire" ? chosen.wire : null;
  const sentence = sentenceOf(shares, loads.totalPs);
  const onWire = (wire: number): void => {
    selection.value = { kind: "wire", wire };
  };
  return (
    <div class="links">
      <p class="links-sentence">{sentence}</p>
      <div class="links-pictures">
        <section aria-labelledby="links-matrix">
          <h3 id="links-matrix">From each node to each</h3>
          <Matrices network={network} loads={loads} shares={shares} chosenWire={chosenWire} onWire={onWire} />
        </section>
        <section aria-labelledby="links-network">
          <h3 id="links-network">On the network</h3>
          <div class="links-network">
            <NetworkCanvas
              network={network}
              label={`The network, every wire coloured by the share of the time that its busier direction was in use. ${sentence}`}
              marks={marks}
              selection={chosen}
              onSelect={(next) => {
                selection.value = next;
              }}
              height="100%"
            />
          </div>
          <p class="links-note">A wire has the colour of its busier direction.</p>
        </section>
      </div>
      <section aria-labelledby="links-time">
        <h3 id="links-time">Over time</h3>
        <OverTime made={made} network={network} loads={loads} />
      </section>
      {network.classes.length > 1 && <ClassTable network={network} spreads={spreads} />}
      <LinkTables network={network} loads={loads} shares={shares} chosenWire={chosenWire} onWire={onWire} />
    </div>
  );
}

function sentenceOf(shares: Float64Array, totalPs: number): string {
  const { links, mean, most, idle } = spreadOf(shares);
  const unused = idle === 0 ? "none is unused" : `${count(idle, "is", "are")} unused`;
  return `The ${count(links, "link")} are busy ${percent(mean)} of ${formatTime(totalPs)} in the mean, the busiest ${percent(most)}; ${unused}.`;
}
