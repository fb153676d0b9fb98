import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Message, Order } from "../../../src/web/protocol.ts";

/** A worker of which a test says what it answers. */
class FakeWorker {
  static readonly all: FakeWorker[] = [];
  readonly orders: Order[] = [];
  isEnded = false;
  onmessage: ((event: { readonly data: Message }) => void) | null = null;
  onerror: ((event: { readonly message: string; preventDefault(): void }) => void) | null = null;

  constructor() {
    FakeWorker.all.push(this);
  }

  postMessage(order: Order): void {
    this.orders.push(order);
  }

  terminate(): void {
    this.isEnded = true;
  }

  says(message: Message): void {
    this.onmessage?.({ data: message });
  }

  /** What it was asked, by name, and was asked to stop. */
  get heard(): string[] {
    return this.orders.map((order) => (order.kind === "ask" ? order.name : `cancel ${order.id}`));
  }

  idOf(name: string): number {
    return this.orders.find((order) => order.kind === "ask" && order.name === name)?.id ?? -1;
  }

  begins(name: string): void {
    this.says({ kind: "begun", id: this.idOf(name) });
  }

  answers(name: string): void {
    this.says({ kind: "answer", id: this.idOf(name), answer: { name } as never });
  }
}

let starting: () => Promise<unknown> = async () => new FakeWorker();
vi.mock("../../../src/web/state/start-maker.ts", () => ({ startMaker: () => starting() }));

const wish = { topology: "ring:4", file: null, options: {} };
const schedule = { id: "1", file: null, wish: null, us: null };
const newest = (): FakeWorker => FakeWorker.all.at(-1) as FakeWorker;
const soon = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

/** Returns what becomes of a promise, as a text that changes. */
function fateOf(promise: Promise<unknown>): { text: string } {
  const fate = { text: "waits" };
  promise.then(
    () => {
      fate.text = "answered";
    },
    (error) => {
      fate.text = error.failure.kind;
    },
  );
  return fate;
}

async function client() {
  vi.resetModules();
  return await import("../../../src/web/state/client.ts");
}

beforeEach(() => {
  vi.useFakeTimers();
  FakeWorker.all.length = 0;
  starting = async () => new FakeWorker();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("requests to the worker", () => {
  it("cancelled ones end at once, and their worker where it does not listen; others are asked again", async () => {
    const { ask } = await client();
    const abort = new AbortController();
    const make = fateOf(ask("make", { wish: { network: wish, options: {} } }, { signal: abort.signal }));
    await soon();
    newest().begins("make");
    const network = fateOf(ask("network", { wish }));
    await soon();
    abort.abort();
    await soon();
    expect([make.text, network.text]).toEqual(["cancelled", "waits"]);
    expect(newest().heard).toEqual(["make", "network", "cancel 1"]);
    await vi.advanceTimersByTimeAsync(600);
    expect(FakeWorker.all.map(({ isEnded }) => isEnded)).toEqual([true, false]);
    expect(newest().heard).toEqual(["network"]);
    newest().answers("network");
    await soon();
    expect(network.text).toBe("answered");
  });

  it("a worker that listens in time lives on", async () => {
    const { ask } = await client();
    const abort = new AbortController();
    const make = fateOf(ask("make", { wish: { network: wish, options: {} } }, { signal: abort.signal }));
    await soon();
    newest().begins("make");
    abort.abort();
    newest().says({ kind: "failed", id: 1, failure: { kind: "cancelled", place: null, message: "" } });
    await vi.advanceTimersByTimeAsync(600);
    expect(make.text).toBe("cancelled");
    expect(FakeWorker.all.map(({ isEnded }) => isEnded)).toEqual([false]);
  });

  it("giving up what waits behind a long synthesis does not end the synthesis", async () => {
    const { ask } = await client();
    const abort = new AbortController();
    const make = fateOf(ask("make", { wish: { network: wish, options: {} } }));
    const loads = fateOf(ask("loads", { schedule }, { signal: abort.signal }));
    await soon();
    newest().begins("make");
    abort.abort();
    await vi.advanceTimersByTimeAsync(5000);
    expect([make.text, loads.text]).toEqual(["waits", "cancelled"]);
    newest().answers("make");
    await soon();
    expect(make.text).toBe("answered");
    expect(FakeWorker.all).toHaveLength(1);
  });

  it("one that ran out of memory fails alone: a new worker is asked the others", async () => {
    const { ask } = await client();
    const make = fateOf(ask("make", { wish: { network: wish, options: {} } }));
    const loads = fateOf(ask("loads", { schedule }));
    await soon();
    newest().says({ kind: "failed", id: 1, failure: { kind: "memory", place: null, message: "too much" } });
    await soon();
    expect([make.text, loads.text]).toEqual(["memory", "waits"]);
    expect(newest().heard).toEqual(["loads"]);
    newest().answers("loads");
    await soon();
    expect(loads.text).toBe("answered");
  });

  it("fail when their worker falls, and the next has a new one; the old one is not heard any more", async () => {
    const { ask, workersStarted } = await client();
    const make = fateOf(ask("make", { wish: { network: wish, options: {} } }));
    await soon();
    const old = newest();
    old.onerror?.({ message: "struck by lightning", preventDefault: () => undefined });
    await soon();
    expect(make.text).toBe("internal");
    const network = fateOf(ask("network", { wish }));
    await soon();
    old.onerror?.({ message: "again", preventDefault: () => undefined });
    old.says({ kind: "answer", id: 2, answer: {} as never });
    await soon();
    expect([network.text, workersStarted.value]).toEqual(["waits", 2]);
    newest().answers("network");
    await soon();
    expect(network.text).toBe("answered");
  });

  it("fail where no worker can be started", async () => {
    const { ask } = await client();
    starting = () => Promise.reject(new Error("no such script"));
    const welcome = fateOf(ask("welcome", {}));
    await soon();
    expect(welcome.text).toBe("internal");
  });

  it("say nothing of what was given up", async () => {
    const { ask } = await client();
    const abort = new AbortController();
    const told: string[] = [];
    const onProgress = ({ what }: { readonly what: string }): void => void told.push(what);
    fateOf(ask("make", { wish: { network: wish, options: {} } }, { signal: abort.signal, onProgress }));
    await soon();
    newest().says({ kind: "progress", id: 1, progress: { what: "verifying" } });
    abort.abort();
    newest().says({ kind: "progress", id: 1, progress: { what: "simulating" } });
    expect(told).toEqual(["verifying"]);
  });
});
