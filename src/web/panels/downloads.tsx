import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Options } from "../../words/options.ts";
import { Dialog } from "../parts/dialog.tsx";
import type { Subject, Welcome } from "../protocol.ts";
import { cancel, exportTo, say } from "../state/actions.ts";
import { busy, isStale, made, network, notes, program, welcome, words } from "../state/store.ts";
import { networkWish } from "../state/words.ts";
import { VIEW_ENTRIES } from "../views/registry.ts";
import { BRIEFLY, exportGroups, optionsFor, PICTURES, PROGRAM_FORMATS } from "./export-groups.ts";
import { failureAt } from "./failures.ts";
import { ProgramOptions } from "./program-options.tsx";
import { savePicture } from "./view-picture.ts";
import "./downloads.css";

type Format = Welcome["exports"][number];

/** Everything that can be written of what is shown. */
export function Downloads({ onClose }: { readonly onClose: () => void }) {
  const last = made.value;
  const opened = program.value;
  const wish = networkWish(words.value);
  return (
    <Dialog title="Downloads" onClose={onClose}>
      <State />
      {opened !== null && <Formats subject={{ kind: "program", file: opened.file }} />}
      {opened === null && last !== null && (
        <>
          {isStale.value && (
            <p class="soft">The schedule is the one that is shown, made before you changed what is asked.</p>
          )}
          <Formats subject={{ kind: "schedule", schedule: last.schedule.ref }} />
        </>
      )}
      {opened === null && network.value !== null && <Formats subject={{ kind: "network", wish }} />}
      <CurrentView />
    </Dialog>
  );
}

/** What is being written, what was, or why not. */
function State() {
  const { progress = null, what } = busy.value ?? {};
  const error = failureAt("export");
  const last = notes.value.at(-1);
  return (
    <div class="downloads-state">
      {what === "export" && (
        <p>
          <progress aria-label="Writing the file" /> {progress?.what ?? "Writing the file"}
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        </p>
      )}
      <p class="field-error" role="alert">
        {error}
      </p>
      <p role="status">{what !== "export" && error === null && last?.text}</p>
    </div>
  );
}

/** The formats of a subject. */
function Formats({ subject }: { readonly subject: Subject }) {
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
            <Row key={format.name} format={format} subject={subject} options={options.value} />
          ))}
        </section>
      ))}
    </>
  );
}

/** One format; a picture for each of its views. */
function Row({ format, subject, options }: { format: Format; subject: Subject; options: Options }) {
  const { name, description, folder } = format;
  const hasTrees = made.value?.schedule.kind === "trees";
  const save = (chosen: Options): void => void exportTo(subject, name, chosen);
  if (name === "svg")
    return PICTURES[subject.kind]
      .filter(([view]) => view !== "trees" || hasTrees)
      .map(([view, what]) => (
        <Line key={view} label={`svg: ${view}`} onSave={() => save({ view })}>
          {what}
        </Line>
      ));
  return (
    <Line label={folder ? `${name} (zip)` : name} onSave={() => save(optionsFor(name, options))}>
      {BRIEFLY[name] ?? description}
    </Line>
  );
}

function Line({ label, onSave, children }: { label: string; onSave: () => void; children: ComponentChildren }) {
  return (
    <div class="downloads-row">
      <button type="button" disabled={busy.value !== null} onClick={onSave}>
        {label}
      </button>
      <p class="soft">{children}</p>
    </div>
  );
}

/** What is on the screen. */
function CurrentView() {
  const { view } = words.value;
  const { title } = VIEW_ENTRIES[view];
  const save = async (): Promise<void> => {
    const name = `banyan-${view}.png`;
    say(
      (await savePicture(name))
        ? `${name}: what the view "${title}" shows now`
        : `The view "${title}" has no picture; its table can be copied.`,
    );
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
