import { randomBytes } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { asked, last, makes, settled, viewOf } from "./fake-client.ts";

vi.mock("../../../src/web/state/client.ts", () => import("./fake-client.ts"));
vi.mock("../../../src/web/offline/register.ts", () => ({ goOffline: async (): Promise<void> => undefined }));

/** The bar with the page's address, and Back. */
const bar = { hash: "", href: "http://here/" };
const entries: string[] = [];
const heard: (() => void)[] = [];
vi.stubGlobal("location", bar);
vi.stubGlobal("document", { getElementById: (): null => null });
vi.stubGlobal("addEventListener", (name: string, listener: () => void) => {
  if (name === "popstate") heard.push(listener);
});
vi.stubGlobal("requestAnimationFrame", (): number => 0);
const enter = (hash: string): void => {
  bar.hash = hash;
};
vi.stubGlobal("history", {
  pushState: (_: unknown, _title: string, hash: string) => {
    entries.push(bar.hash);
    enter(hash);
  },
  replaceState: (_: unknown, _title: string, hash: string) => enter(hash),
});

/** Goes back; what was asked before is forgotten. */
async function goBack(): Promise<void> {
  asked.length = 0;
  enter(entries.pop() as string);
  for (const listener of heard) listener();
  await settled();
}

const { begin } = await import("../../../src/web/state/begin.ts");
const { openFile, synthesize, typeNetwork } = await import("../../../src/web/state/actions.ts");
const { busy, isStale, made, network, words } = await import("../../../src/web/state/store.ts");

const PATIENCE = { timeout: 20_000 };
const RING = "#topology=ring:4&collective=allgather";

/** Waits until the bar says so. */
const says = (hash: string | RegExp): Promise<void> => expect.poll(() => bar.hash, PATIENCE).toMatch(hash);

/** Answers the network that is asked for once it is. */
async function reads(name: string): Promise<void> {
  await vi.waitFor(() => expect(last("network")).toBeDefined(), PATIENCE);
  await last("network").answer(viewOf(name));
}

async function type(topology: string): Promise<void> {
  typeNetwork(topology, true);
  await reads(topology);
}

async function synthesizes(topology: string): Promise<void> {
  void synthesize();
  await makes(topology);
}

beforeAll(async () => {
  bar.hash = RING;
  const begun = begin();
  await reads("ring:4");
  await begun;
});

beforeEach(() => {
  entries.length = 0;
});

describe("Back", () => {
  it("to a schedule ends the synthesis that was begun since", async () => {
    await synthesizes("ring:4");
    await says(`${RING}&run=1`);
    await type("mesh:24x24");
    await says("mesh:24x24");
    void synthesize();
    await last("network").answer(viewOf("mesh:24x24"));
    const making = last("make");
    await goBack();
    await reads("ring:4");
    expect([making.signal?.aborted, busy.value]).toEqual([true, null]);
    await making.answer({ ...(made.value?.schedule as object), answer: "mesh:24x24" });
    expect([made.value?.network.name, isStale.value, words.value.topology]).toEqual(["ring:4", false, "ring:4"]);
    await says(`${RING}&run=1`);
  });

  it("ends the opening of a file", async () => {
    await type("ring:5");
    await synthesizes("ring:5");
    await says(/ring:5.*run=1/);
    await type("ring:6");
    await says("ring:6");
    void openFile(new File(["{}"], "large.json"));
    const opening = last("open");
    await goBack();
    await reads("ring:5");
    expect(opening.signal?.aborted).toBe(true);
    await opening.answer({ kind: "network", format: "", network: viewOf("large") });
    expect([made.value?.network.name, network.value?.name, words.value.file]).toEqual(["ring:5", "ring:5", null]);
  });

  it.each([
    ["small", "{}"],
    ["large", randomBytes(20_000).toString("hex")],
  ])("to the schedule of a %s file shows it as it was, not out of date", async (name, text) => {
    void openFile(new File([text], name));
    await last("open").answer({ kind: "network", format: "", network: viewOf(name) });
    await synthesizes(name);
    await says(new RegExp(`file=${name}.*run=1`));
    await type("ring:7");
    await says("ring:7");
    await goBack();
    await expect.poll(() => last("open"), PATIENCE).toBeDefined();
    await last("open").answer({ kind: "network", format: "", network: viewOf(name) });
    await says(new RegExp(`file=${name}.*run=1`));
    expect([made.value?.network.name, isStale.value, busy.value]).toEqual([name, false, null]);
    expect(await words.value.file?.content.text()).toBe(text);
  });
});
