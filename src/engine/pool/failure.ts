import { CancelledError, DamagedFileError, InfeasibleError, InputError, InternalError } from "../../base/errors.ts";

/** An error of ours on its way between threads, where classes and fields get lost. */
export interface Failure {
  readonly message: string;
  readonly fields: { readonly name: string };
}

/** By the names they go by between threads, subclasses first: those of the classes themselves do not outlive a minifier. */
const CLASSES = Object.entries({ DamagedFileError, InputError, InfeasibleError, CancelledError, InternalError });

/** Returns the message form of an error of ours; undefined for any other. */
export function toFailure(error: unknown): Failure | undefined {
  const [name] = CLASSES.find(([, candidate]) => error instanceof candidate) ?? [];
  if (name === undefined) return undefined;
  return { message: (error as Error).message, fields: { ...(error as Error), name } };
}

/** Returns the error again, of its class and with its fields. */
export function fromFailure({ message, fields }: Failure): Error {
  const [, known] = CLASSES.find(([name]) => name === fields.name) ?? ["", InternalError];
  return Object.assign(Object.setPrototypeOf(new Error(message), known.prototype), fields);
}
