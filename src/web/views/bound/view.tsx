import { useSignal } from "@preact/signals";
import { useId, useMemo } from "preact/hooks";
import { formatBandwidth, formatShare, formatSize, formatTime, PS_PER_US } from "../../../model/numbers/units.ts";
import type { NetworkMarks, NodeMark } from "../../draw/marks.ts";
import { nodeTitle } from "../../draw/tips.ts";
import { OneOf } from "../../parts/one-of.tsx";
import { useAnswer } from "../../parts/use-answer.ts";
import type { AnyReport, NetworkView } from "../../protocol.ts";
import type { Made } from "../../state/store.ts";
import { NetworkCanvas } from "../network/network-canvas.tsx";
import { heldBack } from "../trees/rate-sentences.ts";
import type { ViewProps } from "../view-props.ts";
import "./view.css";
import { networkIndex, wireBetween } from "../../draw/network-index.ts";

/** Why it cannot be faster: what proves the limit, drawn where it can be, and in words. */
export function View({ made }: ViewProps) {
  const { report } = made.schedule;
  const network = made.schedule.network ?? made.network;
  const which = useSignal<"limit" | "bound">("limit");
  const index = useSignal(0);
  const id = useId();
  const areAlike = report.limit.because === report.bound.because && report.limit.us === report.bound.us;
  const shown = areAlike ? report.limit : report[which.value];
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
        No schedule {shown === report.limit ? "on this network" : "that sends whole chunks over these routes"} takes
        less than <b>{formatTime(shown.us * PS_PER_US)}</b>: {shown.because}.
      </p>
      {report.optimality < 1 && made.schedule.kind === "trees" && <HeldBack made={made} />}
      <div class="bound-main">
        <NetworkCanvas
          network={network}
          label={`${made.schedule.report.topology.name}: ${proof === undefined ? "nothing to draw of this proof" : proofText(network, proof)}`}
          height="clamp(300px, 50vh, 620px)"
          {...(marks === undefined ? {} : { marks })}
        />
        <p class="bound-caption">{proof === undefined ? undrawn(shown.kind) : proofText(network, proof)}</p>
      </div>
      <aside class="bound-side" aria-label="Figures of the proof">
        {!areAlike && (
          <OneOf
            title="Proved for"
            choices={[
              ["limit", `any algorithm: ${formatTime(report.limit.us * PS_PER_US)}`],
              ["bound", `whole chunks over these routes: ${formatTime(report.bound.us * PS_PER_US)}`],
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
  const { us } = schedule.report.simulated ?? schedule.report.time;
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
  const took = (report.simulated ?? report.time).us;
  const rows: [string, string][] = [
    ["Proved least time", formatTime(shown.us * PS_PER_US)],
    [
      report.simulated === null ? "This schedule, as planned" : "This schedule, simulated",
      formatTime(took * PS_PER_US),
    ],
    ...(took > 0 ? ([["Of what is possible", formatShare(shown.us / took)]] as [string, string][]) : []),
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
  return bytes === null ? demand : formatSize(Number(bytes[1]));
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
  return switches === 0 ? first : `${first} and ${switches} ${switches === 1 ? "switch" : "switches"}`;
}

function proofText(network: NetworkView, proof: Proof): string {
  if (proof.kind === "cut") {
    const verb = proof.direction === "in" ? "Into" : "Out of";
    return `${verb} the marked set (${cutTitle(network, proof)}) all must pass over the links drawn strongly: this is why it cannot be faster.`;
  }
  if (proof.kind === "path") {
    const links = `${proof.steps.length} ${proof.steps.length === 1 ? "link" : "links"}`;
    return `A way of least latency is drawn: ${links}, ${formatTime(proof.latencyPs)} before the first byte arrives.`;
  }
  return `The colour is each link's length in the proof; ${proof.used} links have one. What is sent takes up the distance that it goes, and there is only so much length times bandwidth.`;
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

/** What proves a bound, as far as it can be drawn. */
type Proof =
  | {
      readonly kind: "cut";
      readonly nodes: readonly number[];
      readonly direction: "in" | "out";
      readonly weight: string;
    }
  | { readonly kind: "path"; readonly steps: readonly Step[]; readonly latencyPs: number }
  | { readonly kind: "lengths"; readonly ofWire: Float32Array; readonly used: number };

/** A wire, and the way along it. */
interface Step {
  readonly wire: number;
  readonly forward: boolean;
}

/** Returns what of a bound's witness can be drawn on a network: none for those that are words only. O(links log links). */
export function proofsOf(network: NetworkView, { witness }: AnyReport["limit"]): Proof[] {
  const { kind } = witness;
  if (kind === "cut" || kind === "tail") {
    const cut = cutOf(network, witness, Number(witness["nodeCount"]));
    return cut === null ? [] : [cut];
  }
  if (kind === "dual" && Array.isArray(witness["cuts"])) {
    return witness["cuts"].flatMap((given: Readonly<Record<string, unknown>>) => cutOf(network, given) ?? []);
  }
  if (kind === "latency") {
    const path = quickestPath(network, String(witness["from"]), String(witness["to"]));
    return path === null ? [] : [path];
  }
  if (kind === "lengths" && Array.isArray(witness["lengths"])) return [lengthsOf(network, witness["lengths"])];
  return [];
}

function cutOf(
  network: NetworkView,
  { nodes, direction, weight }: Readonly<Record<string, unknown>>,
  count?: number,
): Proof | null {
  if (!Array.isArray(nodes) || (direction !== "in" && direction !== "out")) return null;
  const { nodeOf } = networkIndex(network);
  const found = nodes.flatMap((name) => nodeOf.get(String(name)) ?? []);
  // a list that was cut short is no cut
  if (found.length === 0 || found.length !== (count ?? nodes.length)) return null;
  return { kind: "cut", nodes: found, direction, weight: weight === undefined ? "" : String(weight) };
}

function lengthsOf(network: NetworkView, lengths: readonly number[]): Proof {
  const ofWire = new Float32Array(network.wires.a.length);
  const most = lengths.reduce((a, b) => Math.max(a, b), 0);
  let used = 0;
  lengths.forEach((length, link) => {
    const wire = network.wires.ofLink[link];
    if (length > 0) used++;
    ofWire[wire] = Math.max(ofWire[wire], most === 0 ? 0 : length / most);
  });
  return { kind: "lengths", ofWire, used };
}

/** Returns a way of least latency between two nodes, of fewest links among those; null where there is none. */
function quickestPath(network: NetworkView, from: string, to: string): Proof | null {
  const { nodeOf } = networkIndex(network);
  const [start, end] = [nodeOf.get(from), nodeOf.get(to)];
  if (start === undefined || end === undefined) return null;
  const { linkSource, linkTarget, linkLatencyPs } = network;
  const outgoing: number[][] = network.nodeNames.map(() => []);
  linkSource.forEach((node, link) => {
    outgoing[node].push(link);
  });
  const least = new Float64Array(outgoing.length).fill(Number.POSITIVE_INFINITY);
  const by = new Int32Array(outgoing.length).fill(-1);
  least[start] = 0;
  const open = new Set([start]);
  while (open.size > 0) {
    let node = -1;
    for (const candidate of open) if (node < 0 || least[candidate] < least[node]) node = candidate;
    open.delete(node);
    if (node === end) break;
    for (const link of outgoing[node]) {
      // one more than the latency, so that links without one count
      const there = least[node] + linkLatencyPs[link] + 1;
      if (there >= least[linkTarget[link]]) continue;
      least[linkTarget[link]] = there;
      by[linkTarget[link]] = link;
      open.add(linkTarget[link]);
    }
  }
  if (by[end] < 0) return null;
  const steps: Step[] = [];
  let latencyPs = 0;
  for (let node = end; node !== start; node = linkSource[by[node]]) {
    const source = linkSource[by[node]];
    latencyPs += linkLatencyPs[by[node]];
    steps.unshift({ wire: wireBetween(network, source, node), forward: source < node });
  }
  return { kind: "path", steps, latencyPs };
}

/** Wires that cross a cut, with the bandwidth in its direction. */
interface Crossing extends Step {
  readonly bytesPerSecond: number;
}

/** Returns the wires over which data can cross a cut in its direction, ascending. O(wires). */
export function crossingsOf(network: NetworkView, nodes: readonly number[], direction: "in" | "out"): Crossing[] {
  const isInside = new Uint8Array(network.nodeNames.length);
  for (const node of nodes) isInside[node] = 1;
  const { a, b, forward, backward } = network.wires;
  const found: Crossing[] = [];
  for (let wire = 0; wire < a.length; wire++) {
    if (isInside[a[wire]] === isInside[b[wire]]) continue;
    const isForward = (isInside[b[wire]] === 1) === (direction === "in");
    const bytesPerSecond = isForward ? forward[wire] : backward[wire];
    if (bytesPerSecond > 0) found.push({ wire, forward: isForward, bytesPerSecond });
  }
  return found;
}

/** Returns how many crossings there are of each bandwidth, and what they carry together; fast ones first. */
export function crossingClasses(
  crossings: readonly Crossing[],
): { readonly bytesPerSecond: number; readonly count: number; readonly total: number }[] {
  const counts = new Map<number, number>();
  for (const { bytesPerSecond } of crossings) counts.set(bytesPerSecond, (counts.get(bytesPerSecond) ?? 0) + 1);
  return [...counts]
    .sort(([one], [other]) => other - one)
    .map(([bytesPerSecond, count]) => ({ bytesPerSecond, count, total: bytesPerSecond * count }));
}
