// The TypeScript of the pages: every ```ts block is a module that compiles under `strict` against the built declarations, and runs;
// a ```text block right behind it is what it prints.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { at, root } from "../paths.mjs";
import { blocksOf, runPages, textOfPage } from "./pages.mjs";

const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  skipLibCheck: true,
  types: ["node"],
};

/** Returns the snippets of the pages: { page, line, text, prints } with the lines that it prints, or undefined. */
export function snippets() {
  return runPages().flatMap((page) => {
    const blocks = blocksOf(textOfPage(page));
    return blocks.flatMap(({ lang, lines, line }, index) => {
      if (lang !== "ts") return [];
      const next = blocks[index + 1];
      const isBehind = next?.lang === "text" && next.line <= line + lines.length + 3;
      return [{ page, line, text: `${lines.join("\n")}\n`, prints: isBehind ? next.lines.join("\n") : undefined }];
    });
  });
}

/**
 * Compiles and runs snippets as someone has them who has installed the package. Returns { errors, runs }: what the compiler says,
 * and of each that compiles its { page, line, status, out, err, prints }.
 */
export function runSnippets(given) {
  const folder = mkdtempSync(join(tmpdir(), "banyan-snippets-"));
  try {
    mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
    symlinkSync(root, join(folder, "node_modules/banyan"));
    symlinkSync(at("node_modules/@types/node"), join(folder, "node_modules/@types/node"));
    symlinkSync(at("node_modules/undici-types"), join(folder, "node_modules/undici-types"));
    cpSync(at("examples"), join(folder, "examples"), { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
    const files = given.map(({ text }, index) => {
      const file = join(folder, `snippet${index}.ts`);
      writeFileSync(file, text);
      return file;
    });
    const program = ts.createProgram(files, STRICT);
    const { diagnostics } = program.emit();
    const errors = [...ts.getPreEmitDiagnostics(program), ...diagnostics].map(({ file, start, messageText }) => {
      const index = files.indexOf(file?.fileName ?? "");
      const at =
        index < 0
          ? (file?.fileName ?? "")
          : `${given[index].page}:${given[index].line + 1 + file.getLineAndCharacterOfPosition(start).line}`;
      return `${at}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
    });
    const runs = given.map(({ page, line, prints }, index) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [`snippet${index}.js`], {
        cwd: folder,
        encoding: "utf8",
      });
      return { page, line, status, out: stdout.trim(), err: stderr, prints };
    });
    return { errors, runs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
