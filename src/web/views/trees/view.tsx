import { useSignal } from "@preact/signals";
import "./trees.css";
import { OneOf } from "../../parts/one-of.tsx";
import { useAnswer } from "../../parts/use-answer.ts";
import type { TreesView } from "../../protocol.ts";
import type { Made } from "../../state/store.ts";
import type { ViewProps } from "../registry.ts";
import { ForestPanel } from "./forest-panel.tsx";
import { NoTrees } from "./no-trees.tsx";
import { rateSentences } from "./rate-sentences.ts";

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

function Forests({ made, trees }: { readonly made: Made; readonly trees: TreesView }) {
  const { forests } = trees;
  const chosen = useSignal(0);
  const number = Math.min(chosen.value, forests.length - 1);
  const forest = forests[number];
  if (forest === undefined) return <p class="trees-none">The schedule has no trees.</p>;
  return (
    <div class="trees">
      <Rate trees={trees} />
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
      <ForestPanel
        key={`${made.schedule.ref.id} ${number}`}
        made={made}
        forest={forest}
        number={number}
        allTrees={forests.reduce((sum, { root }) => sum + root.length, 0)}
      />
    </div>
  );
}

/** How fast the trees are, and why not faster: a proof where there is one, else how far they are from the bound. */
function Rate({ trees: { rate, boundRate, share, because, fullest } }: { readonly trees: TreesView }) {
  if (rate === "-") return null;
  const parts = rateSentences({ boundRate, share, because, fullest });
  return (
    <p class="trees-rate">
      <strong>{`All trees together: ${rate}.`}</strong> {parts.join(" ")}
    </p>
  );
}
