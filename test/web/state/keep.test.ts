import { afterEach, describe, expect, it, vi } from "vitest";

/** A page's storage that holds, or that refuses whatever is asked. */
function storage(): Record<string, unknown> {
  const held: Record<string, unknown> = {};
  const own = (value: unknown) => ({ value, enumerable: false });
  return Object.defineProperties(held, {
    getItem: own((key: string) => held[key] ?? null),
    setItem: own((key: string, text: string) => {
      held[key] = text;
    }),
    removeItem: own((key: string) => {
      delete held[key];
    }),
  });
}

const refusing = new Proxy(
  {},
  {
    get: () => {
      throw new Error("denied");
    },
    ownKeys: () => {
      throw new Error("denied");
    },
  },
);

async function fresh(local: unknown): Promise<typeof import("../../../src/web/state/keep.ts")> {
  vi.resetModules();
  vi.stubGlobal("localStorage", local);
  vi.stubGlobal("sessionStorage", local);
  vi.stubGlobal("location", { href: "http://here/app/" });
  return import("../../../src/web/state/keep.ts");
}

afterEach(() => vi.unstubAllGlobals());

describe("what is kept", () => {
  it("is the last address, until it is forgotten", async () => {
    const local = storage();
    local["another page's"] = "x";
    const { keepAddress, keptAddress, forgetAll, isKeeping } = await fresh(local);
    keepAddress("#topology=ring:4");
    keepAddress("#topology=ring:8");
    expect(keptAddress()).toBe("#topology=ring:8");
    await forgetAll();
    expect([keptAddress(), isKeeping.value, Object.keys(local)]).toEqual([null, false, ["another page's"]]);
    keepAddress("#topology=ring:9");
    expect(keptAddress()).toBeNull();
  });

  it("is nothing where the browser refuses, and nothing breaks", async () => {
    const { keepAddress, keptAddress, keepFile, keptFile, forgetAll, isRefused } = await fresh(refusing);
    keepAddress("#topology=ring:4");
    expect(keptAddress()).toBeNull();
    expect(await keepFile({ name: "a", content: new Blob(["x"]) })).toBe(false);
    expect(isRefused.value).toBe(true);
    expect(await keptFile("1-00000000")).toBeNull();
    await forgetAll();
  });
});
