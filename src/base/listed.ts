/** Returns "", "a", "a and b", "a, b and c"; or with "or". */
export const listed = (names: readonly (string | number)[], word: "and" | "or" = "and"): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)}`;
