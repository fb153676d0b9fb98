/** How sections are indexed, and read back from the index. */
export const SEARCH_OPTIONS = {
  idField: "id",
  fields: ["page", "heading", "text"],
  storeFields: ["page", "heading", "text"],
};
