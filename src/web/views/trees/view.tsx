import { useSignal } from "@preact/signals";
import "./trees.css";
import { OneOf } from "../../parts/one-of.tsx";
import { useAnswer } from "../../parts/use-answer.ts";
import type { TreesView } from "../../protocol.ts";
import type { Made } from "../../state/store.ts";
import type { ViewProps } from "../registry.ts";
import { ForestPanel } from "./forest-panel.tsx";
import { NoTrees } from "./no-trees.tsx";

/** The trees along which the data flows. */
export function View({ made }: ViewProps) {
  const schedule = made.schedule.kind === "trees" ? made.schedule : null;
  const answer = useAnswer("trees", schedule).value;
  if (schedule === null) return <NoTrees made={made} />;
  if (answer.kind === "waiting") return <p class="trees-none">Listing the trees…</p>;
  if (answer.kind === "failed") return <p class="trees-none">{answer.message}</p>;
  return <Forests made={made} trees={answer.value} />;
}

const NAMES = { out: "From the roots to all", in: "From all to the roots" } as const;

function Forests({ made, trees: { forests, rate, because } }: { readonly made: Made; readonly trees: TreesView }) {
  const chosen = useSignal(0);
  const number = Math.min(chosen.value, forests.length - 1);
  const forest = forests[number];
  if (forest === undefined) return <p class="trees-none">The schedule has no trees.</p>;
  return (
    <div class="trees">
      <p class="trees-rate">
        {rate === "-" ? "" : <strong>{`All trees together: ${rate}.`}</strong>} No trees can beat this:{" "}
        {sentence(because)}
      </p>
      {forests.length > 1 && (
        <OneOf
          title="Trees"
          choices={forests.map(({ direction }, i) => [i, NAMES[direction]] as const)}
          value={number}
          onChange={(i) => {
            chosen.value = i;
          }}
        />
      )}
      <ForestPanel key={`${made.schedule.ref.id} ${number}`} made={made} forest={forest} number={number} />
    </div>
  );
}

/** Returns a text with a full stop last. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
