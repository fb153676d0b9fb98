import { InputError } from "../base/errors.ts";

/** Packages that are loaded when they are asked for. */
export type OptionalPackage = "@duckdb/node-api" | "aws4fetch" | "bullmq" | "ioredis";

/**
 * Returns an optional package as `load` imports it. Rejects with InputError, which says how to install it and what goes with it,
 * where it is absent.
 */
export async function loadOptional<T>(
  name: OptionalPackage,
  what: string,
  load: () => Promise<T>,
  together: string = name,
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isAbsent = /^(?:ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND)$/.test(code ?? "");
    const why = isAbsent ? "which is not installed" : `which does not load here (${message.split("\n")[0]})`;
    throw new InputError(what, `the package ${name}`).saying(
      `${what} needs the package ${name}, ${why}: npm install ${together}`,
    );
  }
}
