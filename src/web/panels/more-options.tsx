import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { flagOf } from "../../request/option-texts.ts";
import { Fold } from "../parts/fold.tsx";
import { network, trouble, welcome, words } from "../state/store.ts";
import { MAKE_OPTIONS } from "../state/words.ts";
import { chosenAlgorithm } from "./algorithm-field.tsx";
import { troubleSpot } from "./failures.ts";
import { OptionCheck, OptionSelect, OptionText } from "./option-fields.tsx";

/** Options that stand beside the network and not in "More". */
const OUTSIDE: readonly string[] = ["collective", "size", "algorithm", "chunks"];
const INSIDE = MAKE_OPTIONS.filter((name) => !OUTSIDE.includes(name));

const EULERIAN = [
  ["", "refuse it"],
  ["trim", "trim: use only what is balanced"],
  ["switches", "switches: only they need be balanced"],
] as const;
const SWITCHING = [
  ["", "by the schedule's routes"],
  ["cut-through", "cut-through"],
  ["store-and-forward", "store-and-forward"],
] as const;
const OUTSIDERS = [
  ["", "relay: they may pass chunks on"],
  ["none", "none: they are left out"],
] as const;

/** Returns what options say nothing with the algorithm and collective that are chosen, with the reason; null where they count. */
function idleness(): Readonly<Record<"root" | "group" | "k" | "policy" | "timeLimit" | "offload", string | null>> {
  const algorithm = chosenAlgorithm();
  const isAuto = words.value.options["algorithm"] === "auto";
  const collective = welcome.value?.collectives.find(({ kind }) => kind === words.value.options["collective"]);
  const makes = (kind: string): boolean => isAuto || algorithm === null || algorithm.makes === kind;
  const name = algorithm?.name ?? "";
  return {
    root: collective?.hasRoot === false ? `An ${collective.name} has no root.`.replace("An b", "A b") : null,
    group: words.value.options["group"] === undefined ? "Counts with a group." : null,
    k: makes("trees") ? null : `${name} makes no trees.`,
    policy: isAuto
      ? "With auto the algorithms choose their own."
      : algorithm?.policies.length === 0
        ? `${name} has no policies.`
        : null,
    timeLimit: isAuto || algorithm === null || algorithm.solves ? null : `${name} needs none.`,
    offload: makes("phases") ? null : `${name} makes no phases.`,
  };
}

/** Everything else that can be asked for. */
export function MoreOptions() {
  const isOpen = useSignal(false);
  const spot = troubleSpot(words.value.file !== null);
  const set = INSIDE.filter((name) => words.value.options[name] !== undefined);
  useEffect(() => {
    if (INSIDE.some((name) => flagOf(name) === spot)) isOpen.value = true;
  }, [trouble.value]);
  const idle = idleness();
  const names = network.value?.nodeNames.slice(0, network.value.npuCount) ?? [];
  const [first = "0", second = "1"] = names;
  const policies = chosenAlgorithm()?.policies ?? [];
  return (
    <Fold
      class="setup-more"
      isOpen={isOpen}
      summary={set.length > 0 ? `More options (${set.length} set)` : "More options"}
    >
      <div class="setup-fields">
        <OptionText name="root" label="Root" placeholder={`usual: ${first}`} idle={idle.root} />
        <OptionText
          name="group"
          label="Group"
          placeholder={`all; or ${first},${second},...`}
          hint="Only these NPUs take part, in this order; several groups: a,b;c,d"
        />
        <OptionSelect name="outsiders" label="NPUs outside the group" choices={OUTSIDERS} idle={idle.group} />
        <OptionText
          name="timeLimit"
          label="Time limit"
          placeholder="usual: 10s with auto, else 60s"
          idle={idle.timeLimit}
        />
        <OptionText name="seed" label="Seed" placeholder="usual: 1" />
        <OptionText name="trials" label="Trials" placeholder="usual: up to 64" />
        <OptionSelect
          name="policy"
          label="Policy"
          choices={[["", "all of the algorithm's"], ...policies.map((name) => [name, name] as const)]}
          idle={idle.policy}
        />
        <OptionText
          name="switchDegree"
          label="Through switches"
          placeholder="usual: what is best"
          hint={'"ports" (matched slot by slot), or a degree of unwinding'}
        />
        <OptionText
          name="k"
          label="Trees per root"
          placeholder="usual: as the optimum needs"
          hint={idle.k ?? 'A number, or "auto": what is fastest at this size'}
          idle={idle.k}
        />
        <OptionSelect name="eulerian" label="Unbalanced bandwidth" choices={EULERIAN} idle={idle.k} />
        <OptionSelect name="switching" label="Simulated switching" choices={SWITCHING} />
        <OptionCheck
          name="offload"
          label="Switches sum and copy in phases"
          on={true}
          off={undefined}
          idle={idle.offload}
        />
        <OptionCheck
          name="nvls"
          flag="--no-nvls"
          label="Leave NVLS out of trees' reports"
          on={false}
          off={undefined}
          idle={idle.k}
        />
      </div>
    </Fold>
  );
}
