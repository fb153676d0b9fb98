import { useSignal } from "@preact/signals";
import { useId, useMemo } from "preact/hooks";
import { formatBandwidth, formatShare, formatTime, PS_PER_US } from "../../../model/numbers/units.ts";
import { count, roundedSize } from "../../../report/amounts.ts";
import type { NetworkMarks, NodeMark } from "../../draw/marks.ts";
import { nodeTitle } from "../../draw/tips.ts";
import { OneOf } from "../../parts/one-of.tsx";
import { useAnswer } from "../../parts/use-answer.ts";
import type { AnyReport, NetworkView } from "../../protocol.ts";
import type { Made } from "../../state/store.ts";
import { NetworkCanvas } from "../network/network-canvas.tsx";
import { heldBack } from "../trees/trees.ts";
import type { ViewProps } from "../view-props.ts";
import { crossingClasses, crossingsOf, type Proof, proofsOf } from "./witness.ts";
import "./view.css";

/** Why it cannot be faster: what proves the limit, drawn where it can be, and in words. */
export function View({ made }: ViewProps) {
  const { report } = made.schedule;
  const network = made.schedule.network ?? made.network;
  const which = useSignal<"limit" | "classLimit">("limit");
  const index = useSignal(0);
  const id = useId();
  const { limit, classLimit } = report;
  const shown = which.value === "limit" || classLimit === null ? limit : classLimit;
  const proofs = useMemo(() => proofsOf(network, shown), [network, shown]);
  const proof = proofs[Math.min(index.value, proofs.length - 1)];
  const marks = useMemo(() => (proof === undefined ? undefined : marksOf(network, proof)), [network, proof]);
  const crossings = useMemo(
    () => (proof?.kind === "cut" ? crossingsOf(network, proof.nodes, proof.direction) : []),
    [network, proof],
  );
  return (
    <div class="bound-view">
      <p class="bound-sentence">
        No schedule {shown === classLimit ? `with ${classLimit.holdsFor}` : "on this network"} takes less than{" "}
        <b>{formatTime(shown.us * PS_PER_US)}</b>: {shown.because}.
      </p>
      {report.throughput !== undefined && report.throughput.ofBound < 1 && <HeldBack made={made} />}
      <div class="bound-main">
        <NetworkCanvas
          network={network}
          label={`${made.schedule.report.topology.name}: ${proof === undefined ? "nothing to draw of this proof" : proofText(network, proof)}`}
          height="clamp(300px, 100dvh - 400px, 1740px)"
          {...(marks === undefined ? {} : { marks })}
        />
        <p class="bound-caption">{proof === undefined ? undrawn(shown.kind) : proofText(network, proof)}</p>
      </div>
      <aside class="bound-side" aria-label="Figures of the proof">
        {classLimit !== null && (
          <OneOf
            title="Proved for"
            choices={[
              ["limit", `any algorithm: ${formatTime(limit.us * PS_PER_US)}`],
              ["classLimit", `${classLimit.holdsFor}: ${formatTime(classLimit.us * PS_PER_US)}`],
            ]}
            value={which.value}
            onChange={(name) => {
              which.value = name;
              index.value = 0;
            }}
          />
        )}
        {proofs.length > 1 && (
          <label class="bound-choice" for={`${id}-cut`}>
            Cut{" "}
            <select
              id={`${id}-cut`}
              value={index.value}
              onChange={(event) => (index.value = Number(event.currentTarget.value))}
            >
              {proofs.map((cut, i) => (
                <option key={i} value={i}>
                  {i + 1} of {proofs.length}
                  {cut.kind === "cut"
                    ? `: ${cutTitle(network, cut)}${cut.weight === "" ? "" : `, weight ${cut.weight}`}`
                    : ""}
                </option>
              ))}
            </select>
          </label>
        )}
        <Figures report={report} shown={shown} network={network} proof={proof} across={total(crossings)} />
        {crossings.length > 0 && <Crossings crossings={crossings} />}
      </aside>
    </div>
  );
}

/** Why trees that do not reach the bound take longer than it. */
function HeldBack({ made: { schedule } }: { readonly made: Made }) {
  const answer = useAnswer("trees", schedule).value;
  if (answer.kind !== "here") return null;
  const { us } = schedule.report.time;
  return (
    <p class="bound-sentence">
      {`This schedule takes ${formatTime(us * PS_PER_US)}. ${heldBack(answer.value.fullest)}`}
    </p>
  );
}

const total = (crossings: readonly { readonly bytesPerSecond: number }[]): number =>
  crossings.reduce((sum, { bytesPerSecond }) => sum + bytesPerSecond, 0);

