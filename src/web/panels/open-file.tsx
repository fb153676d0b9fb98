import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { flagOf, type Options, READING_OPTIONS, ROWS } from "../../request/option-table.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Fold } from "../parts/fold.tsx";
import { Icon } from "../parts/icon.tsx";
import { useEscape } from "../parts/use-escape.ts";
import { leaveUnread, openFile, putUnreadAside, typeNetwork } from "../state/actions.ts";
import { network, type Point, trouble, unread, welcome, words } from "../state/store.ts";
import { FIRST_WORDS } from "../state/words.ts";
import { failureAt, sentenceOf } from "./failures.ts";
import { fileOfText } from "./given-text.ts";
import "./open-file.css";
import { Field } from "../parts/field.tsx";
import { EXAMPLE } from "./readable-example.ts";

/** Files instead of presets: chosen, pasted or dropped; what is said of one that could not be read, and how one is read. */
export function OpenFile() {
  const input = useRef<HTMLInputElement>(null);
  const isPasting = useSignal(false);
  const { file } = words.value;
  const shown = unread.value?.file ?? file;
  const isElsewhere = unread.value?.at != null;
  return (
    <div class="open-file">
      <div class="open-file-buttons">
        <button type="button" onClick={() => input.current?.click()}>
          <Icon name="open" /> Open a file
        </button>
        <button
          type="button"
          onClick={() => {
            leaveUnread();
            isPasting.value = true;
          }}
        >
          <Icon name="paste" /> Paste text
        </button>
        <input
          ref={input}
          type="file"
          hidden
          aria-label="File to open"
          onChange={({ currentTarget }) => {
            const [chosen] = currentTarget.files ?? [];
            if (chosen !== undefined) void openFile(chosen);
            currentTarget.value = "";
          }}
        />
      </div>
      {shown === null && (
        <p class="field-hint">
          Or drop one anywhere: <span class="open-file-whole">nvidia-smi topo -m</span>, NCCL XML, TACCL, ASTRA-sim,
          JSON, schedules, programs.
        </p>
      )}
      {file !== null && (
        <p class="open-file-name">
          <Icon name="open" /> <b>{file.name}</b>
          <button type="button" class="quiet" onClick={() => typeNetwork(FIRST_WORDS.topology, true)}>
            Close
          </button>
        </p>
      )}
      {!isElsewhere && <FileFailure />}
      {file !== null && unread.value === null && <HowItWasRead />}
      {shown !== null && !isElsewhere && <ReadingOptions />}
      {isPasting.value && <PasteDialog onClose={() => (isPasting.value = false)} />}
    </div>
  );
}

/** What is said of a file that could not be read, and what can be done about it. */
function FileFailure() {
  const isAsking = useSignal(false);
  const failed = unread.value;
  const error = failureAt("file", words.value.file !== null);
  return (
    <>
      <div class="field-error" role="alert">
        {error !== null && failed !== null && `${failed.file.name} was not opened. `}
        {error}
      </div>
      {failed !== null && (
        <div class="open-file-unread">
          <button type="button" onClick={() => (isAsking.value = true)}>
            What can be read
          </button>
          <button type="button" class="quiet" onClick={leaveUnread}>
            Forget {failed.file.name}
          </button>
        </div>
      )}
      {isAsking.value && (
        <Dialog title="What can be read" onClose={() => (isAsking.value = false)}>
          <Readable />
        </Dialog>
      )}
    </>
  );
}

/** The same where the file was dropped, until it is put aside; then it is below the button that opens files. */
export function DroppedFailure() {
  const failed = unread.value;
  const isHere = failed?.at != null;
  useEscape(isHere, putUnreadAside);
  if (failed === null || failed.at === null) return null;
  return (
    <section class="open-file-dropped" aria-label={`${failed.file.name} was not opened`} style={placeAt(failed.at)}>
      <button type="button" class="icon quiet" aria-label="Put aside" onClick={putUnreadAside}>
        <Icon name="close" />
      </button>
      <FileFailure />
      <ReadingOptions />
    </section>
  );
}

