// The add-on with AddressSanitizer and UBSan, and what a process needs to load it.
import { execFileSync } from "node:child_process";
import { at } from "./paths.mjs";

export const SANITIZE = "address,undefined,float-cast-overflow";
export const FOLDER = "native/build-sanitize-addon";

/** Returns the environment for a process that loads the sanitized add-on as BANYAN_ADDON. */
export function sanitizedAddon() {
  const libraries = ["libasan.so", "libstdc++.so.6"].map((name) => {
    const printed = execFileSync(process.env.CXX ?? "c++", [`-print-file-name=${name}`], { encoding: "utf8" });
    return printed.trim();
  });
  return {
    ...process.env,
    // The sanitizer's runtime must come first in a node that was not built with it; node's own leaks are not ours. What
    // cannot be allocated is a status here, not a find.
    LD_PRELOAD: libraries.join(" "),
    ASAN_OPTIONS: "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=1024",
    UBSAN_OPTIONS: "print_stacktrace=1",
    BANYAN_ADDON: at(FOLDER, "RelWithDebInfo/banyan.node"),
  };
}
