import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
// The command line as it is built lies a level deeper than src/cli and dist/cli.
const place = import.meta.url.includes("/command/cli/") ? "../../../package.json" : "../../package.json";
const manifest = require(place) as { readonly version: string };

/** The package's version. */
export const { version } = manifest;
