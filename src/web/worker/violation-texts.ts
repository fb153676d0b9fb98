/** Returns the violations that a judge names, in sentences, and how many more there are. */
export function violationTexts({
  violations,
  violationCount,
}: {
  readonly violations: readonly { readonly message: string }[];
  readonly violationCount: number;
}): readonly string[] {
  const told = violations.map(({ message }) => message);
  return violationCount > told.length ? [...told, `... and ${violationCount - told.length} more`] : told;
}
