import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Fold } from "../parts/fold.tsx";
import { isNarrow } from "../parts/media.ts";
import { isReading, network, trouble, welcome, words } from "../state/store.ts";
import { failureAt, troubleSpot } from "./failures.ts";
import { OpenFile } from "./open-file.tsx";
import { OptionCheck, OptionSelect, OptionText } from "./option-fields.tsx";
import "./setup.css";
import { formatSize, parseSize } from "../../model/numbers/units.ts";
import { grouped } from "../../report/amounts.ts";
import { flagOf } from "../../request/option-texts.ts";
import type { ChoiceGroup } from "../parts/choices.ts";
import { Combobox } from "../parts/combobox.tsx";
import { Field } from "../parts/field.tsx";
import type { AlgorithmLine, Welcome } from "../protocol.ts";
import { changeOptions, typeNetwork } from "../state/actions.ts";
import { MAKE_OPTIONS } from "../state/words.ts";

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

/** Returns the presets as choices: examples with what they are, and of each preset's first one the form that it follows. */
export function networkChoices(presets: Welcome["presets"]): ChoiceGroup[] {
  const known = new Map(presets.map((preset) => [preset.name, preset]));
  return NETWORK_EXAMPLES.map(({ title, of }) => ({
    title,
    choices: Object.entries(of).flatMap(([name, examples]) => {
      const preset = known.get(name);
      if (preset === undefined) return [];
      const { form, description } = preset;
      return examples.map((value, i) => ({
        value,
        detail: description,
        ...(i > 0 || form === value ? {} : { form }),
      }));
    }),
  }));
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

/** The slider's ends, as powers of two: 1 KiB and 4 GiB. */
export const LEAST = 10;
export const MOST = 32;
const SUFFIX = ["", "KiB", "MiB", "GiB"];

/** Returns 2^power bytes as an option's text: "256MiB". */
export const sizeOfPower = (power: number): string => `${2 ** (power % 10)}${SUFFIX[Math.floor(power / 10)]}`;

/** Returns the power of two that is nearest to a size, within the slider; null for a text that is no size. */
export function powerOfSize(text: string): number | null {
  try {
    return Math.min(MOST, Math.max(LEAST, Math.round(Math.log2(parseSize(text)))));
  } catch {
    return null;
  }
}

/** Networks to choose from: of every preset one or more that are worth a look, in groups; forms and descriptions are the worker's. */
export const NETWORK_EXAMPLES: readonly { readonly title: string; readonly of: Readonly<Record<string, string[]>> }[] =
  [
    {
      title: "Clusters of GPU boxes",
      of: {
        "dgx-a100": ["dgx-a100:2", "dgx-a100:8"],
        "dgx-h100": ["dgx-h100:2", "dgx-h100:16", "dgx-h100:4,ib"],
        "hgx-h100": ["hgx-h100:2"],
        "hgx-h200": ["hgx-h200:2"],
        "hgx-b200": ["hgx-b200:2"],
        "hgx-b300": ["hgx-b300:2"],
        dgx2: ["dgx2:2"],
        ndv2: ["ndv2:2"],
        ndv4: ["ndv4:2"],
        ndv5: ["ndv5:2"],
        p4d: ["p4d:2"],
        p5: ["p5:2"],
        mi250: ["mi250:2"],
      },
    },
    {
      title: "Single boxes and domains",
      of: {
        "gb200-nvl72": ["gb200-nvl72"],
        dgx1: ["dgx1"],
        mi300x: ["mi300x"],
        mi325x: ["mi325x"],
        mi355x: ["mi355x"],
        "mi100-8p6l": ["mi100-8p6l"],
        "mi100-2hives": ["mi100-2hives"],
        frontier: ["frontier"],
        gaudi2: ["gaudi2"],
        gaudi3: ["gaudi3"],
        trn1: ["trn1"],
        trn2: ["trn2"],
        "trn2-ultra": ["trn2-ultra"],
      },
    },
    {
      title: "TPU pods and slices of them",
      of: {
        "tpu-v2": ["tpu-v2:8x8"],
        "tpu-v3": ["tpu-v3:16x16"],
        "tpu-v4": ["tpu-v4:4x4x4"],
        "tpu-v5e": ["tpu-v5e:8x8"],
        "tpu-v5p": ["tpu-v5p:4x4x8"],
        "tpu-v6e": ["tpu-v6e"],
        "tpu-7x": ["tpu-7x:4x4x4"],
      },
    },
    {
      title: "Grids, rings and cubes",
      of: {
        mesh: ["mesh:4x4", "mesh:32x32", "mesh:4x4@100,50GB/s,0.7us"],
        grid: ["grid:4x4x4"],
        torus: ["torus:8x8", "torus:4x4x4"],
        ring: ["ring:8", "ring:2*fc:4*switch:8@200,100,50GB/s"],
        line: ["line:8"],
        hypercube: ["hypercube:5"],
        circulant: ["circulant:16,1,3"],
        "shifted-ring": ["shifted-ring:12"],
        dbt: ["dbt:16"],
      },
    },
    {
      title: "Switches and groups",
      of: {
        switch: ["switch:16"],
        fc: ["fc:8"],
        "fat-tree": ["fat-tree:8x8,leaf=4"],
        dragonfly: ["dragonfly:4x9"],
        themis: ["themis:3d-fc-ring-sw"],
      },
    },
    {
      title: "Graphs and constructions",
      of: {
        K: ["K(4,4)"],
        H: ["H(2,4)"],
        Kautz: ["Kautz(2,3)"],
        Pi: ["Pi(4,64)@25Gbps,10us"],
        C: ["C(16,{3,4})"],
        MultiC: ["MultiC(2,8,{1,3})"],
        DC: ["DC(12,{1,5})"],
        Cayley: ["Cayley(7,3,2,{1,7})"],
        BiRing: ["BiRing(4,8)"],
        UniRing: ["UniRing(2,8)"],
        Diamond: ["Diamond"],
        DBJ: ["DBJ(2,4)"],
        DBJMod: ["DBJMod(2,4)"],
        DistReg: ["DistReg(4,14)"],
        Paley: ["Paley(13)"],
        J: ["J(5,2)"],
        Odd: ["Odd(4)"],
        DoubledOdd: ["DoubledOdd(3)"],
        PG: ["PG(2,3)"],
        AG: ["AG(2,3)"],
        GQ: ["GQ(2,2)"],
        GH: ["GH(2,2)"],
        Octahedron: ["Octahedron"],
        HeawoodDistance3: ["HeawoodDistance3"],
        LinePetersen: ["LinePetersen"],
        LineHeawood: ["LineHeawood"],
        LineTutte8: ["LineTutte8"],
        LineTutte12: ["LineTutte12"],
        Crown: ["Crown(5)"],
        Q: ["Q(4)"],
        TQ: ["TQ(4)"],
        Torus: ["Torus(4,4,2)"],
        TwistedTorus: ["TwistedTorus(4,8)"],
        SkewTorus: ["SkewTorus(4,6,{2})"],
        L: ["L(K(4,4))", "L3(C(16,{3,4}))@25Gbps,10us"],
        "K(m)^n": ["K(4)^3"],
        "K(m) x K(n)": ["K(3) x K(5)"],
        "K(m)*n": ["K(4)*2"],
        T: ["T(Kautz(2,3))"],
        Bi: ["Bi(DC(12,{1,5}))"],
      },
    },
  ];

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
