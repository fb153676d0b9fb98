import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { flagOf, type OptionId, PAGE_OPTIONS, propertyOf, ROWS, textOf } from "../../request/option-table.ts";
import { areFlagsShown, showFlags } from "../parts/flags.ts";
import { Fold } from "../parts/fold.tsx";
import { isNarrow } from "../parts/media.ts";
import { isReading, network, trouble, welcome, words } from "../state/store.ts";
import { failureAt, troubleSpot } from "./failures.ts";
import { OpenFile } from "./open-file.tsx";
import { isNetworkWanted } from "./shortcuts.ts";
import "./setup.css";
import { parseSize } from "../../model/numbers/units.ts";
import { grouped, roundedSize } from "../../report/amounts.ts";
import { Combobox } from "../parts/combobox.tsx";
import { type ControlProps, Field } from "../parts/field.tsx";
import type { AlgorithmLine } from "../protocol.ts";
import { changeOptions, typeNetwork } from "../state/actions.ts";
import { networkChoices } from "./network-choices.ts";
import { LEAST, MOST, powerOfSize, sizeOfPower } from "./sizes.ts";

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What is asked for in a line: "dgx-a100:2, all-gather, 256MiB, auto". */
function inShort(): string {
  const { topology, file, options } = words.value;
  const { collective, size, algorithm } = options;
  const name = welcome.value?.collectives.find(({ kind }) => kind === collective)?.name ?? collective;
  return [file?.name ?? topology, name, size ?? "1GiB", algorithm ?? "tacos"].join(", ");
}

function Fields() {
  return (
    <>
      <NetworkField />
      <OpenFile />
      <hr />
      <CollectiveField />
      <SizeField />
      <AlgorithmField />
      <OptionField id="chunks" />
      <MoreOptions />
      <label class="field-check">
        <input
          type="checkbox"
          checked={areFlagsShown.value}
          onChange={({ currentTarget }) => showFlags(currentTarget.checked)}
        />
        Names on the command line
      </label>
    </>
  );
}

/** What is asked for; on a narrow page it folds away. */
export function Setup() {
  const isOpen = useSignal(false);
  const spot = troubleSpot(words.value.file !== null);
  useEffect(() => {
    if (spot !== null && spot !== "alert" && spot !== "export") isOpen.value = true;
  }, [trouble.value]);
  if (isNetworkWanted.value) isOpen.value = true;
  if (!isNarrow.value)
    return (
      <div class="setup-fields">
        <Fields />
      </div>
    );
  const summary = (
    <>
      <b>Setup</b> <span class="soft">{inShort()}</span>
    </>
  );
  return (
    <Fold class="setup" isOpen={isOpen} summary={summary}>
      <div class="setup-fields">
        <Fields />
      </div>
    </Fold>
  );
}

/** The network as a preset: a text, chosen or typed. */
function NetworkField() {
  const groups = useComputed(() => networkChoices(welcome.value?.presets ?? []));
  const { topology, file } = words.value;
  const error = failureAt("network", file !== null);
  const view = network.value;
  // before the next key is heard: it is a letter of the name
  useLayoutEffect(() => {
    if (!isNetworkWanted.value) return;
    isNetworkWanted.value = false;
    const field = document.querySelector<HTMLInputElement>('[role="combobox"]');
    field?.focus();
    field?.select();
  }, [isNetworkWanted.value]);
  return (
    <Field
      label="Network"
      flag="TOPO"
      error={error === null || view === null ? error : `${error}\nStill shown: ${view.name}.`}
      hint={view === null || isReading.value ? "Reading the network..." : view.sizeText}
    >
      {(control) => (
        <Combobox
          control={control}
          value={topology}
          placeholder={file === null ? "dgx-a100:2, mesh:4x4, ..." : "the file below"}
          groups={groups.value}
          openLabel="Networks to choose from"
          onType={(text) => typeNetwork(text)}
          onChoose={(value) => typeNetwork(value, true)}
        />
      )}
    </Field>
  );
}

/** Returns a size in whole bytes for people; "" for a text that is no size. */
function inBytes(text: string): string {
  try {
    const bytes = parseSize(text);
    return bytes === 1 ? "1 byte" : `${roundedSize(bytes)}, ${grouped(bytes)} bytes`;
  } catch {
    return "";
  }
}

