/** Something to choose in a list; its form and the title of its group are searched too. */
export interface Choice {
  readonly value: string;
  readonly detail: string;
  /** How values like it are written. */
  readonly form?: string;
}

export interface ChoiceGroup {
  readonly title: string;
  readonly choices: readonly Choice[];
}

const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

/**
 * Returns the groups with the choices that contain every word of a text; groups with values that begin with it come first, and
 * in each group such values. All of them, as they are, for an empty text.
 */
export function matching(groups: readonly ChoiceGroup[], text: string): ChoiceGroup[] {
  const words = wordsOf(text);
  const [first = ""] = words;
  const isBegun = ({ value }: Choice): number => Number(!value.toLowerCase().startsWith(first));
  const fits = ({ value, detail, form = "" }: Choice, title: string): boolean => {
    const all = `${value} ${detail} ${form} ${title}`.toLowerCase();
    return words.every((word) => all.includes(word));
  };
  return groups
    .map(({ title, choices }) => ({
      title,
      choices: choices.filter((choice) => fits(choice, title)).toSorted((a, b) => isBegun(a) - isBegun(b)),
    }))
    .filter(({ choices }) => choices.length > 0)
    .toSorted((a, b) => isBegun(a.choices[0]) - isBegun(b.choices[0]));
}
