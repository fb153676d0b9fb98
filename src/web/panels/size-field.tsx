import { formatSize, parseSize } from "../../model/numbers/units.ts";
import { grouped } from "../../report/amounts.ts";
import { Field } from "../parts/field.tsx";
import { changeOptions } from "../state/actions.ts";
import { words } from "../state/store.ts";
import { failureAt } from "./failures.ts";
import { LEAST, MOST, powerOfSize, sizeOfPower } from "./sizes.ts";

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
export function SizeField() {
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
