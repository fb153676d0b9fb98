import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CancelledError } from "../../../src/base/errors.ts";
import type { Context } from "../../../src/cli/context.ts";
import { outputFolder } from "../../../src/cli/files/export-world.ts";
import { outputFile } from "../../../src/cli/files/output-file.ts";
import { unexpected } from "../../support/refusals.ts";

/** Calls of the system that a test watches, or makes fail. */
const calls = vi.hoisted(() => ({
  made: [] as string[],
  /** Throws where that call is to fail. */
  fails: (_name: string, _args: readonly unknown[]): void => {},
}));

vi.mock("node:fs", async (importOriginal) => {
  const fs = await importOriginal<typeof import("node:fs")>();
  const watched = [
    "openSync",
    "writeSync",
    "fsyncSync",
    "closeSync",
    "renameSync",
    "ftruncateSync",
    "fchownSync",
  ] as const;
  const replaced = Object.fromEntries(
    watched.map((name) => [
      name,
      (...args: unknown[]) => {
        calls.made.push(name);
        calls.fails(name, args);
        return (fs[name] as (...given: unknown[]) => unknown)(...args);
      },
    ]),
  );
  return { ...fs, ...replaced };
});

const systemError = (code: string): Error => Object.assign(new Error(`${code}: as told`), { code });
/** Makes the n-th call of a name (from 0) fail. */
function failing(name: string, n: number, code: string): void {
  let seen = 0;
  calls.fails = (called) => {
    if (called === name && seen++ === n) throw systemError(code);
  };
}

let folder: string;
const temporary = new Set<string>();
const context = {
  inputs: [] as readonly string[],
  uninterrupted: (work) => work(),
  temporary: {
    add: (path: string) => void temporary.add(path),
    remove: (path: string) => void temporary.delete(path),
  },
} as Context;
const at = (name: string): string => join(folder, name);
const put = (name: string, text: string): string => {
  writeFileSync(at(name), text);
  return at(name);
};
const text = (name: string): string => readFileSync(at(name), "utf8");
const names = (): string[] => readdirSync(folder).sort();
const write = (path: string, ...parts: string[]): number => outputFile(context, path, "-o").write(parts);

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "banyan-out-")));
  calls.made.length = 0;
  calls.fails = () => {};
  temporary.clear();
});
afterEach(() => {
  calls.fails = () => {};
  rmSync(folder, { recursive: true, force: true });
});