/** Returns where something stands that grows from a point to where there is more room, within the window. */
function placeAt({ x, y }: Point): Record<string, string> {
  const isBelow = y < innerHeight / 2;
  const room = isBelow ? innerHeight - y : y;
  return {
    left: `clamp(8px, ${x}px, 100vw - min(380px, 100vw - 16px) - 8px)`,
    ...(isBelow ? { top: `${Math.max(8, y)}px` } : { bottom: `${Math.max(8, innerHeight - y)}px` }),
    maxHeight: `${room - 8}px`,
  };
}

/** What the file said, and what was assumed where it did not: what `banyan topology` calls sources. */
function HowItWasRead() {
  const isOpen = useSignal(false);
  const sources = network.value?.sources ?? [];
  if (sources.length === 0) return null;
  return (
    <Fold class="open-file-read" isOpen={isOpen} summary={`How it was read, and what was assumed (${sources.length})`}>
      <ul class="open-file-formats">
        {sources.map((text) => (
          <li key={text}>{sentenceOf({ message: text })}</li>
        ))}
      </ul>
    </Fold>
  );
}

/** A text to paste or type, opened as a file. */
function PasteDialog({ onClose }: { readonly onClose: () => void }) {
  const text = useSignal("");
  return (
    <Dialog title="Paste a network, a schedule or a program" onClose={onClose}>
      <form
        class="open-file-paste"
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          void openFile(fileOfText(text.value));
        }}
      >
        <label for="pasted-text">For example what `nvidia-smi topo -m` prints</label>
        <textarea
          id="pasted-text"
          rows={14}
          spellcheck={false}
          value={text.value}
          onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        />
        <button type="submit" class="primary" disabled={text.value.trim() === ""}>
          Open it
        </button>
      </form>
      <details>
        <summary>What can be read</summary>
        <Readable />
      </details>
    </Dialog>
  );
}

/** What can be read, format by format, and an example to write one's own network after. */
function Readable() {
  return (
    <>
      <ul class="open-file-formats">
        {welcome.value?.formats.map(({ name, description }) => (
          <li key={name}>
            <b>{name}</b>: {description}
          </li>
        ))}
        <li>
          <b>schedules and programs</b>: banyan-schedule JSON, .bys, trees, MSCCL XML, MSCCL++ plans, and lists of sends
          as CSV (step,src,dst,chunk,op) for the network and the collective that are chosen
        </li>
      </ul>
      <p>A network as banyan-topology JSON:</p>
      <pre class="open-file-example lines">{EXAMPLE}</pre>
    </>
  );
}

/** What a file leaves open; it is read again with what was given. */
function ReadingOptions() {
  const failed = unread.value;
  const { file, options } = words.value;
  const given = useSignal<Options>({});
  useEffect(() => {
    const known = failed?.options ?? options;
    given.value = Object.fromEntries(READING_OPTIONS.map((name) => [name, known[name]]));
  }, [failed, file, options]);
  const wanted = failed !== null && /--[a-z]/.test(trouble.value?.failure.message ?? "");
  const read = (event: Event): void => {
    event.preventDefault();
    const source = failed?.file ?? (file === null ? null : new File([file.content], file.name));
    const said = Object.entries(given.value).filter(([, value]) => value !== undefined && value !== "");
    if (source !== null) void openFile(source, Object.fromEntries(said), failed?.at ?? null);
  };
  return (
    <details open={wanted}>
      <summary>Reading options</summary>
      <form class="open-file-options" onSubmit={read}>
        {READING_OPTIONS.map((name) => (
          <Field
            key={name}
            label={ROWS[name].field?.label ?? name}
            flag={flagOf(name)}
            error={failureAt(flagOf(name) as `--${string}`, true)}
          >
            {(control) => (
              <input
                {...control}
                type="text"
                spellcheck={false}
                placeholder={ROWS[name].field?.placeholder}
                value={String(given.value[name] ?? "")}
                onInput={({ currentTarget }) => {
                  given.value = { ...given.value, [name]: currentTarget.value.trim() };
                }}
              />
            )}
          </Field>
        ))}
        <button type="submit">Read it again</button>
      </form>
    </details>
  );
}
