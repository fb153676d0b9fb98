import { type Signal, useSignal } from "@preact/signals";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { formatTime, PS_PER_US } from "../../../model/numbers/units.ts";
import { roundedSize } from "../../../report/amounts.ts";
import { ChunkField } from "../../parts/chunk-field.tsx";
import { colours } from "../../parts/colours.ts";
import { hasNoMessages, NoMessages } from "../../parts/no-messages.tsx";
import { type Pane, Panes } from "../../parts/panes/panes.tsx";
import { useAnswer } from "../../parts/use-answer.ts";
import type { HopsView, NetworkView, TimelineView } from "../../protocol.ts";
import { type Made, selection } from "../../state/store.ts";
import type { ViewProps } from "../view-props.ts";
import { ChartPanel } from "./chart-panel.tsx";
import { type ChunkPalette, chunkPalette } from "./chunk-colours.ts";
import { ChunkPanel, NpuPanel } from "./holding-panels.tsx";
import { Fill, type Holdings, holdingsOf, UnderWay } from "./holdings.ts";
import { type Playing, usePlayer } from "./player.ts";
import { TransfersTable } from "./transfers-table.tsx";
import { Transport } from "./transport.tsx";
import "./view.css";
import { NetworkCanvas } from "../network/network-canvas.tsx";
import { marksAt } from "./time-marks.ts";

/** The schedule in time: on the network, as a chart, and as tables. */
export function View({ made }: ViewProps) {
  return hasNoMessages(made) ? <NoMessages /> : <InTime made={made} />;
}

function InTime({ made }: { readonly made: Made }) {
  const timeline = useAnswer("timeline", made.schedule).value;
  const hops = useAnswer("hops", made.schedule).value;
  if (timeline.kind === "waiting" || hops.kind === "waiting")
    return (
      <p class="time-wait" role="status">
        Laying out the schedule in time ...
      </p>
    );
  if (timeline.kind === "failed" && hops.kind === "failed")
    return <Refused messages={[timeline.message, hops.message]} />;
  return (
    <Shown
      made={made}
      timeline={timeline.kind === "here" ? timeline.value : timeline.message}
      hops={hops.kind === "here" ? hops.value : hops.message}
    />
  );
}

const Refused = ({ messages }: { readonly messages: readonly string[] }) => (
  <div class="time-refused" role="note">
    {[...new Set(messages)].map((message) => (
      <p key={message}>{message}</p>
    ))}
  </div>
);

function underWayText(count: number, time: number, bytes: number): string {
  const at = formatTime(Math.round(time));
  if (count === 0) return `Nothing is under way at ${at}.`;
  const are = count === 1 ? "transfer is" : "transfers are";
  return `${count.toLocaleString("en")} ${are} under way at ${at}, of ${roundedSize(Math.round(bytes))} each.`;
}

interface ShownProps {
  readonly made: Made;
  /** Or why they cannot be shown. */
  readonly timeline: TimelineView | string;
  readonly hops: HopsView | string;
}

/** What is known of a schedule at any time. */
interface World {
  readonly holdings: Holdings;
  readonly fill: Fill;
  readonly underWay: UnderWay;
}

