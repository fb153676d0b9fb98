// npm run fuzz: libFuzzer with AddressSanitizer and UBSan over the C ABI. Needs clang with its runtime.
// Arguments go to libFuzzer: npm run fuzz -- -max_total_time=600
import { mkdirSync } from "node:fs";
import { at } from "./paths.mjs";
import { succeeds } from "./run.mjs";
import { findCommand } from "./toolchain.mjs";

const BUILD = "native/build-fuzz";
const clang = ["clang++", "clang++-14"].map((name) => findCommand(name, process.env)).find(Boolean);
if (!clang) {
  console.error("fuzz: clang++ is not installed (on Debian: clang-14 and libclang-rt-14-dev)");
  process.exit(1);
}
const options = ["-DBANYAN_ADDON=OFF", "-DBANYAN_FUZZ=ON", "-DBANYAN_SANITIZE=address,undefined,float-cast-overflow"];
const cmake = [
  "-S",
  ".",
  "-B",
  BUILD,
  `-DCMAKE_CXX_COMPILER=${clang}`,
  "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
  ...options,
];
const corpus = at(BUILD, "corpus");
mkdirSync(corpus, { recursive: true });
const args = process.argv.length > 2 ? process.argv.slice(2) : ["-max_total_time=30"];
const ok =
  succeeds("cmake", cmake) &&
  succeeds("cmake", ["--build", BUILD, "--parallel", "2"]) &&
  succeeds(at(BUILD, "banyan_fuzz"), [
    `-artifact_prefix=${at(BUILD)}/`,
    "-max_len=4096",
    "-print_final_stats=1",
    ...args,
    corpus,
  ]);
process.exit(ok ? 0 : 1);
