import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Made } from "../../../src/web/state/store.ts";
import { asked, last, makes, scheduleOf, viewOf } from "./fake-client.ts";

vi.mock("../../../src/web/state/client.ts", () => import("./fake-client.ts"));
vi.stubGlobal("requestAnimationFrame", (): number => 0);

const { openFile, synthesize, typeNetwork } = await import("../../../src/web/state/actions.ts");
const { before, busy, isStale, made, network, words } = await import("../../../src/web/state/store.ts");
const { degrade, fail, restoreAll } = await import("../../../src/web/state/what-if.ts");
const { FIRST_WORDS } = await import("../../../src/web/state/words.ts");

beforeEach(() => {
  asked.length = 0;
  words.value = FIRST_WORDS;
  network.value = made.value = before.value = busy.value = null;
});

describe("what if", () => {
  it("a schedule follows each change, and the unchanged one is kept to compare with", async () => {
    void synthesize();
    await makes("whole");
    void fail(["1"]);
    await last("network").answer(viewOf("rest"));
    await makes("rest");
    expect(made.value?.schedule.answer).toBe("rest");
    expect(before.value?.schedule.answer).toBe("whole");
    void restoreAll();
    await last("network").answer(viewOf("whole"));
    await makes("whole again");
    expect([made.value?.schedule.answer, before.value, busy.value]).toEqual(["whole again", null, null]);
  });

  it("a schedule follows two changes at once, also where the first is still made", async () => {
    void synthesize();
    void fail(["1"]);
    void fail(["0-1"]);
    expect(asked.filter(({ signal }) => signal?.aborted !== true)).toHaveLength(1);
    await last("network").answer(viewOf("rest"));
    await makes("rest");
    expect(made.value?.words.options["without"]).toBe("1,0-1");
  });

  it("a schedule that was opened is not what the network made before: it may be of another collective", async () => {
    void openFile(new File(["{}"], "schedule.json"));
    await last("open").answer({ kind: "schedule", network: viewOf("file"), schedule: scheduleOf("file", null) });
    expect(made.value?.schedule.answer).toBe("file");
    void fail(["1"]);
    expect(before.value).toBeNull();
  });
});

describe("a bandwidth that is dragged", () => {
  afterEach(() => vi.useRealTimers());

  it.each([
    ["changes the network that it was dragged in", undefined, "0-1=0.5"],
    ["changes no network that was typed since", "mesh:4x4", undefined],
  ])("%s", (_, typed, degraded) => {
    vi.useFakeTimers();
    degrade(["0-1"], 0.5);
    if (typed !== undefined) typeNetwork(typed);
    vi.runAllTimers();
    expect(words.value.options["degrade"]).toBe(degraded);
  });

  it("changes no other file of the same name", async () => {
    const open = async (): Promise<void> => {
      void openFile(new File(["{}"], "network.json"));
      await last("open").answer({ kind: "network", format: "", network: viewOf("file") });
    };
    await open();
    vi.useFakeTimers();
    degrade(["0-1"], 0.5);
    const opened = open();
    await vi.runAllTimersAsync();
    await opened;
    expect(words.value.options["degrade"]).toBeUndefined();
  });
});

describe("a schedule that is shown", () => {
  it("is out of date once another file of the same name is there", () => {
    const file = (text: string) => ({ name: "network.json", content: new Blob([text]) });
    words.value = { ...FIRST_WORDS, topology: "", file: file("10 GB/s") };
    made.value = { schedule: scheduleOf("file"), network: viewOf("file"), words: words.value } as unknown as Made;
    expect(isStale.value).toBe(false);
    words.value = { ...words.value, file: file("1 GB/s") };
    expect(isStale.value).toBe(true);
  });
});

describe("a file that is opened", () => {
  it("gives way to a network that is typed later", async () => {
    void openFile(new File(["{}"], "network.json"));
    const opening = last("open");
    typeNetwork("mesh:8x8", true);
    expect([opening.signal?.aborted, busy.value]).toEqual([true, null]);
    await opening.answer({ kind: "network", format: "", network: viewOf("file") });
    await last("network").answer(viewOf("mesh:8x8"));
    expect([words.value.topology, words.value.file, network.value?.name]).toEqual(["mesh:8x8", null, "mesh:8x8"]);
  });

  it("stays, whatever network was read or typed before", async () => {
    typeNetwork("mesh:9x9", true);
    const late = last("network");
    typeNetwork("mesh:8x8");
    void openFile(new File(["{}"], "network.json"));
    await last("open").answer({ kind: "network", format: "", network: viewOf("file") });
    await late.answer(viewOf("mesh:9x9"));
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(network.value?.name).toBe("file");
    expect(asked.filter(({ name }) => name === "network")).toHaveLength(1);
  });
});
