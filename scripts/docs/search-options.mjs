/** What people type, and the words that the pages have for it. */
const SYNONYMS = [
  [/^autocomplet/, ["completion"]],
  [/^manpages?$/, ["man", "page"]],
];

/** How sections are indexed, and read back from the index. */
export const SEARCH_OPTIONS = {
  processTerm(term) {
    const word = term.toLowerCase();
    return SYNONYMS.find(([pattern]) => pattern.test(word))?.[1] ?? word;
  },
  idField: "id",
  fields: ["page", "heading", "text"],
  storeFields: ["page", "heading", "text"],
};
