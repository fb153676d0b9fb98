/** Names of options in texts: whoever talks to people says what they call them, the API's callers know their properties. */

let called = (option: string): string => option;

/** Says how options are called in texts from now on; returns what puts the old names back. */
export function callOptions(by: (option: string) => string): () => void {
  const before = called;
  called = by;
  return () => {
    called = before;
  };
}

/** An option of a request, in a text or as the place of a mistake. */
export interface OptionName {
  /** The property of the API's requests that it is. */
  readonly option: string;
  /** Returns what the option is called here: "timeLimitMs", "--time-limit". */
  toString(): string;
}

/** Returns the name of an option; `detail` says what of it is meant, beginning with what parts it from the name: " a-b". */
export const optionName = (option: string, detail = ""): OptionName => ({
  option,
  toString: () => `${called(option)}${detail}`,
});

/** Where something is wrong: an option, or in words a file with its line. */
export type Place = string | OptionName;
