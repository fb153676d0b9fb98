import { InputError } from "../../base/errors.ts";
import { placeOf } from "../../request/option-table.ts";

/** What names of files end with in which a reader would look for a certain format. */
const TELLING: readonly string[] = [
  ".json",
  ".bys",
  ".csv",
  ".xml",
  ".plan",
  ".c",
  ".py",
  ".svg",
  ".html",
  ".dot",
  ".pdf",
  ".png",
  ".yaml",
  ".yml",
  ".xlsx",
  ".ods",
];

/** Throws InputError for the name of a file that ends as one of another format than these does, such as a list of sends that was read. */
export function refuseEnding(path: string, endings: readonly string[]): void {
  const lower = path.toLowerCase();
  const own = TELLING.find((ending) => lower.endsWith(ending));
  if (own === undefined || endings.includes(own)) return;
  throw new InputError(
    placeOf("output"),
    `a name that ends in ${endings.join(" or ")}, for that is what is written,`,
    path,
  );
}
