import { formatBandwidth, formatTime } from "../../../model/numbers/units.ts";
import { percent } from "../../../report/amounts.ts";
import { ColumnHeads } from "../../parts/column-heads.tsx";
import type { LoadsView, NetworkView } from "../../protocol.ts";
import { extremes, type Spread } from "./figures.ts";

interface LinkTablesProps {
  readonly network: NetworkView;
  readonly loads: LoadsView;
  readonly shares: Float64Array;
  readonly chosenWire: number | null;
  readonly onWire: (wire: number) => void;
}

const ROWS = 10;
/** Shares that differ by less are the same to the eye. */
const SAME = 5e-5;

/** The busiest and the idlest links. */
export function LinkTables(props: LinkTablesProps) {
  const { busiest, idlest } = extremes(props.shares, ROWS);
  const [first, last] = [busiest[0], idlest[0] ?? busiest[busiest.length - 1]];
  if (first !== undefined && last !== undefined && props.shares[first] - props.shares[last] < SAME)
    return <p>{`All ${props.shares.length} links are equally busy: ${percent(props.shares[first])} of the time.`}</p>;
  return (
    <div class="links-pair">
      <LinkTable {...props} caption={`The ${busiest.length} busiest links`} links={busiest} />
      {idlest.length > 0 && <LinkTable {...props} caption={`The ${idlest.length} idlest`} links={idlest} />}
    </div>
  );
}

interface LinkTableProps extends LinkTablesProps {
  readonly caption: string;
  readonly links: readonly number[];
}

function LinkTable({ network, loads, shares, chosenWire, onWire, caption, links }: LinkTableProps) {
  const { nodeNames, linkSource, linkTarget, linkBytesPerSecond, wires } = network;
  return (
    <div class="links-scroll">
      <table class="links-table">
        <caption>{caption}</caption>
        <ColumnHeads names={["Link", "Bandwidth", "Busy for", "Share"]} />
        <tbody>
          {links.map((link) => (
            <tr key={link} data-chosen={wires.ofLink[link] === chosenWire}>
              <th scope="row">
                <button type="button" onClick={() => onWire(wires.ofLink[link])}>
                  {`${nodeNames[linkSource[link]]} → ${nodeNames[linkTarget[link]]}`}
                </button>
              </th>
              <td class="n">{formatBandwidth(linkBytesPerSecond[link])}</td>
              <td class="n">{formatTime(Math.round(loads.busyPs[link]))}</td>
              <td class="n">
                <Share value={shares[link]} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A share as a number over a bar. */
const Share = ({ value }: { readonly value: number }) => (
  <span class="links-share" style={{ "--share": `${100 * Math.min(1, value)}%` }}>
    {percent(value)}
  </span>
);

/** Mean and greatest use of each class of links. */
export function ClassTable({
  network,
  spreads,
}: {
  readonly network: NetworkView;
  readonly spreads: readonly Spread[];
}) {
  return (
    <div class="links-scroll">
      <table class="links-table">
        <caption>By class of bandwidth</caption>
        <ColumnHeads names={["Class", "Links", "Mean", "Busiest", "Unused"]} />
        <tbody>
          {spreads.map(({ links, mean, most, idle }, i) => (
            <tr key={network.classes[i]?.text}>
              <th scope="row">{network.classes[i]?.text}</th>
              <td class="n">{links}</td>
              <td class="n">
                <Share value={mean} />
              </td>
              <td class="n">{percent(most)}</td>
              <td class="n">{idle}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
