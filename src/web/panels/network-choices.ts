import type { ChoiceGroup } from "../parts/choices.ts";
import type { Welcome } from "../protocol.ts";
import { NETWORK_EXAMPLES } from "./network-examples.ts";

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
