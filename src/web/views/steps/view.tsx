import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { plainName } from "../../../report/file-name.ts";
import { ChunkField } from "../../parts/chunk-field.tsx";
import { hasNoMessages, NoMessages } from "../../parts/no-messages.tsx";
import { useAnswer } from "../../parts/use-answer.ts";
import type { HopsView } from "../../protocol.ts";
import { offerFile } from "../../state/actions.ts";
import type { Made } from "../../state/store.ts";
import type { ViewProps } from "../registry.ts";
import { chunkPalette } from "../time/chunk-colours.ts";
import { holdingsOf } from "../time/holdings.ts";
import { TransfersTable } from "../time/transfers-table.tsx";
import { useColours } from "../time/use-colours.ts";
import { ExpandedDrawing } from "./expanded-drawing.tsx";
import { expansionOf, tooLarge } from "./expansion.ts";
import "./view.css";

/** The time-expanded network of a small schedule. */
export function View({ made }: ViewProps) {
  return hasNoMessages(made) ? <NoMessages /> : <Expanded made={made} />;
}

function Expanded({ made }: { readonly made: Made }) {
  const hops = useAnswer("hops", made.schedule).value;
  if (hops.kind === "waiting") {
    return (
      <p class="steps-note" role="status">
        Laying out the schedule in time ...
      </p>
    );
  }
  const refusal = hops.kind === "failed" ? hops.message : tooLarge(made.network, hops.value);
  if (refusal !== null || hops.kind === "failed") return <p class="steps-note">{refusal}</p>;
  return <Shown made={made} hops={hops.value} />;
}

function Shown({ made: { network, words }, hops }: { readonly made: Made; readonly hops: HopsView }) {
  const drawing = useRef<SVGSVGElement>(null);
  const colours = useColours().value;
  const chosen = useSignal<number | null>(null);
  const pointed = useSignal<number | null>(null);
  const isToScale = useSignal(false);
  const holdings = useMemo(() => holdingsOf(hops, network.npuCount), [hops, network]);
  const expansion = useMemo(() => expansionOf(hops), [hops]);
  const palette = useMemo(() => chunkPalette(hops.chunkCount, colours.isDark), [hops, colours]);
  const all = useMemo(() => [...hops.chunk.keys()], [hops]);
  // chunks of another schedule are others
  useEffect(() => {
    chosen.value = null;
  }, [hops, chosen]);
  const choose = (chunk: number): void => {
    chosen.value = chunk === chosen.value ? null : chunk;
  };
  const save = (): void => {
    const text = new XMLSerializer().serializeToString(drawing.current as SVGSVGElement);
    const name = [words.topology, words.options["collective"], "expanded"].filter(Boolean).join("-");
    const content = new Blob([text], { type: "image/svg+xml" });
    void offerFile({ name: `${plainName(name)}.svg`, content });
  };
  const listed = chosen.value === null ? all : all.filter((hop) => hops.chunk[hop] === chosen.value);
  return (
    <div class="steps">
      <div class="steps-tools">
        <ChunkField chunkCount={hops.chunkCount} chosen={chosen} />
        <label>
          <input
            type="checkbox"
            checked={isToScale.value}
            onChange={({ currentTarget }) => {
              isToScale.value = currentTarget.checked;
            }}
          />
          Time to scale
        </label>
        <button type="button" onClick={save}>
          Save as SVG
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section class="steps-scroll" tabIndex={0} aria-label="Time-expanded network">
        <ExpandedDrawing
          network={network}
          holdings={holdings}
          expansion={expansion}
          colours={colours}
          palette={palette}
          chunk={pointed.value ?? chosen.value}
          isToScale={isToScale.value}
          element={drawing}
          onPoint={(chunk) => {
            pointed.value = chunk;
          }}
          onChoose={choose}
        />
      </section>
      <p class="soft steps-legend">
        A row is an NPU, a column a time at which a transfer starts or ends, an arrow a transfer in the colour of its
        chunk
        {hops.reduces.includes(1) ? "; dashed arrows add to a sum" : ""}. Point at an arrow to see where its chunk goes.
        {hops.note === "" ? "" : ` ${hops.note}`}
      </p>
      <details class="steps-table">
        <summary>Transfers as a table</summary>
        <TransfersTable
          network={network}
          holdings={holdings}
          palette={palette}
          hops={listed}
          caption={`${listed.length.toLocaleString("en")} ${listed.length === 1 ? "transfer" : "transfers"}${chosen.value === null ? "" : ` of chunk ${chosen.value}`}.`}
          chunk={chosen.value}
          onChoose={choose}
        />
      </details>
    </div>
  );
}
