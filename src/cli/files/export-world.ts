import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { InputError } from "../../base/errors.ts";
import { withoutAuto } from "../../request/synthesis-options.ts";
import type { World } from "../../run/export/world.ts";
import type { Context } from "../context.ts";
import { withEngine } from "../engine.ts";
import { collectiveRequest } from "../request.ts";
import { version } from "../version.ts";
import { outputFile } from "./output-file.ts";
import { outputFolder } from "./output-folder.ts";

/** The built app as one page; the same depth below the package's root in src/ and in dist/. */
const PAGE = fileURLToPath(new URL("../../../dist-web/banyan.html", import.meta.url));

/** Returns the text of the built app. Throws InputError where it is not built. */
async function builtPage(): Promise<string> {
  if (existsSync(PAGE)) return readFileSync(PAGE).toString();
  throw new InputError(
    "--to html",
    "the app, which `npm run build:web` builds (`--to report` writes a page without scripts),",
  );
}

/** Returns what exporters have of the world on the command line: files that are written beside and renamed, threads. */
export const worldOf = (context: Context): World => ({
  options: context.options,
  signal: context.signal,
  version,
  progress: (progress) => context.progress(progress),
  file: (path) => outputFile(context, path, "-o"),
  folder: (path) => outputFolder(context, path, "-o"),
  withEngine: (work) => withEngine(context, work),
  collective: (topology) => collectiveRequest(withoutAuto(context.options), topology),
  page: builtPage,
});
