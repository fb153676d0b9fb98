// Compiles src/ to dist/ with tsc, writes the manual page, and packs the judge that imports nothing into one file (dist/independent.js): beside the old
// one first, then swapped in, so that a failed build leaves dist/ as it was.
import { spawnSync } from "node:child_process";
import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { build } from "vite";
import { LICENCES, noticeOf, recorder } from "./notice.mjs";
import { at, paths, root } from "./paths.mjs";
import { stepHash, writeStamp } from "./stamp.mjs";

const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
/** Packages that people install when they want them: loaded when they are asked for, never packed. */
const { peerDependencies } = createRequire(import.meta.url)("../package.json");
const optionalPackages = Object.keys(peerDependencies);
const fresh = at(`dist-${process.pid}`);
const hash = stepHash.dist();
/** What people start. Node 22 keeps compiled code between runs; that of threads too, where the environment says so. */
const LAUNCHER = `#!/usr/bin/env node
import module from "node:module";

const { directory } = module.enableCompileCache?.() ?? {};
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
await import("../command/cli/main.js");
`;
/** What so many commands, or other files that are loaded when they are needed, have in common stands in one file; with fewer, commands load much that they do not need. */
const MOST_USED = 14;

/** Packs what a thread of the command line runs, as deep below the root as the modules that look for files from where they are. */
const packed = (entry, output, modules) =>
  build({
    configFile: false,
    root,
    logLevel: "error",
    plugins: [recorder(modules)],
    // these look for files of their own
    ssr: { noExternal: true, external: ["highs", "piscina", ...optionalPackages] },
    build: {
      ssr: at(entry),
      outDir: join(fresh, "command/cli"),
      emptyOutDir: false,
      minify: false,
      target: "node20",
      rolldownOptions: {
        output: {
          entryFileNames: "[name].js",
          chunkFileNames: "[name]-[hash].js",
          // names of functions stay, for `--debug`
          minify: { mangle: { keepNames: true } },
          ...output,
        },
      },
    },
  });

const { status } = spawnSync(process.execPath, [tsc, "-p", ".", "--outDir", fresh], { cwd: root, stdio: "inherit" });
if (status === 0) {
  await build({
    configFile: false,
    root,
    logLevel: "error",
    build: {
      ssr: at("src/independent/independent.ts"),
      outDir: fresh,
      emptyOutDir: false,
      minify: false,
      target: "node20",
      rolldownOptions: { output: { entryFileNames: "independent.js", codeSplitting: false } },
    },
  });
  // The command line in few files, each thread in its own, packages within: finding them takes about as long as compiling them.
  const modules = new Set();
  await packed("src/cli/main.ts", {}, modules);
  const shared = { name: "shared", test: (id) => !/src\/cli\/(?:work|commands)\b/.test(id), minShareCount: MOST_USED };
  await packed("src/cli/work.ts", { codeSplitting: { groups: [shared] } }, modules);
  await packed("src/sweep/executor-process.ts", {}, modules);
  writeFileSync(join(fresh, "command", LICENCES), noticeOf(modules));
  writeFileSync(join(fresh, "cli/main.js"), LAUNCHER);
  const manual = spawnSync(process.execPath, [join(fresh, "cli/main.js"), "help", "--man"], { encoding: "utf8" });
  if (manual.status !== 0) throw new Error(`the manual page: ${manual.stderr}`);
  writeFileSync(join(fresh, "banyan.1"), manual.stdout);
  chmodSync(join(fresh, "cli/main.js"), 0o755);
  const old = at(`dist-${process.pid}-old`);
  try {
    renameSync(paths.dist, old);
  } catch {
    // the first build
  }
  renameSync(fresh, paths.dist);
  rmSync(old, { recursive: true, force: true });
  writeStamp("dist", hash, true);
} else {
  rmSync(fresh, { recursive: true, force: true });
}
process.exit(status ?? 1);
