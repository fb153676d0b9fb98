// Packs one commit twice, in two folders of other names and depths, at other times, under another umask, time zone and locale,
// and compares the packages byte by byte; prints what differs.
//   node scripts/same-pack.mjs [COMMIT]   the last one without it; needs git, tar and what builds the WebAssembly module
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { at, root } from "./paths.mjs";
import { filesBelow } from "./web-sizes.mjs";

const commit = process.argv[2] ?? "HEAD";
const work = mkdtempSync(join(tmpdir(), "banyan-pack-"));

/** Differences that are shown. */
const MOST_SHOWN = 100;

/** Where and how the two are packed. */
const PLACES = [
  { folder: "a", umask: "022", env: { TZ: "UTC", LC_ALL: "C" } },
  {
    folder: "another/and longer name",
    umask: "077",
    env: { TZ: "Pacific/Kiritimati", LC_ALL: "tr_TR.UTF-8", LANG: "tr_TR.UTF-8" },
  },
];

function run(command, args, options = {}) {
  const ran = spawnSync(command, args, { encoding: "utf8", maxBuffer: 2 ** 30, ...options });
  if (ran.status === 0) return ran.stdout;
  throw new Error(`${command} ${args.join(" ")} ended with status ${ran.status}:\n${ran.stdout}\n${ran.stderr}`);
}

/** Copies what is not in the commit, where it is here. */
function copied(from, to) {
  if (existsSync(from)) cpSync(from, to, { recursive: true, verbatimSymlinks: true });
}

/** Returns the package that a folder of the commit makes. */
function packed({ folder, umask, env }) {
  const home = join(work, folder);
  mkdirSync(home, { recursive: true });
  const archive = join(work, "commit.tar");
  run("git", ["-C", root, "archive", "-o", archive, commit]);
  run("sh", ["-c", `umask ${umask} && tar xf "$1" --no-same-permissions -C "$2"`, "sh", archive, home]);
  copied(at("node_modules"), join(home, "node_modules"));
  copied(at(".setup/yowasp"), join(home, ".setup/yowasp"));
  const { npm_config_local_prefix: _, INIT_CWD: _from, ...clean } = process.env;
  run("sh", ["-c", `umask ${umask} && exec npm pack --silent`], { cwd: home, env: { ...clean, ...env, PWD: home } });
  const [file] = readdirSync(home).filter((name) => name.endsWith(".tgz"));
  return join(home, file);
}

/** Returns the entries of a package, each with its mode and a hash of its content. */
function entriesOf(file) {
  const into = `${file}.entries`;
  mkdirSync(into);
  run("tar", ["xzf", file, "-C", into]);
  const modes = run("tar", ["tvzf", file], { env: { ...process.env, TZ: "UTC", LC_ALL: "C" } })
    .trim()
    .split("\n");
  const hashes = filesBelow(into).map((name) => [
    name,
    createHash("sha256")
      .update(readFileSync(join(into, name)))
      .digest("hex"),
  ]);
  return new Set([...modes, ...hashes.map(([name, hash]) => `${name} ${hash}`)]);
}

try {
  const [one, other] = PLACES.map(packed);
  const [a, b] = [one, other].map((file) => readFileSync(file));
  const hash = createHash("sha256").update(a).digest("hex");
  if (a.equals(b)) console.log(`two packs of ${commit} are the same ${a.length} bytes, sha256 ${hash}`);
  else {
    const [ofOne, ofOther] = [one, other].map(entriesOf);
    const differences = [
      ...[...ofOne].filter((line) => !ofOther.has(line)).map((line) => `- ${line}`),
      ...[...ofOther].filter((line) => !ofOne.has(line)).map((line) => `+ ${line}`),
    ];
    console.log(differences.slice(0, MOST_SHOWN).join("\n"));
    console.error(`two packs of one commit differ in ${differences.length} lines of their lists`);
    process.exitCode = 1;
  }
} finally {
  if (process.env.BANYAN_KEEP !== "1") rmSync(work, { recursive: true, force: true });
  else console.log(`kept in ${work}`);
}
