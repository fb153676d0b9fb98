import { InputError } from "../../base/errors.ts";

/** Throws InputError where a time, named by `what`, has left the picoseconds that doubles hold exactly. */
export function demandExactPs(ps: number, what: string): void {
  if (!(ps <= Number.MAX_SAFE_INTEGER)) throw new InputError(what, "less than 2^53 ps (2.5 hours)", ps);
}
