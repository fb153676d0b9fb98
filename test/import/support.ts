import { InputError } from "../../src/errors.ts";

/** Returns the sentence of the InputError that `run` throws; fails on any other outcome. */
export function sentenceOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
  throw new Error("expected an InputError, but nothing was thrown");
}
