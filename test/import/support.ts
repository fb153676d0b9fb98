import { InputError } from "../../src/base/errors.ts";

/** Returns whether `read` throws an InputError; fails where it throws another. */
export function isRefused(read: () => void): boolean {
  try {
    read();
  } catch (error) {
    if (error instanceof InputError) return true;
    throw error;
  }
  return false;
}

/** A sentence in a line that begins with what is wrong. */
export const ONE_SENTENCE = /^(?!expected\b)(?!.*\bbut received\b)\S.*(?:[^\s.]|\.{3})$/;

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