/** How much is communicated, as nccl-tests count it: typed, or by a slider over powers of two. */
function SizeField() {
  const size = String(words.value.options["size"] ?? "");
  const power = powerOfSize(size === "" ? "1GiB" : size);
  const change = (value: string): void => void changeOptions({ size: value });
  return (
    <Field
      label="Size"
      flag="--size"
      hint={inBytes(size === "" ? "1GiB" : size)}
      error={failureAt("--size", words.value.file !== null)}
    >
      {(control) => (
        <div class="setup-size">
          <input
            {...control}
            type="text"
            spellcheck={false}
            autocapitalize="off"
            placeholder="1GiB"
            value={size}
            onInput={({ currentTarget }) => change(currentTarget.value)}
          />
          <input
            type="range"
            aria-label="Size, in powers of two"
            aria-valuetext={power === null ? "no size" : sizeOfPower(power)}
            min={LEAST}
            max={MOST}
            value={power ?? LEAST}
            onInput={({ currentTarget }) => change(sizeOfPower(Number(currentTarget.value)))}
          />
        </div>
      )}
    </Field>
  );
}

/** Options that stand beside the network and not in "More". */
const OUTSIDE: readonly OptionId[] = ["collective", "size", "algorithm", "chunks"];
const INSIDE = PAGE_OPTIONS.filter((id) => !OUTSIDE.includes(id));

/** Returns why an option says nothing with the algorithm and collective that are chosen; null where it counts. */
function idleness(id: OptionId): string | null {
  const algorithm = chosenAlgorithm();
  const { options } = words.value;
  const isAuto = options["algorithm"] === "auto";
  if (id === "root") {
    const collective = welcome.value?.collectives.find(({ kind }) => kind === options["collective"]);
    return collective?.hasRoot === false
      ? `${/^[aeiou]/.test(collective.name) ? "An" : "A"} ${collective.name} has no root.`
      : null;
  }
  if (id === "outsiders") return options["group"] === undefined ? "Counts with a group." : null;
  if (id === "policy" && isAuto) return "With auto the algorithms choose their own.";
  if (algorithm === null) return null;
  if (id === "policy") return algorithm.policies.length === 0 ? `${algorithm.name} has no policies.` : null;
  // what no algorithm lists is for all of them
  const isOwn = welcome.value?.algorithms.some((one) => one.options.includes(propertyOf(id))) === true;
  return isOwn && !algorithm.options.includes(propertyOf(id)) ? `${algorithm.name} has no use for it.` : null;
}

/** Everything else that can be asked for. */
function MoreOptions() {
  const isOpen = useSignal(false);
  const spot = troubleSpot(words.value.file !== null);
  const set = INSIDE.filter((id) => words.value.options[id] !== undefined);
  useEffect(() => {
    if (INSIDE.some((id) => flagOf(id) === spot)) isOpen.value = true;
  }, [trouble.value]);
  return (
    <Fold
      class="setup-more"
      isOpen={isOpen}
      summary={set.length > 0 ? `More options (${set.length} set)` : "More options"}
    >
      <div class="setup-fields">
        {INSIDE.map((id) => (
          <OptionField key={id} id={id} />
        ))}
      </div>
    </Fold>
  );
}

const GROUPS = [
  { makes: "steps", title: "Steps: every transfer with its time" },
  { makes: "trees", title: "Trees: rates along them" },
  { makes: "phases", title: "Phases within dimensions" },
] as const;

/** Returns the algorithm that the words name; null for auto, and while the list is not there. */
const chosenAlgorithm = (): AlgorithmLine | null =>
  welcome.value?.algorithms.find(({ name }) => name === (words.value.options["algorithm"] ?? "tacos")) ?? null;

/** Returns why an algorithm cannot be chosen for a collective; null where it can. */
const refusalFor = ({ collectives }: Pick<AlgorithmLine, "collectives">, kind: string, name: string) =>
  collectives.includes(kind) ? null : `makes no ${name}`;

