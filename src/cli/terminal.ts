/** Returns whether a stream shows colours: a terminal that is not dumb, and no NO_COLOR (https://no-color.org). */
export function showsColors(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return isTerminal(stream, env) && (env["NO_COLOR"] ?? "") === "";
}

/** Columns and rows of a terminal. */
export interface Terminal {
  readonly columns: number;
  readonly rows: number;
}

/** Returns whether lines on a stream can be erased and written again. */
export function isTerminal(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && env["TERM"] !== "dumb";
}
