import { Field } from "../parts/field.tsx";
import type { AlgorithmLine } from "../protocol.ts";
import { changeOptions } from "../state/actions.ts";
import { welcome, words } from "../state/store.ts";
import { failureAt } from "./failures.ts";

const GROUPS = [
  { makes: "steps", title: "Steps: every transfer with its time" },
  { makes: "trees", title: "Trees: rates along them" },
  { makes: "phases", title: "Phases within dimensions" },
] as const;

/** Returns the algorithm that the words name; null for auto, and while the list is not there. */
export const chosenAlgorithm = (): AlgorithmLine | null =>
  welcome.value?.algorithms.find(({ name }) => name === (words.value.options["algorithm"] ?? "tacos")) ?? null;

/** Returns why an algorithm cannot be chosen for a collective; null where it can. */
const refusalFor = ({ collectives }: Pick<AlgorithmLine, "collectives">, kind: string, name: string) =>
  collectives.includes(kind) ? null : `makes no ${name}`;

/** Which algorithm, or the best of those that apply. */
export function AlgorithmField() {
  const algorithm = String(words.value.options["algorithm"] ?? "tacos");
  const kind = String(words.value.options["collective"] ?? "allgather");
  const { algorithms = [], collectives = [] } = welcome.value ?? {};
  const collective = collectives.find((one) => one.kind === kind)?.name ?? kind;
  const chosen = chosenAlgorithm();
  const auto = "The fastest of those that apply, by simulated time, within the time limit (10\u00a0s).";
  return (
    <Field
      label="Algorithm"
      flag="--algorithm"
      hint={algorithm === "auto" ? auto : chosen?.description}
      error={failureAt("--algorithm", words.value.file !== null)}
    >
      {(control) => (
        <select
          {...control}
          value={algorithm}
          onChange={({ currentTarget }) => void changeOptions({ algorithm: currentTarget.value })}
        >
          <option value="auto">auto: the fastest that applies</option>
          {chosen === null && algorithm !== "auto" && <option value={algorithm}>{algorithm}</option>}
          {GROUPS.map(({ makes, title }) => (
            <optgroup key={makes} label={title}>
              {algorithms
                .filter((one) => one.makes === makes)
                .map((one) => {
                  const refusal = refusalFor(one, kind, collective);
                  return (
                    <option key={one.name} value={one.name} disabled={refusal !== null}>
                      {refusal === null ? one.name : `${one.name}: ${refusal}`}
                    </option>
                  );
                })}
            </optgroup>
          ))}
        </select>
      )}
    </Field>
  );
}
