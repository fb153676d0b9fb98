import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { plainName } from "../../report/file-name.ts";
import { flagOf, type OptionId, type Options, optionsOf, ROWS } from "../../request/option-table.ts";
import { Dialog } from "../parts/dialog.tsx";
import { FORWARDING, hasNoMessages, SynthesizeWith } from "../parts/no-messages.tsx";
import type { ScheduleView, Subject, Welcome } from "../protocol.ts";
import { cancel, exportTo, offerFile, say } from "../state/actions.ts";
import { busy, isStale, made, network, program, welcome, words } from "../state/store.ts";
import { networkWish, type ViewName } from "../state/words.ts";
import { VIEW_ENTRIES } from "../views/registry.ts";
import { BRIEFLY, exportGroups, optionsFor, PICTURES, PROGRAM_FORMATS } from "./export-groups.ts";
import { failureAt } from "./failures.ts";
import { pictureFile } from "./view-picture.ts";
import "./downloads.css";
import { Field } from "../parts/field.tsx";

type Format = Welcome["exports"][number];
type Lacks = ScheduleView["lacks"];
type Lack = Lacks[string];

const LACKS: Readonly<Record<Lack, string>> = {
  messages: "this schedule has no messages",
  trees: `this schedule has no trees; ${FORWARDING} makes some`,
};

/** Everything that can be written of what is shown. */
export function View({ onClose }: { readonly onClose: () => void }) {
  const last = made.value;
  const opened = program.value;
  const wish = networkWish(words.value);
  return (
    <Dialog
      title="Downloads"
      onClose={onClose}
      doing={busy.value?.what === "export" ? <Writing /> : null}
      error={failureAt("export")}
      hint="Each is saved where the browser keeps downloads."
    >
      {opened !== null && <Formats subject={{ kind: "program", file: opened.file }} />}
      {opened === null && last !== null && (
        <>
          {isStale.value && (
            <p class="soft">The schedule is the one that is shown, made before you changed what is asked.</p>
          )}
          {hasNoMessages(last) && <WithoutMessages onClose={onClose} />}
          <Formats subject={{ kind: "schedule", schedule: last.schedule.ref }} lacks={last.schedule.lacks} />
        </>
      )}
      {opened === null && network.value !== null && <Formats subject={{ kind: "network", wish }} />}
      <CurrentView />
    </Dialog>
  );
}

/** What is being written, and how to stop it. */
const Writing = () => (
  <p>
    <progress aria-label="Writing the file" /> {busy.value?.progress?.what ?? "Writing the file"}
    <button type="button" onClick={cancel}>
      Cancel
    </button>
  </p>
);

/** The formats of a subject. */
function Formats({ subject, lacks = {} }: { readonly subject: Subject; readonly lacks?: Lacks }) {
  const options = useSignal<Options>({});
  const formats = welcome.value?.exports ?? [];
  return (
    <>
      {exportGroups(formats, subject.kind).map(({ title, formats }) => (
        <section key={title} class="downloads-group">
          <h3>{subject.kind === "network" && !title.startsWith("The network") ? `${title}, of the network` : title}</h3>
          {formats.some(({ name }) => PROGRAM_FORMATS.includes(name)) && (
            <ProgramOptions options={options} isProgram={subject.kind === "program"} />
          )}
          {formats.map((format) => (
            <Row key={format.name} format={format} subject={subject} options={options.value} lacks={lacks} />
          ))}
        </section>
      ))}
    </>
  );
}

/** Why many formats cannot be written of switches that sum, and what makes a schedule of which they can. */
function WithoutMessages({ onClose }: { readonly onClose: () => void }) {
  return (
    <div class="downloads-lack" role="note">
      <p>
        {`Switches duplicate and sum what passes them in this schedule (NVLS): it has no messages from NPU to NPU, which some formats are made of. With ${FORWARDING}, switches only forward, and every format can be written.`}
      </p>
      <SynthesizeWith algorithm={FORWARDING} onBegin={onClose} />
    </div>
  );
}

interface RowProps {
  readonly format: Format;
  readonly subject: Subject;
  readonly options: Options;
  readonly lacks: Lacks;
}