function Shown({ made: { network, schedule }, timeline, hops }: ShownProps) {
  const root = useRef<HTMLDivElement>(null);
  const { isDark } = colours.value;
  const chunk = useSignal<number | null>(null);
  const view = typeof hops === "string" ? null : hops;
  const chunkCount = view?.chunkCount ?? schedule.chunkCount;
  const world = useMemo<World | null>(() => {
    if (view === null) return null;
    const holdings = holdingsOf(view, network.npuCount);
    return { holdings, fill: new Fill(holdings), underWay: new UnderWay(view) };
  }, [view, network]);
  const palette = useMemo(() => chunkPalette(chunkCount, isDark), [chunkCount, isDark]);
  const totalPs = view?.totalPs ?? (timeline as TimelineView).totalPs;
  const owns = useCallback(
    (target: EventTarget | null): boolean =>
      target instanceof Element &&
      (target === document.body || target.id === "tab-time" || root.current?.contains(target) === true),
    [],
  );
  const player = usePlayer(totalPs, world?.underWay ?? null, owns);
  const slow = player.slowTime.value;
  const active = useMemo(() => world?.underWay.at(slow) ?? [], [world, slow]);

  // chunks of another schedule are others
  useEffect(() => {
    chunk.value = null;
  }, [schedule, chunk]);
  const chosen = selection.value;
  const npu = chosen?.kind === "node" && chosen.node < network.npuCount ? chosen.node : null;
  const choose = (next: number): void => {
    chunk.value = next === chunk.value ? null : next;
  };

  const picture: Pane | null = world && {
    ...{ name: "network", title: "Network", wide: 44, tall: 62 },
    content: <Picture network={network} {...world} palette={palette} player={player} chunk={chunk.value} />,
  };
  const holders: Pane | null = world && {
    ...{ name: "holders", title: "Who holds what", wide: 22, tall: 38 },
    content: (
      <div class="time-side">
        <Side
          id={schedule.ref.id}
          {...{ network, palette, active, chunk, npu }}
          holdings={world.holdings}
          time={slow}
          onChunk={choose}
        />
        <details class="time-table">
          <summary>Transfers under way as a table</summary>
          <TransfersTable
            network={network}
            holdings={world.holdings}
            palette={palette}
            hops={active}
            caption={underWayText(active.length, slow, world.holdings.hops.chunkBytes)}
            chunk={chunk.value}
            onChoose={choose}
          />
        </details>
      </div>
    ),
  };
  const chart: Pane | null =
    typeof timeline === "string"
      ? null
      : {
          ...{ name: "timeline", title: "Timeline", wide: 56, tall: 60 },
          content: (
            <ChartPanel
              {...{ network, timeline, chunkCount, player, isDark, npu }}
              hops={view}
              boundPs={schedule.report.limit.us * PS_PER_US}
              chunk={chunk.value}
              onChoose={choose}
            />
          ),
        };
  const panes = [picture, chart, holders].filter((pane) => pane !== null);
  const there = (columns: readonly (readonly string[])[]) =>
    columns
      .map((column) => column.filter((name) => panes.some((pane) => pane.name === name)))
      .filter((column) => column.length > 0);
  return (
    <div class="time" ref={root}>
      <Transport {...player} />
      {world === null && <Refused messages={[hops as string]} />}
      {typeof timeline === "string" && <Refused messages={[timeline]} />}
      <Panes name="time" panes={panes} columns={there(BESIDE)} wideColumns={there(BESIDE_ON_WIDE)} />
    </div>
  );
}

/** How the panes stand beside each other, and how where there is much room. */
const BESIDE = [["network", "holders"], ["timeline"]];
const BESIDE_ON_WIDE = [["network"], ["timeline"], ["holders"]];

const chooseNpu = (node: number): void => {
  selection.value = { kind: "node", node };
};

interface SideProps {
  /** Of the schedule. */
  readonly id: string;
  readonly network: NetworkView;
  readonly holdings: Holdings;
  readonly palette: ChunkPalette;
  /** Hops under way. */
  readonly active: readonly number[];
  readonly time: number;
  readonly chunk: Signal<number | null>;
  readonly npu: number | null;
  readonly onChunk: (chunk: number) => void;
}

/** Which chunk and which NPU are looked at, and who holds what. */
function Side({ id, network, holdings, palette, active, time, chunk, npu, onChunk }: SideProps) {
  return (
    <aside aria-label="Who holds what">
      <div class="time-choice">
        <ChunkField key={id} chunkCount={holdings.hops.chunkCount} chosen={chunk} />
        <label>
          NPU
          <select
            value={npu ?? ""}
            onChange={({ currentTarget: { value } }) => {
              selection.value = value === "" ? null : { kind: "node", node: Number(value) };
            }}
          >
            <option value="">none</option>
            {network.nodeNames.slice(0, network.npuCount).map((name, node) => (
              <option key={name} value={node}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {chunk.value === null && npu === null && (
        <p class="soft">
          NPUs fill up with what they are to have in the end. Choose a chunk (a bar of the timeline, or its number) to
          see who holds it and how it came there; choose an NPU (in the network) to see what it holds, sends and
          receives.
        </p>
      )}
      {chunk.value !== null && (
        <ChunkPanel {...{ network, holdings, palette, time }} chunk={chunk.value} onNpu={chooseNpu} />
      )}
      {npu !== null && (
        <NpuPanel
          {...{ network, holdings, palette, active, time, npu, onChunk }}
          chunk={chunk.value}
          onNpu={chooseNpu}
        />
      )}
    </aside>
  );
}

interface PictureProps extends World {
  readonly network: NetworkView;
  readonly palette: ChunkPalette;
  readonly player: Playing;
  readonly chunk: number | null;
}

/** The network at the player's time; the only part that is drawn for every frame. */
function Picture({ network, holdings, fill, underWay, palette, player, chunk }: PictureProps) {
  const now = player.time.value;
  const chosen = selection.value;
  const npu = chosen?.kind === "node" && chosen.node < network.npuCount ? chosen.node : null;
  const active = underWay.at(now);
  const marks = marksAt({ network, holdings, palette, time: now, active, shares: fill.at(now), chunk, npu });
  return (
    <NetworkCanvas
      network={network}
      label={`The schedule on the network at ${formatTime(Math.round(player.slowTime.value))}; the tables below say the same.`}
      marks={marks}
      selection={chosen}
      onSelect={(next) => {
        selection.value = next;
      }}
      height="100%"
      hasLegend={false}
    />
  );
}
