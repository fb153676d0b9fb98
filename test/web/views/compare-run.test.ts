import { expect, it, vi } from "vitest";
import { asked, last, settled } from "../state/fake-client.ts";

vi.mock("../../../src/web/state/client.ts", () => import("../state/fake-client.ts"));

const { words } = await import("../../../src/web/state/store.ts");
const { comparison, followComparison, isOld, runComparison, stopComparison } = await import(
  "../../../src/web/views/compare/run.ts"
);
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

it("a comparison that was made before is shown again with its words, and the address says that there is one", async () => {
  const compared = { ...words.value, file: null, topology: "ring:5", choices: {} };
  words.value = compared;
  void runComparison();
  const found = { rows: [], limits: [] };
  await last("compare").answer(found);
  await settled();
  await followComparison();
  expect(words.value.choices.compared).toBe("1");
  words.value = { ...words.value, topology: "ring:6" };
  await followComparison();
  expect(isOld.value).toBe(true);
  expect(words.value.choices.compared).toBeUndefined();
  words.value = compared;
  await followComparison();
  expect([comparison.value, isOld.value, words.value.choices.compared]).toEqual([found, false, "1"]);
});

it("what an address says was compared is compared again where nothing of it is kept", async () => {
  comparison.value = null;
  const compared = { ...words.value, topology: "ring:7" };
  words.value = compared;
  expect(compared.choices.compared).toBe("1");
  const following = followComparison();
  await settled();
  await settled();
  await last("compare").answer({ rows: [], limits: [] });
  await following;
  expect([isOld.value, words.value.choices.compared]).toEqual([false, "1"]);
});

it("what an address says was compared is not begun again where it was stopped", async () => {
  comparison.value = null;
  words.value = { ...words.value, topology: "ring:9", choices: { compared: "1" } };
  const following = followComparison();
  await settled();
  await settled();
  const before = asked.length;
  stopComparison();
  await following;
  await followComparison();
  expect([asked.length, words.value.choices.compared, comparison.value]).toEqual([before, undefined, null]);
});
