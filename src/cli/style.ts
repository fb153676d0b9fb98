/** The few styles of the reports; each returns the text as it is where colours are off. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
}

const wrap = (open: number, close: number) => (text: string) => `\u001b[${open}m${text}\u001b[${close}m`;
const plain = (text: string): string => text;

/** Returns the styles for a terminal with colours, or without. */
export function styleOf(colors: boolean): Style {
  if (!colors) return { bold: plain, dim: plain, good: plain, bad: plain };
  return { bold: wrap(1, 22), dim: wrap(2, 22), good: wrap(32, 39), bad: wrap(31, 39) };
}

/** Returns whether a stream shows colours: a terminal that is not dumb, and no NO_COLOR (https://no-color.org). */
export function showsColors(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return isTerminal(stream, env) && (env["NO_COLOR"] ?? "") === "";
}

/** Returns whether lines on a stream can be erased and written again. */
export function isTerminal(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && env["TERM"] !== "dumb";
}
