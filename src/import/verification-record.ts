import { parseJson } from "./json-text.ts";
import { asObject, placeIn, refuse } from "./json-value.ts";

const SCHEMA = "banyan/verification-record@1";

/**
 * Returns the record that a text is, as it stands: what it says is compared, not believed. Throws InputError where it is none.
 */
export function readVerificationRecord(text: string, fileName: string): Readonly<Record<string, unknown>> {
  const value = asObject<{ readonly schema?: unknown }>(parseJson(text, fileName), fileName);
  if (value.schema !== SCHEMA)
    refuse(placeIn(fileName, "schema"), `"${SCHEMA}" (\`banyan verify --record\`)`, value.schema);
  return value as Readonly<Record<string, unknown>>;
}
