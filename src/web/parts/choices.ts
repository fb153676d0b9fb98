/** Something to choose in a list; `words` are found too. */
export interface Choice {
  readonly value: string;
  readonly detail: string;
}

export interface ChoiceGroup {
  readonly title: string;
  readonly choices: readonly Choice[];
}

/** Returns the groups with the choices that contain every word of a text, in their value or detail; all for an empty text. */
export function matching(groups: readonly ChoiceGroup[], text: string): ChoiceGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ value, detail }: Choice, title: string): boolean => {
    const all = `${value} ${detail} ${title}`.toLowerCase();
    return words.every((word) => all.includes(word));
  };
  return groups
    .map(({ title, choices }) => ({ title, choices: choices.filter((choice) => fits(choice, title)) }))
    .filter(({ choices }) => choices.length > 0);
}
