import { createRequire } from "node:module";

// The same depth below the package's root in src/ and in dist/.
const manifest = createRequire(import.meta.url)("../../package.json") as { readonly version: string };

/** The package's version. */
export const { version } = manifest;