describe("a file that is replaced", () => {
  it("is flushed before it is renamed, and its folder after", () => {
    const output = outputFile(context, at("x"), "-o");
    calls.made.length = 0;
    output.write(["text"]);
    const order = calls.made.filter((name) => ["writeSync", "fsyncSync", "renameSync"].includes(name));
    expect(order).toEqual([
      "writeSync",
      "fsyncSync",
      "renameSync",
      ...(process.platform === "win32" ? [] : ["fsyncSync"]),
    ]);
  });

  it.skipIf(process.platform === "win32").each([0o600, 0o640, 0o666, 0o755])("keeps its mode %o", (mode) => {
    chmodSync(put("x", "old"), mode);
    write(at("x"), "new");
    expect([text("x"), statSync(at("x")).mode & 0o7777]).toEqual(["new", mode]);
  });

  it.skipIf(process.platform === "win32")("keeps to the user's mask where there was none", () => {
    write(at("x"), "new");
    expect(statSync(at("x")).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  it("keeps its owner where one may, and is written where one may not", () => {
    const path = put("x", "old");
    const isRoot = process.getuid?.() === 0;
    if (!isRoot) return;
    const { chownSync } = process.getBuiltinModule("node:fs");
    chownSync(path, 12345, 54321);
    write(path, "new");
    expect([statSync(path).uid, statSync(path).gid, text("x")]).toEqual([12345, 54321, "new"]);
    failing("fchownSync", 0, "EPERM");
    write(path, "newer");
    expect([statSync(path).uid, statSync(path).gid, text("x")]).toEqual([0, 54321, "newer"]);
  });

  it("is the one behind links, also where nothing is there yet", () => {
    mkdirSync(at("inner"));
    mkdirSync(at("other"));
    symlinkSync("../other/result", at("inner/link"));
    symlinkSync("inner/link", at("outer"));
    write(at("outer"), "first");
    expect([text("other/result"), readlinkSync(at("outer")), readlinkSync(at("inner/link"))]).toEqual([
      "first",
      "inner/link",
      "../other/result",
    ]);
    write(at("outer"), "second");
    expect([text("other/result"), names(), readdirSync(at("other"))]).toEqual([
      "second",
      ["inner", "other", "outer"],
      ["result"],
    ]);
  });

  it("is refused in one sentence behind links in a circle", () => {
    symlinkSync("b", at("a"));
    symlinkSync("a", at("b"));
    expect(() => outputFile(context, at("a"), "-o")).toThrow(unexpected("-o", at("a"), "not links in a circle"));
  });

  it("may be in the way of nothing that stays from an earlier run, nor of a link that somebody laid", () => {
    const stale = put(`.x.${process.pid}.tmp`, "stale");
    put("victim", "victim");
    let planted = "";
    calls.fails = (name, [path, flags]) => {
      if (name !== "openSync" || planted !== "" || flags !== "wx") return;
      planted = path as string;
      symlinkSync(at("victim"), planted);
    };
    expect(() => outputFile(context, at("x"), "-o")).toThrow(/EEXIST/);
    expect([text("victim"), lstatSync(planted).isSymbolicLink(), temporary.size]).toEqual(["victim", true, 0]);
    write(at("x"), "new");
    expect([text("x"), readFileSync(stale, "utf8")]).toEqual(["new", "stale"]);
  });

  it("has names beside it that differ from run to run", () => {
    const seen = new Set<string>();
    calls.fails = (name, [path, flags]) => {
      if (name === "openSync" && flags === "wx") seen.add(basename(path as string));
    };
    for (let run = 0; run < 5; run++) write(at("x"), "new");
    expect(seen.size).toBe(10);
  });

  it("may have a name as long as names can be", () => {
    const long = "日".repeat(85);
    write(at(long), "new");
    expect(names()).toEqual([long]);
  });

  it("stays while nothing may be replaced any more", () => {
    put("x", "old");
    const ending = {
      ...context,
      uninterrupted: () => {
        throw new CancelledError();
      },
    };
    expect(() => outputFile(ending, at("x"), "-o").write(["new"])).toThrow(CancelledError);
    expect([text("x"), names(), temporary.size]).toEqual(["old", ["x"], 0]);
  });

  it.skipIf(!existsSync("/proc/self/fd"))("is written where it stands when a shell has opened it", () => {
    put("log", "before\n");
    const descriptor = openSync(at("log"), "a");
    write(`/proc/self/fd/${descriptor}`, "new\n");
    write(`/dev/fd/${descriptor}`, "newer\n");
    expect([text("log"), names()]).toEqual(["before\nnew\nnewer\n", ["log"]]);
  });
});

const LONG = "long ".repeat(1000);

describe.each([
  ["a single name", 1],
  ["several names", 2],
])("a file of %s", (_, links) => {
  const cases = [
    ["longer", "old", LONG],
    ["shorter", LONG, "new"],
    ["as long", "old", "new"],
  ] as const;

  it.each(cases)("keeps them when what is written is %s", (_name, before, after) => {
    put("x", before);
    if (links > 1) linkSync(at("x"), at("y"));
    const inode = statSync(at("x")).ino;
    expect(write(at("x"), after)).toBe(after.length);
    const stats = statSync(at("x"));
    expect([text("x"), names(), stats.nlink]).toEqual([after, links > 1 ? ["x", "y"] : ["x"], links]);
    if (links > 1) expect([text("y"), stats.ino]).toEqual([after, inode]);
  });

  it.each(cases)(
    "is what it was, or what it should be, whichever call fails while what is written is %s",
    (_name, before, after) => {
      let failed = 0;
      for (const call of ["openSync", "writeSync", "fsyncSync", "closeSync", "renameSync", "ftruncateSync"]) {
        for (let n = 0; ; n++) {
          for (const name of names()) rmSync(at(name));
          put("x", before);
          if (links > 1) linkSync(at("x"), at("y"));
          failing(call, n, "EIO");
          let error: Error | null = null;
          try {
            write(at("x"), after);
          } catch (thrown) {
            error = thrown as Error;
          }
          calls.fails = () => {};
          if (error === null) break;
          failed++;
          expect([call, n, error]).toEqual([call, n, unexpected("-o", at("x"), "EIO")]);
          expect([call, n, [before, after].includes(text("x")), names()]).toEqual([
            call,
            n,
            true,
            links > 1 ? ["x", "y"] : ["x"],
          ]);
          // only the folder, and a name that is in place already, are left when the new text is there
          if (text("x") === after) expect(["fsyncSync", "closeSync"]).toContain(call);
          if (links > 1) expect(text("y")).toBe(text("x"));
        }
      }
      expect(failed).toBeGreaterThan(links > 1 ? 14 : 8);
    },
  );
});

describe("a file of several names on a disk that fails for good", () => {
  it("says where the old text is", () => {
    put("x", "old");
    linkSync(at("x"), at("y"));
    let placed = 0;
    calls.fails = (name, args) => {
      // the old text is copied, the end of the new one is written, and then nothing more can be
      if (name === "writeSync" && typeof args[4] === "number" && ++placed > 2) throw systemError("EIO");
    };
    const output = outputFile(context, at("x"), "-o");
    expect(() => output.write(["newer"])).toThrow(/what was in it is in .*\.old and could not be put back: EIO/);
    calls.fails = () => {};
    const kept = names().find((name) => name.endsWith(".old")) as string;
    expect(text(kept)).toBe("old");
  });
});

describe("a mount point", () => {
  it("is written to where it cannot be renamed to", () => {
    put("x", "old");
    const inode = statSync(at("x")).ino;
    failing("renameSync", 0, "EBUSY");
    write(at("x"), LONG);
    expect([text("x"), statSync(at("x")).ino, names()]).toEqual([LONG, inode, ["x"]]);
  });

  it("that is a folder is filled, or stays empty", () => {
    const files = [
      { name: "a", parts: ["1"] },
      { name: "b", parts: ["2"] },
    ];
    mkdirSync(at("out"));
    const inode = statSync(at("out")).ino;
    let opened = 0;
    calls.fails = (name, [, flags]) => {
      if (name === "renameSync") throw systemError("EBUSY");
      if (name === "openSync" && flags === "r+" && ++opened === 2) throw systemError("EIO");
    };
    expect(() => outputFolder(context, at("out"), "-o").write(files)).toThrow(/EIO/);
    expect([names(), readdirSync(at("out"))]).toEqual([["out"], []]);
    failing("renameSync", 0, "EBUSY");
    expect(outputFolder(context, at("out"), "-o").write(files)).toBe(2);
    expect([names(), readdirSync(at("out")), statSync(at("out")).ino]).toEqual([["out"], ["a", "b"], inode]);
  });
});

describe("a folder of files", () => {
  const files = [
    { name: "a", parts: ["1", "2"] },
    { name: "b", parts: [LONG] },
  ];

  it.skipIf(process.platform === "win32")(
    "keeps the mode of the empty one that it replaces, and the link to it",
    () => {
      mkdirSync(at("real"));
      chmodSync(at("real"), 0o750);
      symlinkSync("real", at("link"));
      outputFolder(context, at("link"), "-o").write(files);
      expect([statSync(at("real")).mode & 0o777, readlinkSync(at("link")), text("link/a"), names()]).toEqual([
        0o750,
        "real",
        "12",
        ["link", "real"],
      ]);
    },
  );

  it("is whole or not there, whichever call fails", () => {
    let failed = 0;
    for (const call of ["openSync", "writeSync", "fsyncSync", "closeSync", "renameSync"]) {
      for (let n = 0; ; n++) {
        rmSync(at("out"), { recursive: true, force: true });
        failing(call, n, "ENOSPC");
        let error: Error | null = null;
        try {
          outputFolder(context, at("out"), "-o").write(files);
        } catch (thrown) {
          error = thrown as Error;
        }
        calls.fails = () => {};
        if (error === null) break;
        failed++;
        expect(error).toEqual(unexpected("-o", at("out"), "a folder on a disk with room"));
        if (names().length > 0) expect([names(), readdirSync(at("out"))]).toEqual([["out"], ["a", "b"]]);
        expect(temporary.size).toBe(0);
      }
    }
    expect(failed).toBeGreaterThan(9);
  });
});
