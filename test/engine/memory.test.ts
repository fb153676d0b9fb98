import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { freeMemory } from "../../src/engine/memory.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-memory-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let machines = 0;

/** Returns the root of a machine with these files. */
function machine(files: Readonly<Record<string, string>>): string {
  const root = join(folder, String(machines++));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

const MEMINFO = "MemTotal:       1000 kB\nMemFree:          10 kB\nMemAvailable:    500 kB\n";

describe.runIf(process.platform === "linux")("freeMemory", () => {
  it("is what the kernel calls available", () => {
    expect(freeMemory(machine({ "proc/meminfo": MEMINFO }))).toBe(512_000);
  });

  it("is what a container leaves over where that is less, cached files counted as free", () => {
    const root = machine({
      "proc/meminfo": MEMINFO,
      "proc/self/cgroup": "0::/\n",
      "sys/fs/cgroup/memory.max": "300000\n",
      "sys/fs/cgroup/memory.current": "250000\n",
      "sys/fs/cgroup/memory.stat": "anon 5\ninactive_file 40000\nactive_file 7\n",
    });
    expect(freeMemory(root)).toBe(90_000);
  });

  it("looks at every group around the process", () => {
    const group = (path: string, limit: string, used: string) => ({
      [`sys/fs/cgroup/${path}memory.max`]: limit,
      [`sys/fs/cgroup/${path}memory.current`]: used,
    });
    const root = machine({
      "proc/meminfo": MEMINFO,
      "proc/self/cgroup": "0::/a/b\n",
      ...group("a/b/", "max", "1000"),
      ...group("a/", "200000", "80000"),
    });
    expect(freeMemory(root)).toBe(120_000);
  });

  it("knows the first version of control groups, where the path may be the host's", () => {
    const root = machine({
      "proc/meminfo": MEMINFO,
      "proc/self/cgroup": "5:cpu,cpuacct:/host\n4:memory:/host/path\n0::/\n",
      "sys/fs/cgroup/memory/memory.limit_in_bytes": "100000\n",
      "sys/fs/cgroup/memory/memory.usage_in_bytes": "110000\n",
      "sys/fs/cgroup/memory/memory.stat": "inactive_file 1\ntotal_inactive_file 30000\n",
    });
    expect(freeMemory(root)).toBe(20_000);
  });

  it("is never below nothing", () => {
    const root = machine({
      "proc/meminfo": MEMINFO,
      "proc/self/cgroup": "0::/\n",
      "sys/fs/cgroup/memory.max": "1000\n",
      "sys/fs/cgroup/memory.current": "2000\n",
    });
    expect(freeMemory(root)).toBe(0);
  });

  it("is a figure of this machine", () => {
    const free = freeMemory() as number;
    expect(free).toBeGreaterThan(2 ** 20);
    expect(free).toBeLessThanOrEqual(totalmem());
  });
});
