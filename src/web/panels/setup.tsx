import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Fold } from "../parts/fold.tsx";
import { isNarrow } from "../parts/media.ts";
import { isReading, network, trouble, welcome, words } from "../state/store.ts";
import { failureAt, troubleSpot } from "./failures.ts";
import { OpenFile } from "./open-file.tsx";
import "./setup.css";
import type { ComponentChildren } from "preact";
import { formatSize, parseSize } from "../../model/numbers/units.ts";
import { grouped } from "../../report/amounts.ts";
import { flagOf } from "../../request/option-texts.ts";
import { Combobox } from "../parts/combobox.tsx";
import { Field } from "../parts/field.tsx";
import type { AlgorithmLine } from "../protocol.ts";
import { changeOptions, typeNetwork } from "../state/actions.ts";
import { MAKE_OPTIONS } from "../state/words.ts";
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
  const collectives = welcome.value?.collectives ?? [];
  return (
    <>
      <NetworkField />
      <OpenFile />
      <hr />
      <OptionSelect
        name="collective"
        label="Collective"
        choices={collectives.map(({ kind, name }) => [kind, upper(name)] as const)}
      />
      <SizeField />
      <AlgorithmField />
      <OptionText name="chunks" label="Chunks" placeholder="usual: 1" hint={'Per NPU; "auto" tries 1, 2, 4, ...'} />
      <MoreOptions />
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
    return bytes === 1 ? "1 byte" : `${formatSize(bytes)}, ${grouped(bytes)} bytes`;
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
function MoreOptions() {
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

/** Fields of options: each keeps its value in the words, says its name on the command line, and shows what is wrong with it. */

interface OptionProps {
  /** As in the words: "timeLimit". */
  readonly name: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** Why it says nothing here; it can still be emptied. */
  readonly idle?: string | null;
}

const textIn = (name: string): string => {
  const value = words.value.options[name];
  return typeof value === "string" ? value : "";
};
const change = (name: string, value: string | boolean | undefined): void => {
  void changeOptions({ [name]: value });
};

/** What all kinds of fields do alike. */
function useOption({ name, label, hint, idle = null }: OptionProps) {
  const flag = flagOf(name);
  const error = failureAt(flag as `--${string}`, words.value.file !== null);
  const isSet = words.value.options[name] !== undefined;
  return { field: { label, flag, hint: idle ?? hint, error }, disabled: idle !== null && !isSet };
}

/** A text of any kind; empty is the default. */
function OptionText(props: OptionProps & { readonly placeholder?: string }) {
  const { field, disabled } = useOption(props);
  return (
    <Field {...field}>
      {(control) => (
        <input
          {...control}
          type="text"
          spellcheck={false}
          autocapitalize="off"
          disabled={disabled}
          placeholder={props.placeholder ?? ""}
          value={textIn(props.name)}
          onInput={({ currentTarget }) => change(props.name, currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** One of several words; the first stands for the default, where it is "". */
function OptionSelect(props: OptionProps & { readonly choices: readonly (readonly [value: string, label: string])[] }) {
  const { field, disabled } = useOption(props);
  const value = textIn(props.name);
  const isKnown = props.choices.some(([known]) => known === value);
  return (
    <Field {...field}>
      {(control) => (
        <select
          {...control}
          disabled={disabled}
          value={value}
          onChange={({ currentTarget }) => change(props.name, currentTarget.value)}
        >
          {!isKnown && <option value={value}>{value}</option>}
          {props.choices.map(([known, label]) => (
            <option key={known} value={known}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Yes or no. `on` is the option's value when it is ticked, `off` when it is not; undefined is the default. */
function OptionCheck(
  props: OptionProps & { readonly on: boolean | undefined; readonly off: boolean | undefined; readonly flag?: string },
) {
  const { field, disabled } = useOption(props);
  const id = `option-${props.name}`;
  return (
    <div class="field-check">
      <input
        id={id}
        type="checkbox"
        disabled={disabled}
        checked={words.value.options[props.name] === props.on}
        aria-describedby={`${id}-error`}
        aria-invalid={field.error !== null}
        onChange={({ currentTarget }) => change(props.name, currentTarget.checked ? props.on : props.off)}
      />
      <label for={id}>{props.label}</label>
      <span class="field-flag">{props.flag ?? field.flag}</span>
      <span id={`${id}-error`} class="field-error" aria-live="polite">
        {field.error}
      </span>
    </div>
  );
}
