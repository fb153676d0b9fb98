import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { count, percent } from "../../../report/amounts.ts";
import { HeatLegend } from "../../parts/chart-heat-legend.tsx";
import { ColumnHeads } from "../../parts/column-heads.tsx";
import type { NetworkView } from "../../protocol.ts";
import { failureOf } from "../../state/client.ts";
import { type Made, selection } from "../../state/store.ts";
import { NetworkCanvas } from "../network/network-canvas.tsx";
import { copyBytesPerSecond } from "./copy-rate.ts";
import { loadUses } from "./load-trees.ts";
import type { ForestView } from "./tree-rows.ts";
import { busierWay, busiestWays, sharesOf, type Uses } from "./tree-wires.ts";

interface OverlayProps {
  readonly made: Made;
  readonly network: NetworkView;
  readonly forest: ForestView;
  readonly number: number;
  readonly trees: ReadonlySet<number>;
}

const ROWS = 12;

/** Several trees over each other: what share of each wire's bandwidth they hold. */
export function Overlay({ made, network, forest, number, trees }: OverlayProps) {
  const uses = useSignal<Uses | null>(null);
  const done = useSignal(0);
  const trouble = useSignal("");
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    done.value = 0;
    trouble.value = "";
    const show = (some: Uses, number: number): void => {
      if (signal.aborted) return;
      uses.value = some;
      done.value = number;
    };
    loadUses(made.schedule, network.wires, number, [...trees], signal, show).then(
      (all) => show(all, trees.size),
      (error) => {
        if (!signal.aborted) trouble.value = failureOf(error).message;
      },
    );
    return () => controller.abort();
  }, [made, network, number, trees, uses, done, trouble]);
  const rate = copyBytesPerSecond(made);
  const shares = useMemo(
    () => (uses.value === null ? null : sharesOf(network.wires, uses.value, rate)),
    [network, uses.value, rate],
  );
  const roots = useMemo(() => [...new Set([...trees].map((tree) => forest.root[tree] as number))], [trees, forest]);
  const marks = useMemo(() => {
    const few = roots.length <= ROWS ? roots : [];
    return {
      ...(shares === null ? {} : { heat: busierWay(shares) }),
      nodes: new Map(few.map((root) => [root, { colour: "--accent", ring: true }])),
    };
  }, [shares, roots]);
  const what =
    rate === null ? "of the trees here, on the wire used most" : "of the wire's bandwidth that these trees hold";
  const sentence = `${count(trees.size, "tree")} of ${count(roots.length, "root")} over each other.`;
  return (
    <div class="tree-picture">
      <p class="tree-picture-said" aria-live="polite">
        <strong>{sentence}</strong>{" "}
        {done.value < trees.size && trouble.value === "" ? `${done.value} are here.` : usedText(shares)}
      </p>
      {done.value < trees.size && trouble.value === "" && (
        <progress value={done.value} max={trees.size} aria-label="Trees loaded" />
      )}
      {trouble.value !== "" && <p class="trees-none">{trouble.value}</p>}
      <div class="tree-picture-canvas">
        <NetworkCanvas
          network={network}
          label={`${sentence} Wires are coloured by the share ${what}; the table below names those used most.`}
          marks={marks}
          hasLegend={false}
          selection={selection.value}
          onSelect={(next) => {
            selection.value = next;
          }}
          height="100%"
        />
      </div>
      <HeatLegend label={`share ${what} (busier direction)`} low="0 %" high="100 %" />
      {uses.value !== null && shares !== null && <UsesTable network={network} uses={uses.value} shares={shares} />}
    </div>
  );
}

function usedText(shares: Float32Array | null): string {
  if (shares === null) return "";
  const used = shares.filter((share) => share > 0);
  const full = used.filter((share) => share >= 0.9999).length;
  return `They run over ${count(used.length, "direction")} of wires${full > 0 ? `, ${full} of them full` : ""}.`;
}

interface UsesTableProps {
  readonly network: NetworkView;
  readonly uses: Uses;
  readonly shares: Float32Array;
}

/** The wires that the trees use most. */
function UsesTable({ network: { nodeNames, wires }, uses, shares }: UsesTableProps) {
  return (
    <table class="trees-table">
      <caption>Used most</caption>
      <ColumnHeads names={["Wire", "Trees", "Copies", "Share"]} />
      <tbody>
        {busiestWays(shares, ROWS).map((way) => {
          const ends = [nodeNames[wires.a[way >> 1] as number], nodeNames[wires.b[way >> 1] as number]];
          return (
            <tr key={way}>
              <th scope="row">
                <button
                  type="button"
                  onClick={() => {
                    selection.value = { kind: "wire", wire: way >> 1 };
                  }}
                >
                  {((way & 1) === 0 ? ends : ends.reverse()).join(" → ")}
                </button>
              </th>
              <td class="n">{uses.trees[way]}</td>
              <td class="n">{uses.copies[way]}</td>
              <td class="n">{percent(shares[way] as number)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
