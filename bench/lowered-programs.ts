import { loweredPrograms } from "../test/support/lowered-programs.ts";

/** Made while this file is imported, for what is loaded on first use (HiGHS) cannot be loaded once `runnerImport` has returned. */
export const programs = await loweredPrograms();
