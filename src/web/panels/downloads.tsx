import { useSignal } from "@preact/signals";
import type { Options } from "../../words/options.ts";
import { Dialog } from "../parts/dialog.tsx";
import type { Subject, Welcome } from "../protocol.ts";
import { cancel, exportTo, say } from "../state/actions.ts";
import { busy, isStale, made, network, notes, program, welcome, words } from "../state/store.ts";
import { networkWish } from "../state/words.ts";
import { VIEW_ENTRIES } from "../views/registry.ts";
import { exportGroups, optionsFor, PROGRAM_FORMATS } from "./export-groups.ts";
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

const VIEWS_OF: Readonly<Record<Subject["kind"], readonly string[]>> = {
  schedule: ["topology", "trees", "links", "time"],
  network: ["topology"],
  program: [],
};

function Row({
  format: { name, description, folder },
  subject,
  options,
}: {
  readonly format: Format;
  readonly subject: Subject;
  readonly options: Options;
}) {
  const isBusy = busy.value !== null;
  const save = (chosen: Options): void => void exportTo(subject, name, chosen);
  const hasTrees = made.value?.schedule.kind === "trees";
  const views = name === "svg" ? VIEWS_OF[subject.kind].filter((view) => view !== "trees" || hasTrees) : [];
  return (
    <div class="downloads-row">
      <div class="downloads-buttons">
        {views.length === 0 ? (
          <button type="button" disabled={isBusy} onClick={() => save(optionsFor(name, options))}>
            {name}
            {folder && " (zip)"}
          </button>
        ) : (
          views.map((view) => (
            <button key={view} type="button" disabled={isBusy} onClick={() => save({ view })}>
              svg: {view}
            </button>
          ))
        )}
      </div>
      <p class="soft">{description}</p>
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
      <div class="downloads-row">
        <div class="downloads-buttons">
          <button type="button" onClick={() => void save()}>
            png
          </button>
        </div>
        <p class="soft">the view "{title}" as it is shown now, with its zoom and colours</p>
      </div>
    </section>
  );
}
