import { beforeEach, describe, expect, it, vi } from "vitest";
import type { AskOptions } from "../../../src/web/state/client.ts";

/** What the page asked, to be answered by a test. */
interface Asked {
  readonly name: string;
  readonly given: { readonly wish?: unknown };
  readonly signal: AbortSignal | undefined;
  answer(answer: unknown): Promise<void>;
}

const asked: Asked[] = [];
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

vi.mock("../../../src/web/state/client.ts", () => {
  class RequestError extends Error {
    readonly failure = { kind: "cancelled", place: null, message: "cancelled" };
  }
  const ask = (name: string, given: Asked["given"], { signal }: AskOptions<"make"> = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(new RequestError()));
      const answer = async (value: unknown): Promise<void> => {
        resolve(value);
        await settled();
      };
      asked.push({ name, given, signal, answer });
    });
  const failureOf = (error: RequestError): RequestError["failure"] => error.failure;
  return { ask, failureOf, RequestError };
});
vi.stubGlobal("requestAnimationFrame", (): number => 0);

const { openFile, synthesize, typeNetwork } = await import("../../../src/web/state/actions.ts");
const { before, busy, made, network, words } = await import("../../../src/web/state/store.ts");
const { fail, restoreAll } = await import("../../../src/web/state/what-if.ts");
const { FIRST_WORDS } = await import("../../../src/web/state/words.ts");

const viewOf = (name: string) => ({ name, hash: name, nodeNames: ["0", "1"], wires: { a: [0], b: [1] } });
const scheduleOf = (name: string, wish: unknown = {}) => ({ answer: name, ref: { id: name, wish, file: null } });

/** Returns what was asked last and not given up, of a name. */
const last = (name: string): Asked =>
  asked.findLast((one) => one.name === name && one.signal?.aborted !== true) as Asked;

async function makes(name: string): Promise<void> {
  await last("network").answer(viewOf(name));
  await last("make").answer(scheduleOf(name));
}

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

describe("a file that is opened", () => {
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
