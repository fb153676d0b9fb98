import fc from "fast-check";
import { expect } from "vitest";
import { callOptionsByFlags } from "../../src/request/option-table.ts";

/**
 * Before each test file: its properties draw from BANYAN_TEST_SEED, 1 where none is set, so a run of the tests can be
 * repeated; a property that names a seed keeps it.
 */
const given = process.env["BANYAN_TEST_SEED"] ?? "1";
if (!/^-?\d{1,9}$/.test(given)) throw new Error(`BANYAN_TEST_SEED: expected an integer, received ${given}`);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) });

// sentences of errors are held as the command line and the page say them; test/base/option-names.test.ts has the API's words
callOptionsByFlags();

// arrays of the same bytes are equal: Vitest looks at each element as an object's property, a thousand times as long
expect.addEqualityTesters([
  (a: unknown, b: unknown) => {
    if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b) || a.constructor !== b.constructor) return undefined;
    const [one, other] = [a, b].map(
      ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
    );
    return Buffer.compare(one as Uint8Array, other as Uint8Array) === 0 ? true : undefined;
  },
]);