function Figures(props: {
  readonly report: AnyReport;
  readonly shown: AnyReport["limit"];
  readonly network: NetworkView;
  readonly proof: Proof | undefined;
  readonly across: number;
}) {
  const { report, shown, network, proof, across } = props;
  const { demand } = shown.witness;
  const took = report.time.us;
  const rows: [string, string][] = [
    ["Proved least time", formatTime(shown.us * PS_PER_US)],
    [report.ofLimit === null ? "This schedule, as planned" : "This schedule, simulated", formatTime(took * PS_PER_US)],
    ...(took > 0
      ? ([[shown === report.limit ? "Of the limit" : "Of its class", formatShare(shown.us / took)]] as [
          string,
          string,
        ][])
      : []),
    ...(proof?.kind === "cut" ? ([["Inside", cutTitle(network, proof)]] as [string, string][]) : []),
    ...(typeof demand === "string" ? ([["Must cross", bytesText(demand)]] as [string, string][]) : []),
    ...(across > 0 ? ([["Bandwidth across", formatBandwidth(across)]] as [string, string][]) : []),
  ];
  return (
    <dl class="bound-figures">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Returns "64 MiB" for "67108864 bytes"; other amounts as they are. */
function bytesText(demand: string): string {
  const bytes = /^(\d+) bytes$/.exec(demand);
  return bytes === null ? demand : roundedSize(Number(bytes[1]));
}

function Crossings({ crossings }: { readonly crossings: ReturnType<typeof crossingsOf> }) {
  const classes = crossingClasses(crossings);
  return (
    <table class="bound-crossings">
      <caption>What crosses the cut, in the direction that counts</caption>
      <thead>
        <tr>
          <th>Bandwidth</th>
          <th>Pairs of nodes</th>
          <th>Together</th>
        </tr>
      </thead>
      <tbody>
        {classes.map(({ bytesPerSecond, count, total: sum }) => (
          <tr key={bytesPerSecond}>
            <td>{formatBandwidth(bytesPerSecond)}</td>
            <td>{count}</td>
            <td>{formatBandwidth(sum)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">All</th>
          <td>{crossings.length}</td>
          <td>{formatBandwidth(total(crossings))}</td>
        </tr>
      </tfoot>
    </table>
  );
}

function cutTitle(network: NetworkView, { nodes }: Extract<Proof, { kind: "cut" }>): string {
  const npus = nodes.filter((node) => node < network.npuCount);
  const switches = nodes.length - npus.length;
  const first = npus.length === 1 ? nodeTitle(network, npus[0]) : `${npus.length} NPUs`;
  return switches === 0 ? first : `${first} and ${count(switches, "switch", "switches")}`;
}

function proofText(network: NetworkView, proof: Proof): string {
  if (proof.kind === "cut") {
    const verb = proof.direction === "in" ? "Into" : "Out of";
    return `${verb} the marked set (${cutTitle(network, proof)}) everything must cross the highlighted links: this is why it cannot be faster.`;
  }
  if (proof.kind === "path") {
    return `A path of least latency is drawn: ${count(proof.steps.length, "link")}, ${formatTime(proof.latencyPs)} before the first byte arrives.`;
  }
  if (proof.kind === "partition") {
    const way = proof.side === "out" ? "leave" : "enter";
    return `The NPUs are in ${proof.parts} sets; the links that ${way} one are highlighted. All that the sets send each other must cross them.`;
  }
  return `The colour is each link's length in the proof; ${proof.used} links have one. What is sent takes up the distance that it goes, and length times bandwidth is limited.`;
}

function undrawn(kind: string): string {
  if (kind === "work") return "All links together are the bottleneck, so no part of the picture stands out.";
  if (kind === "program") return "A program without a solution proves it: there is nothing to draw.";
  if (kind === "nothing") return "Nothing has to be sent.";
  return "What proves it is too large to be drawn, or has no place on the network.";
}

function marksOf(network: NetworkView, proof: Proof): NetworkMarks {
  if (proof.kind === "lengths") return { heat: proof.ofWire };
  if (proof.kind === "cut") {
    const mark: NodeMark = { colour: "--cut" };
    const wires = crossingsOf(network, proof.nodes, proof.direction);
    return {
      nodes: new Map(proof.nodes.map((node) => [node, mark])),
      wires: wires.map(({ wire, forward }) => ({ wire, forward, colour: "--cut" })),
      fadeOthers: true,
    };
  }
  if (proof.kind === "partition")
    return { wires: proof.steps.map((step) => ({ ...step, colour: "--cut" })), fadeOthers: true };
  const ends = proof.steps.flatMap(({ wire, forward }) => {
    const { a, b } = network.wires;
    return forward ? [a[wire], b[wire]] : [b[wire], a[wire]];
  });
  return {
    nodes: new Map([ends[0], ends[ends.length - 1]].map((node) => [node, { colour: "--cut" }])),
    wires: proof.steps.map((step) => ({ ...step, colour: "--cut", width: 3 })),
    fadeOthers: true,
  };
}
