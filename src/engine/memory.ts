import { readFileSync } from "node:fs";
import { freemem, platform } from "node:os";
import { join } from "node:path";

/**
 * Returns the bytes that this process can still take without swapping: what the kernel calls available, and what every
 * control group (container) that the process is in leaves over; null where the system does not say (macOS counts what it
 * would give up at once as used). Files that are only cached count as free. `root` is the folder of proc/ and sys/, for tests.
 */
export function freeMemory(root = "/"): number | null {
  if (platform() !== "linux") return platform() === "darwin" ? null : freemem();
  const available = field(textOf(root, "proc/meminfo"), /^MemAvailable:\s*(\d+) kB/m);
  const limits = [available === null ? freemem() : available * 1024];
  for (const line of textOf(root, "proc/self/cgroup").split("\n")) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (path === undefined) continue;
    if (controllers === "") limits.push(...leftOver(root, "sys/fs/cgroup", path, V2));
    else if (controllers?.split(",").includes("memory"))
      limits.push(...leftOver(root, "sys/fs/cgroup/memory", path, V1));
  }
  return Math.max(0, Math.min(...limits));
}

/** Names of the files of a memory control group. */
interface GroupFiles {
  readonly limit: string;
  readonly used: string;
  /** Bytes of files that nobody used lately: they make room. */
  readonly cached: RegExp;
}
const V2: GroupFiles = { limit: "memory.max", used: "memory.current", cached: /^inactive_file (\d+)/m };
const V1: GroupFiles = {
  limit: "memory.limit_in_bytes",
  used: "memory.usage_in_bytes",
  cached: /^total_inactive_file (\d+)/m,
};

/** Returns what a group and the groups around it leave over, as far as they have limits. */
function leftOver(root: string, mount: string, path: string, files: GroupFiles): number[] {
  const found: number[] = [];
  // Inside a container the path may be the host's; the container's own group is then the mount itself.
  for (let group = path; ; group = group.slice(0, group.lastIndexOf("/"))) {
    const limit = field(textOf(root, mount, group, files.limit), /^(\d+)/);
    const used = field(textOf(root, mount, group, files.used), /^(\d+)/);
    if (limit !== null && used !== null) {
      found.push(limit - used + (field(textOf(root, mount, group, "memory.stat"), files.cached) ?? 0));
    }
    if (group === "" || group === "/") return found;
  }
}

/** Returns a file's text; empty where it cannot be read. */
function textOf(...path: readonly string[]): string {
  try {
    return readFileSync(join(...path), "utf8");
  } catch {
    return "";
  }
}

function field(text: string, pattern: RegExp): number | null {
  const digits = pattern.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}
