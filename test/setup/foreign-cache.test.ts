import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { removeForeignCache } from "../../scripts/foreign-cache.mjs";
import { root } from "../../scripts/paths.mjs";

it("removes what cmake keeps of another place, and leaves what it keeps of this one", () => {
  const folder = mkdtempSync(join(tmpdir(), "banyan-cache-"));
  const leaves = (home: string): boolean => {
    mkdirSync(join(folder, "CMakeFiles"), { recursive: true });
    writeFileSync(join(folder, "CMakeCache.txt"), `A:STRING=b\nCMAKE_HOME_DIRECTORY:INTERNAL=${home}\n`);
    removeForeignCache(folder);
    return existsSync(join(folder, "CMakeCache.txt")) && existsSync(join(folder, "CMakeFiles"));
  };
  try {
    removeForeignCache(join(folder, "absent"));
    expect([leaves(root), leaves("/elsewhere/banyan")]).toEqual([true, false]);
    expect(existsSync(join(folder, "CMakeFiles"))).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