/** One format; a picture for each of its views. */
function Row({ format, subject, options, lacks }: RowProps) {
  const { name, description, folder } = format;
  const hasTrees = made.value?.schedule.kind === "trees";
  const save = (chosen: Options): void => void exportTo(subject, name, chosen);
  if (name === "svg")
    return PICTURES[subject.kind]
      .filter(([view]) => view !== "trees" || hasTrees)
      .map(([view, what]) => (
        <Line key={view} label={`svg: ${view}`} lack={lacks[`svg: ${view}`]} onSave={() => save({ view })}>
          {what}
        </Line>
      ));
  return (
    <Line label={folder ? `${name} (zip)` : name} lack={lacks[name]} onSave={() => save(optionsFor(name, options))}>
      {BRIEFLY[name] ?? description}
    </Line>
  );
}

interface LineProps {
  readonly label: string;
  /** What it is made of, where the schedule has none. */
  readonly lack?: Lack | undefined;
  readonly onSave: () => void;
  readonly children: ComponentChildren;
}

function Line({ label, lack, onSave, children }: LineProps) {
  return (
    <div class="downloads-row">
      <button type="button" disabled={lack !== undefined || busy.value !== null} onClick={onSave}>
        {label}
      </button>
      <p class="soft">
        {children}
        {lack !== undefined && ` – ${LACKS[lack]}`}
      </p>
    </div>
  );
}

/** Returns what the picture of a view is called: "allgather-mesh-3x3-tacos-time". */
function pictureStem(view: ViewName): string {
  const { collective, topology } = made.value?.schedule.report ?? {};
  const algorithm = made.value?.schedule.report.algorithm;
  const name = topology?.name ?? network.value?.name;
  return plainName([collective?.kind, name, algorithm, view].filter(Boolean).join(" "));
}

/** What is on the screen. */
function CurrentView() {
  const { view } = words.value;
  const { title } = VIEW_ENTRIES[view];
  const save = async (): Promise<void> => {
    const name = `${pictureStem(view)}.png`;
    try {
      const file = await pictureFile(name);
      if (file === null) say(`The view "${title}" has no picture; its table can be copied.`);
      else await offerFile(file, `${name}: what the view "${title}" shows now`);
    } catch (error) {
      say(`${name} could not be saved: ${(error as Error).message}`);
    }
  };
  return (
    <section class="downloads-group">
      <h3>What is on the screen</h3>
      <Line label="png" onSave={() => void save()}>
        the view "{title}" as it is shown now, with its zoom and colours
      </Line>
    </section>
  );
}

/** Options of programs that the page asks for, those with choices first. */
const OF_ALL: readonly OptionId[] = optionsOf("program").filter((id) => ROWS[id].field !== undefined);

/** What can be said of a program that exists already. */
const OF_PROGRAMS: readonly OptionId[] = ["dialect", "minBytes", "maxBytes"];

/** One option of programs: a choice, or a text. */
function ProgramOption({
  id,
  value,
  onChange,
}: {
  readonly id: OptionId;
  readonly value: string;
  readonly onChange: (text: string) => void;
}) {
  const { label = id, placeholder, choices } = ROWS[id].field ?? {};
  return (
    <Field label={label} flag={flagOf(id)}>
      {(control) =>
        choices ? (
          <select {...control} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
            {choices.every(([choice]) => choice !== "") && <option value="">default</option>}
            {choices.map(([choice, meaning]) => (
              <option key={choice} value={choice}>
                {meaning || choice}
              </option>
            ))}
          </select>
        ) : (
          <input
            {...control}
            type="text"
            spellcheck={false}
            placeholder={placeholder}
            value={value}
            onInput={({ currentTarget }) => onChange(currentTarget.value.trim())}
          />
        )
      }
    </Field>
  );
}

/** What a program is to be like; all of it has defaults. */
function ProgramOptions({ options, isProgram }: { readonly options: Signal<Options>; readonly isProgram: boolean }) {
  const change = (name: string, value: string): void => {
    const { [name]: _, ...rest } = options.value;
    options.value = value === "" ? rest : { ...rest, [name]: value };
  };
  const fits = (id: OptionId): boolean => !isProgram || OF_PROGRAMS.includes(id);
  return (
    <details>
      <summary>Options of programs</summary>
      <div class="downloads-options">
        {OF_ALL.filter(fits).map((id) => (
          <ProgramOption
            key={id}
            id={id}
            value={String(options.value[id] ?? "")}
            onChange={(text) => change(id, text)}
          />
        ))}
      </div>
    </details>
  );
}
