import { InputError } from "../../base/errors.ts";
import type { Measurements } from "../../model/calibration/measurements.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import { parseJson } from "../text/json-text.ts";
import { looksLikeNcclTestsJson, readNcclTestsJson } from "./nccl-tests-json.ts";
import { otherJsonTool, otherTool } from "./nccl-tests-others.ts";
import { looksLikePoints, readPoints } from "./nccl-tests-points.ts";
import { looksLikeNcclTests, looksLikeNcclTestsStart, readNcclTestsText } from "./nccl-tests-text.ts";

const OUTPUT = "output of nccl-tests";
/** Headers and marks stand early, even where a log of NCCL precedes a table. */
const LOOKED_AT = 1 << 20;

/**
 * Returns the measurements in output of nccl-tests or rccl-tests (text of any version, or the JSON of -J), in our own
 * predictions of that form, or in a table of points. Logs of other tools are refused by name. `collective` serves where the file
 * does not tell it. Throws InputError. O(text).
 */
export function readMeasurements(
  text: string,
  fileName: string,
  collective: NamedCollective | null = null,
): Measurements[] {
  if (text.trim() === "") throw new InputError(fileName, OUTPUT);
  if (/^\ufeff?\s*[{[]\s*["{\]}]/.test(text)) {
    const value = parseJson(text, fileName);
    if (looksLikeNcclTestsJson(value)) return [readNcclTestsJson(value, fileName, collective)];
    const tool = otherJsonTool(value);
    throw new InputError(fileName, OUTPUT, tool === null ? value : `a file of ${tool}`);
  }
  if (looksLikePoints(text.slice(0, LOOKED_AT))) return readPoints(text, fileName);
  if (looksLikeNcclTests(text)) return readNcclTestsText(text, fileName, collective);
  if (looksLikeNcclTestsStart(text.slice(0, LOOKED_AT)))
    throw new InputError(fileName, "rows of a table of nccl-tests", "a log of nccl-tests that ends before its table");
  const tool = otherTool(text.slice(0, LOOKED_AT));
  throw new InputError(fileName, OUTPUT, tool === null ? text.trimStart().slice(0, 40) : `a log of ${tool}`);
}
