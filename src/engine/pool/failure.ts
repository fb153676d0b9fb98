import { CancelledError, InfeasibleError, InputError, InternalError } from "../../errors.ts";

/** An error of ours on its way between threads, where classes and fields get lost. */
export interface Failure {
  readonly message: string;
  readonly fields: { readonly name: string };
}

const CLASSES = [InputError, InfeasibleError, CancelledError, InternalError];

/** Returns the message form of an error of ours; undefined for any other. */
export function toFailure(error: unknown): Failure | undefined {
  const known = CLASSES.find((candidate) => error instanceof candidate);
  if (known === undefined) return undefined;
  return { message: (error as Error).message, fields: { ...(error as Error), name: known.name } };
}

/** Returns the error again, of its class and with its fields. */
export function fromFailure({ message, fields }: Failure): Error {
  const known = CLASSES.find((candidate) => candidate.name === fields.name) ?? InternalError;
  return Object.assign(Object.setPrototypeOf(new Error(message), known.prototype), fields);
}