/** Which algorithm, or the best of those that apply. */
function AlgorithmField() {
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
                      {`${one.name}: ${refusal ?? one.description.split(/[,;(]/)[0].trim()}`}
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

/** Changes an option; undefined, or an empty text, is the usual. */
const change = (id: OptionId, value: string | boolean | undefined): void => {
  void changeOptions({ [id]: value });
};

/** Returns a placeholder with names of NPUs of the network in it. */
function placeholderOf(id: OptionId): string {
  const [first = "0", second = "1"] = network.value?.nodeNames.slice(0, 2) ?? [];
  return (ROWS[id].field?.placeholder ?? "").replace("{first}", first).replace("{second}", second);
}

/**
 * The field of an option, as its row of the table says: it keeps its value in the words, says its name on the command line, and
 * shows what is wrong with it. Where it says nothing here it tells why, and can still be emptied.
 */
function OptionField({ id }: { readonly id: OptionId }) {
  const { field, value } = ROWS[id];
  const { label = id, hint, choices } = field ?? {};
  const flag = flagOf(id);
  const idle = idleness(id);
  const error = failureAt(flag as `--${string}`, words.value.file !== null);
  const disabled = idle !== null && words.value.options[id] === undefined;
  if (value === undefined) return <OptionCheck {...{ id, label, flag, error, disabled }} />;
  return (
    <Field label={label} flag={flag} hint={idle ?? hint} error={error}>
      {(control) =>
        choices === undefined ? (
          <input
            {...control}
            type="text"
            spellcheck={false}
            autocapitalize="off"
            disabled={disabled}
            placeholder={placeholderOf(id)}
            value={textIn(id)}
            onInput={({ currentTarget }) => change(id, currentTarget.value)}
          />
        ) : (
          <OptionSelect {...{ id, control, disabled, choices: choices ?? policies() }} />
        )
      }
    </Field>
  );
}

const textIn = (id: OptionId): string => textOf(words.value.options, id) ?? "";

/** Returns the policies of the algorithm that is chosen. */
const policies = (): readonly (readonly [string, string])[] => [
  ["", "all of the algorithm's"],
  ...(chosenAlgorithm()?.policies ?? []).map((name) => [name, name] as const),
];

/** One of several words; the first stands for the default, where it is "". */
function OptionSelect({
  id,
  control,
  disabled,
  choices,
}: {
  readonly id: OptionId;
  readonly control: ControlProps;
  readonly disabled: boolean;
  readonly choices: readonly (readonly [value: string, meaning: string])[];
}) {
  const value = textIn(id);
  const isKnown = choices.some(([known]) => known === value);
  return (
    <select
      {...control}
      disabled={disabled}
      value={value}
      onChange={({ currentTarget }) => change(id, currentTarget.value)}
    >
      {!isKnown && <option value={value}>{value}</option>}
      {choices.map(([known, meaning]) => (
        <option key={known} value={known}>
          {meaning}
        </option>
      ))}
    </select>
  );
}

/** Yes or no: ticked, the option says what it sets. */
function OptionCheck({
  id,
  label,
  flag,
  error,
  disabled,
}: {
  readonly id: OptionId;
  readonly label: string;
  readonly flag: string;
  readonly error: string | null;
  readonly disabled: boolean;
}) {
  const sets = ROWS[id].sets ?? true;
  const name = `option-${id}`;
  return (
    <div class="field-check">
      <input
        id={name}
        type="checkbox"
        disabled={disabled}
        checked={words.value.options[id] === sets}
        aria-describedby={`${name}-error`}
        aria-invalid={error !== null}
        onChange={({ currentTarget }) => change(id, currentTarget.checked ? sets : undefined)}
      />
      <label for={name}>{label}</label>
      <span class="field-flag">{flag}</span>
      <span id={`${name}-error`} class="field-error" aria-live="polite">
        {error}
      </span>
    </div>
  );
}

/** Which collective. */
function CollectiveField() {
  const collectives = welcome.value?.collectives ?? [];
  const choices = collectives.map(({ kind, name }) => [kind, upper(name)] as const);
  return (
    <Field label="Collective" flag="--collective" error={failureAt("--collective", words.value.file !== null)}>
      {(control) => <OptionSelect id="collective" control={control} disabled={false} choices={choices} />}
    </Field>
  );
}
