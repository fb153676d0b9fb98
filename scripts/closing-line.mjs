// The counts of the last test run as one line.
//   node scripts/closing-line.mjs [1 if the tests failed] [number of other checks that failed]
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { paths } from "./paths.mjs";

/** Returns "N passed, N failed, N skipped"; `failedAtLeast` counts failures that the report cannot know. */
export function closingLine(failedAtLeast, failedChecks = 0) {
  let counts = { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0, numTodoTests: 0 };
  try {
    counts = JSON.parse(readFileSync(paths.report, "utf8"));
  } catch {
    // the runner died before it wrote a report
  }
  const failed = Math.max(counts.numFailedTests, failedAtLeast) + failedChecks;
  return `${counts.numPassedTests} passed, ${failed} failed, ${counts.numPendingTests + counts.numTodoTests} skipped`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [testsFailed = 0, checksFailed = 0] = process.argv.slice(2).map(Number);
  console.log(closingLine(testsFailed, checksFailed));
}
