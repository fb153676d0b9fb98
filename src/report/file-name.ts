/** Characters of a name: those of networks may be long. */
const MOST_LENGTH = 80;

/** Returns a text as part of a file's name: only letters, digits, dots and single dashes, which every file system takes. */
export const plainName = (text: string): string =>
  text
    .replace(/[^A-Za-z0-9.]+/g, "-")
    .slice(0, MOST_LENGTH)
    .replace(/^[-.]+|[-.]+$/g, "");
