import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { flagOf, type Options, READING_OPTIONS } from "../../request/option-texts.ts";
import { Field } from "../parts/field.tsx";
import { openFile } from "../state/actions.ts";
import { trouble, unread, words } from "../state/store.ts";
import { failureAt } from "./failures.ts";

const FIELDS: Readonly<Record<(typeof READING_OPTIONS)[number], { label: string; placeholder: string }>> = {
  gpu: { label: "Model of the GPUs", placeholder: "a100, h100, mi250, ..." },
  assume: { label: "Figures that it lacks", placeholder: "nic=200Gbps, latency=1us" },
  nodes: { label: "Number of boxes", placeholder: "usual: 1" },
  profileSize: { label: "Size of a TACCL profile", placeholder: "usual: 1MB" },
  profileScale: { label: "Costs are in 1/n us", placeholder: "usual: 1" },
};

/** What a file leaves open; it is read again with what was given. */
export function ReadingOptions() {
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
    if (source !== null) void openFile(source, Object.fromEntries(said));
  };
  return (
    <details open={wanted}>
      <summary>Reading options</summary>
      <form class="open-file-options" onSubmit={read}>
        {READING_OPTIONS.map((name) => (
          <Field
            key={name}
            {...FIELDS[name]}
            flag={flagOf(name)}
            error={failureAt(flagOf(name) as `--${string}`, true)}
          >
            {(control) => (
              <input
                {...control}
                type="text"
                spellcheck={false}
                placeholder={FIELDS[name].placeholder}
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
