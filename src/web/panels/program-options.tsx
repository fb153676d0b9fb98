import type { Signal } from "@preact/signals";
import { flagOf, type Options } from "../../request/option-texts.ts";
import { Field } from "../parts/field.tsx";

const CHOICES = [
  { name: "dialect", label: "Dialect of XML", values: ["azure", "msccl", "rccl"] },
  { name: "protocol", label: "Protocol", values: ["Simple", "LL", "LL128"] },
  { name: "placement", label: "In place or not", values: ["in", "out", "both"] },
] as const;

const TEXTS = [
  { name: "instances", label: "Instances", placeholder: "1" },
  { name: "parts", label: "Parts of a tree's data", placeholder: "what is fastest" },
  { name: "threadBlocks", label: "Thread blocks on a GPU", placeholder: "100" },
  { name: "minBytes", label: "Smallest size", placeholder: "0" },
  { name: "maxBytes", label: "Greatest size", placeholder: "any" },
] as const;

/** What can be said of a program that exists already. */
const OF_PROGRAMS: readonly string[] = ["dialect", "minBytes", "maxBytes"];

/** What a program is to be like; all of it has defaults. */
export function ProgramOptions({
  options,
  isProgram,
}: {
  readonly options: Signal<Options>;
  readonly isProgram: boolean;
}) {
  const change = (name: string, value: string): void => {
    const { [name]: _, ...rest } = options.value;
    options.value = value === "" ? rest : { ...rest, [name]: value };
  };
  const fits = ({ name }: { readonly name: string }): boolean => !isProgram || OF_PROGRAMS.includes(name);
  return (
    <details>
      <summary>Options of programs</summary>
      <div class="downloads-options">
        {CHOICES.filter(fits).map(({ name, label, values }) => (
          <Field key={name} label={label} flag={flagOf(name)}>
            {(control) => (
              <select
                {...control}
                value={String(options.value[name] ?? "")}
                onChange={({ currentTarget }) => change(name, currentTarget.value)}
              >
                <option value="">usual</option>
                {values.map((value) => (
                  <option key={value} value={value}>
                    {value}
                  </option>
                ))}
              </select>
            )}
          </Field>
        ))}
        {TEXTS.filter(fits).map(({ name, label, placeholder }) => (
          <Field key={name} label={label} flag={flagOf(name)}>
            {(control) => (
              <input
                {...control}
                type="text"
                spellcheck={false}
                placeholder={placeholder}
                value={String(options.value[name] ?? "")}
                onInput={({ currentTarget }) => change(name, currentTarget.value.trim())}
              />
            )}
          </Field>
        ))}
      </div>
    </details>
  );
}
