import { accessSync, constants, createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { isIPv6 } from "node:net";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { looksLikePreset, presetTopology } from "../../model/presets/preset.ts";
import { type Options, optionValue, textOf } from "../../request/option-table.ts";
import { type Context, outJson, outLines } from "../context.ts";
import { openSource, STANDARD_INPUT, statOf } from "../files/input-file.ts";
import { labelled } from "../reports/text.ts";
import { listen, type Place } from "../serve/listen.ts";
import { DOCS, INSIDE, type OfferedFile, siteListener } from "../serve/site.ts";

const HOST = "127.0.0.1";
const PORT = 8420;
const LAST_PORT = 65_535;

/** The built app, at the package's root; BANYAN_APP names another folder. */
function appFolder(env: NodeJS.ProcessEnv): string {
  const folder = env["BANYAN_APP"] ?? fileURLToPath(new URL("../../../dist-web", import.meta.url));
  if (!existsSync(join(folder, "index.html")))
    throw new InputError("serve", "the built app in dist-web/ (`npm run build:web` makes it)");
  return folder;
}

/** The built documentation, at the package's root; null where it was not built. */
function docsFolder(): string | null {
  const folder = fileURLToPath(new URL("../../../dist-docs", import.meta.url));
  return existsSync(join(folder, "index.html")) ? folder : null;
}

function placeOf(options: Options): Place {
  const port = optionValue(options, "port");
  if (port !== undefined && port > LAST_PORT)
    throw new InputError(optionName("port"), `a port, 0 to ${LAST_PORT}`, port).as("out-of-range");
  return { host: textOf(options, "host") ?? HOST, port: port ?? PORT, fixed: port !== undefined };
}

/** Returns the file that the app is to open; what is no plain file is read at once. Throws InputError where it cannot be read. */
function offeredFile(path: string): OfferedFile {
  const source = openSource(path, "FILE");
  const name = path === STANDARD_INPUT ? "input" : basename(path);
  const sizeNow = (): number => statOf(path, "FILE")?.size ?? 0;
  // files of /proc are of no size
  const canReopen = path !== STANDARD_INPUT && statOf(path, "FILE")?.isFile() === true && sizeNow() > 0;
  const reopened = (): Readable => {
    accessSync(path, constants.R_OK);
    return createReadStream(path);
  };
  const size = (): number => (canReopen ? sizeNow() : source.size);
  return { name, size, open: () => (canReopen ? reopened() : Readable.from([source.read(0, source.size)])) };
}

/** Returns whether a text names a preset and no file. Throws InputError for one that makes no network. */
function isPreset(text: string | undefined): text is string {
  if (text === undefined || !looksLikePreset(text) || statOf(text, "FILE") !== undefined) return false;
  presetTopology(text);
  return true;
}

const isLoopback = (host: string): boolean => /^(?:127\.|::1$|localhost$)/.test(host);
const isEverywhere = (host: string): boolean => host === "0.0.0.0" || host === "::";

/** `banyan serve [FILE|TOPO]`: the app in a browser on this machine, until Ctrl-C. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, signal, json } = context;
  const folder = appFolder(process.env);
  const place = placeOf(options);
  const [path] = args;
  const preset = isPreset(path) ? path : null;
  const offered = path === undefined || preset !== null ? null : offeredFile(path);
  const docs = docsFolder();
  const server = createServer(siteListener({ folder, docs, offered, localOnly: isLoopback(place.host) }));
  const port = await listen(server, place);
  // a connection that the system cannot give: the next ones are served
  server.on("error", (error) => context.note(error.message));
  const host = isEverywhere(place.host) ? "localhost" : isIPv6(place.host) ? `[${place.host}]` : place.host;
  const site = `http://${host}:${port}/`;
  const name = offered === null ? null : encodeURIComponent(offered.name);
  const shown = preset === null ? "" : `#topology=${encodeURIComponent(preset)}`;
  const address = name === null ? `${site}${shown}` : `${site}#open=${name}`;
  if (json)
    outJson(context, {
      schema: "banyan/serve@1",
      address,
      port,
      file: name === null ? null : `${site}${INSIDE}/${name}`,
      docs: docs === null ? null : `${site}${DOCS}/`,
    });
  else
    outLines(context, [
      `  ${labelled("app", address)}`,
      ...(docs === null ? [] : [`  ${labelled("docs", `${site}${DOCS}/`)}`]),
      `  ${labelled("", "Ctrl-C ends it")}`,
    ]);
  if (!isLoopback(place.host))
    context.note(
      "over http, other machines' browsers give the app neither threads nor use without a network: only localhost has them",
    );
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  server.close();
  server.closeAllConnections();
  return 0;
}
