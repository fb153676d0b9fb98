import { expect, it, vi } from "vitest";
import { last, settled } from "../state/fake-client.ts";

vi.mock("../../../src/web/state/client.ts", () => import("../state/fake-client.ts"));

const { words } = await import("../../../src/web/state/store.ts");
const { isOld, runComparison } = await import("../../../src/web/views/compare/run.ts");
const { withOptions } = await import("../../../src/web/state/words.ts");

const fileOf = (text: string) => ({ name: "network.json", content: new Blob([text]) });

it("a comparison is old once the network, its file or the request is another one", async () => {
  const file = fileOf("10 GB/s");
  const compared = { ...words.value, topology: "", file };
  words.value = compared;
  void runComparison();
  await last("compare").answer({});
  await settled();
  expect(isOld.value).toBe(false);
  const others = [
    { ...compared, file: fileOf("1 GB/s") },
    { ...compared, file: null, topology: "ring:4" },
    withOptions(compared, { collective: "allreduce" }),
    { ...compared, choices: { algorithms: "tacos" } },
  ];
  for (const other of others) {
    words.value = other;
    expect(isOld.value, JSON.stringify(other)).toBe(true);
  }
  words.value = { ...withOptions(compared, { size: "1MiB", algorithm: "ring" }), view: "compare" };
  expect(isOld.value).toBe(false);
});
