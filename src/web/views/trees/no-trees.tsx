import { FORWARDING } from "../../parts/no-messages.tsx";
import { SynthesizeWith } from "../../parts/synthesize-with.tsx";
import { type Made, welcome, words } from "../../state/store.ts";

const FALLBACK = "allgather";

/** Says which algorithms make trees, and makes a schedule of them. */
export function NoTrees({ made }: { readonly made: Made }) {
  const collective = String(words.value.options["collective"] ?? FALLBACK);
  const makers = (welcome.value?.algorithms ?? []).filter(
    ({ makes, collectives }) => makes === "trees" && collectives.includes(collective),
  );
  const maker = makers.find(({ name }) => name === FORWARDING) ?? makers[0];
  const { algorithm, collective: done } = made.schedule.report;
  const kind = KINDS[made.schedule.kind];
  const nameOf = (kind: string): string =>
    welcome.value?.collectives.find((known) => known.kind === kind)?.name ?? `${kind} collective`;
  return (
    <div class="trees-none">
      <p>{`This ${nameOf(done.kind)} (algorithm: ${algorithm}) is made of ${kind}, not of trees.`}</p>
      {maker === undefined ? (
        <p>{`No algorithm makes trees for the ${nameOf(collective)}.`}</p>
      ) : (
        <>
          <p>{`Trees for the ${nameOf(collective)} are made by ${listed(makers.map(({ name }) => name))}.`}</p>
          <SynthesizeWith algorithm={maker.name} />
        </>
      )}
    </div>
  );
}

const KINDS = {
  steps: "transfers at times",
  slots: "transfers in time slots",
  phases: "phases within dimensions",
  trees: "trees",
} as const;

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
