import { jsonText } from "../base/visible.ts";
import { answerByName } from "./atlas-by-name.ts";
import { indexIn } from "./files/atlas-folder.ts";

/** What a lookup is asked for, where it is said in the plainest way. */
interface Asked {
  readonly folder: string;
  readonly names: readonly string[];
  readonly kind: string | null;
}

/** Options with a value that a plain lookup has, by all their names. */
const VALUED: Readonly<Record<string, "failed" | "kind">> = {
  "--failed": "failed",
  "--collective": "kind",
  "-c": "kind",
};

/** Returns what a command line asks for; null where it says anything else, or says it in another way. */
function askedIn(argv: readonly string[]): Asked | null {
  if (argv[0] !== "atlas" || argv[1] !== "lookup" || !argv.includes("--json")) return null;
  const said: { folder?: string; failed?: string; kind?: string } = {};
  for (let i = 2; i < argv.length; i++) {
    const arg = argv[i] as string;
    if (arg === "--json" || arg === "--quiet" || arg === "-q") continue;
    const what = arg.startsWith("-") ? VALUED[arg] : "folder";
    const value = what === "folder" ? arg : argv[++i];
    if (what === undefined || value === undefined || value.startsWith("-") || said[what] !== undefined) return null;
    said[what] = value;
  }
  const { folder, failed, kind = null } = said;
  const names = failed?.split(",").map((name) => name.trim()) ?? [];
  return folder === undefined || names.length === 0 || names.includes("") ? null : { folder, names, kind };
}

/**
 * Returns the answer of `banyan atlas lookup DIR --failed NAME --json` where the index has it by name, the same as the command's, before
 * anything else of the command line is loaded: a controller waits for it. Null: the command itself is to be asked, which also says what
 * is wrong.
 */
export function quickLookup(argv: readonly string[]): string | null {
  const asked = askedIn(argv);
  if (asked === null) return null;
  const { folder, names, kind } = asked;
  try {
    const index = indexIn(folder, "the atlas");
    if (index === null || (kind !== null && !Object.hasOwn(index.collectives, kind))) return null;
    const kinds = kind === null ? Object.keys(index.collectives) : [kind];
    const answer = answerByName(index, folder, names, kinds, kind !== null);
    if (answer === null) return null;
    const { schema, ...rest } = answer;
    return `${jsonText({ schema, verb: "atlas", ok: true, warnings: [], ...rest }, 2)}\n`;
  } catch {
    return null;
  }
}
