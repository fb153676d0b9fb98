import { execFileSync, spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { contentHash } from "../../../src/model/sweep/task.ts";
import { openStore, placeInStore } from "../../../src/sweep/store.ts";
import { accessOf, readAddress, readIni } from "../../../src/sweep/stores/s3-address.ts";
import { freePorts, type SwiftServer, startSwift, whyNoSwift } from "../../support/swift-server.ts";

const folder = mkdtempSync(join(tmpdir(), "store-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Returns bytes that no packing makes short. */
function randomBytes(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

describe("a store in a folder", () => {
  it("has what was put, under its hash, and nothing else", async () => {
    const place = join(folder, "plain", "store");
    const store = await openStore(place);
    expect(await store.has(contentHash("a"))).toBe(false);
    const hash = await store.put(bytesOf("a"));
    expect(hash).toBe(contentHash("a"));
    expect(await store.put(bytesOf("a"))).toBe(hash);
    expect(await store.has(hash)).toBe(true);
    expect(await store.get(hash)).toEqual(bytesOf("a"));
    const path = placeInStore(place, hash);
    expect(path).toBe(join(place, hash.slice(0, 2), hash.slice(2)));
    expect(readFileSync(path, "utf8")).toBe("a");
    expect(readdirSync(join(place, ".writing"))).toEqual([]);
    const empty = await store.put(new Uint8Array());
    expect(await store.get(empty)).toHaveLength(0);
  });

  it("says in one sentence what it does not have, and what was changed", async () => {
    const place = join(folder, "changed");
    const store = await openStore(place);
    const hash = await store.put(bytesOf("as it was"));
    await expect(store.get(contentHash("b"))).rejects.toThrow(`the store ${place} does not have ${contentHash("b")}`);
    await expect(store.get("../../etc/passwd")).rejects.toThrow("64 hexadecimal digits");
    writeFileSync(placeInStore(place, hash), "as it is.");
    await expect(store.get(hash)).rejects.toThrow("is damaged: its bytes do not have the SHA-256 of its name");
    writeFileSync(placeInStore(place, hash), "cut");
    await store.put(bytesOf("as it was"));
    expect(await store.get(hash)).toEqual(bytesOf("as it was"));
  });

  it("refuses what is no folder", async () => {
    writeFileSync(join(folder, "file"), "");
    await expect(openStore(join(folder, "file"))).rejects.toThrow("must be a folder, not a file");
    await expect(openStore("https://example.com/x")).rejects.toThrow("s3://BUCKET/PREFIX");
    await expect((await openStore("/proc/store")).put(bytesOf("a"))).rejects.toThrow(/^the store is "\/proc\/store"/);
  });

  it("removes what was left by those that were killed a day ago, and not what is being written", async () => {
    const place = join(folder, "stale");
    const writing = join(place, ".writing");
    mkdirSync(writing, { recursive: true });
    for (const name of ["old", "new"]) writeFileSync(join(writing, name), "");
    const longAgo = Date.now() / 1000 - 25 * 3600;
    utimesSync(join(writing, "old"), longAgo, longAgo);
    await (await openStore(place)).put(bytesOf("a"));
    expect(readdirSync(writing)).toEqual(["new"]);
  });

  it("is whole though many processes put the same, and some are killed", async () => {
    const place = join(folder, "many");
    const script = join(folder, "many.test-process.mjs");
    const built = new URL("../../../dist/sweep/store.js", import.meta.url).href;
    writeFileSync(
      script,
      `import { openStore } from ${JSON.stringify(built)};
       const store = await openStore(${JSON.stringify(place)});
       process.stdout.write("begun");
       for (let i = 0; i < 12; i++) await store.put(new Uint8Array(50_000).fill(i));`,
    );
    const runs = Array.from({ length: 6 }, (_, i) => {
      const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
      if (i % 2 === 1) child.stdout.once("data", () => setTimeout(() => child.kill("SIGKILL"), 15 * i));
      return new Promise<number | null>((resolve) => child.once("exit", resolve));
    });
    const codes = await Promise.all(runs);
    expect(codes.filter((_, i) => i % 2 === 0)).toEqual([0, 0, 0]);
    const store = await openStore(place);
    for (let i = 0; i < 12; i++) {
      const bytes = new Uint8Array(50_000).fill(i);
      expect(await store.get(contentHash(bytes))).toEqual(bytes);
    }
    const files = readdirSync(place, { recursive: true, encoding: "utf8" }).filter(
      (name) => !name.startsWith(".writing") && statSync(join(place, name)).isFile(),
    );
    expect(files).toHaveLength(12);
  }, 60_000);

  const isMountable = ((): boolean => {
    try {
      execFileSync("sh", ["-c", "d=$(mktemp -d) && mount -t tmpfs -o size=64k tmpfs $d && umount $d && rmdir $d"], {
        stdio: "pipe",
      });
      return true;
    } catch {
      return false;
    }
  })();

  it.skipIf(!isMountable)("leaves nothing half on a full disk, and goes on once there is room", async () => {
    const place = join(folder, "full");
    mkdirSync(place);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", place]);
    try {
      const store = await openStore(place);
      const small = await store.put(randomBytes(50_000, 1));
      await expect(store.put(randomBytes(400_000, 2))).rejects.toThrow(
        `the store is ${JSON.stringify(place)}; it must be a folder on a disk with room`,
      );
      expect(readdirSync(join(place, ".writing"))).toEqual([]);
      expect(await store.get(small)).toEqual(randomBytes(50_000, 1));
      await store.put(randomBytes(100_000, 3));
    } finally {
      execFileSync("umount", [place]);
    }
  });
});

describe("addresses of S3-compatible stores", () => {
  const world = { env: {}, credentials: "[default]\naws_access_key_id = A\naws_secret_access_key = B=\n", config: "" };

  it("are taken apart", () => {
    expect(readAddress("s3://bucket")).toMatchObject({ bucket: "bucket", prefix: "", endpoint: null, region: null });
    expect(readAddress("s3://b.c/a/b%20c/?endpoint=https://h:1/&region=eu-1&profile=p")).toEqual({
      ...{ bucket: "b.c", prefix: "a/b c/", endpoint: "https://h:1", region: "eu-1", profile: "p" },
    });
    expect(placeInStore("s3://bb/p?endpoint=http://h", "0".repeat(64))).toBe(`s3://bb/p/00/${"0".repeat(62)}`);
  });

  it.each([
    ["s3://", "s3://BUCKET/PREFIX"],
    ["s3://bb/x?endpoint=ftp://h", "http or https"],
    ["s3://bb/x?endpoint=nonsense", "an endpoint such as"],
    ["s3://bb/x?key=1", "endpoint, region, profile behind ?"],
    ["s3://bb/../x", "without . and .."],
    ["s3://bb/%zz", "escapes such as %20"],
    ["s3://me:geheim@bb/x", "has keys in it"],
    ["s3://bb/x?endpoint=https://me:geheim@h", "has keys in it"],
  ])("%s is refused", (place, why) => {
    expect(() => readAddress(place)).toThrow(why);
    try {
      readAddress(place);
    } catch (error) {
      if (why === "has keys in it") expect(`${error}`).not.toContain("geheim");
    }
  });

  it("find keys, region and server as AWS's own tools do", () => {
    const address = readAddress("s3://bucket/p");
    expect(accessOf(address, world)).toMatchObject({
      ...{ accessKeyId: "A", secretAccessKey: "B=", region: "us-east-1" },
      bucketUrl: "https://bucket.s3.us-east-1.amazonaws.com/",
    });
    const env = {
      ...{ AWS_ACCESS_KEY_ID: "C", AWS_SECRET_ACCESS_KEY: "D", AWS_SESSION_TOKEN: "T", AWS_REGION: "eu-1" },
      AWS_ENDPOINT_URL: "http://h:9/",
    };
    expect(accessOf(address, { ...world, env })).toEqual({
      ...{ accessKeyId: "C", secretAccessKey: "D", sessionToken: "T", region: "eu-1" },
      bucketUrl: "http://h:9/bucket/",
    });
    const config = "[profile x]\nregion=r-1\naws_access_key_id=E\naws_secret_access_key=F\n";
    expect(accessOf(readAddress("s3://bucket/p?profile=x"), { ...world, env, config })).toMatchObject({
      ...{ accessKeyId: "E", secretAccessKey: "F" },
    });
    expect(() => accessOf(readAddress("s3://bucket/p?profile=y"), world)).toThrow(
      "the profile y in ~/.aws/credentials",
    );
    expect(readIni("; c\r\n[ a ]\r\nk = v # w\r\n[b\n").get("a")?.get("k")).toBe("v # w");
  });
});

const whyNot = whyNoSwift();

describe.skipIf(whyNot !== null)(`a store at OpenStack Swift${whyNot === null ? "" : `: ${whyNot}`}`, () => {
  let swift: SwiftServer;
  beforeAll(async () => {
    swift = await startSwift(["bucket"]);
  }, 60_000);
  afterAll(() => swift?.stop());
  afterEach(() => vi.unstubAllEnvs());

  /** Returns an address there; the environment has the keys. */
  function address(bucket: string, keys: Partial<SwiftServer> = {}): string {
    vi.stubEnv("AWS_ACCESS_KEY_ID", keys.accessKeyId ?? swift.accessKeyId);
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", keys.secretAccessKey ?? swift.secretAccessKey);
    return `s3://${bucket}/a sweep/store?endpoint=${swift.endpoint}&region=us-east-1`;
  }

  it("has what was put, under its hash, large and empty too", async () => {
    const store = await openStore(address("bucket"));
    for (const bytes of [bytesOf("a"), new Uint8Array(), randomBytes(9 * 2 ** 20, 7)]) {
      const hash = contentHash(bytes);
      expect(await store.has(hash)).toBe(false);
      await expect(store.get(hash)).rejects.toThrow(`the store s3://bucket/a sweep/store/ does not have ${hash}`);
      expect(await store.put(bytes)).toBe(hash);
      expect(await store.has(hash)).toBe(true);
      expect(await store.put(bytes)).toBe(hash);
      expect(Buffer.compare(await store.get(hash), bytes)).toBe(0);
    }
  }, 60_000);

  it("takes the same from many at once", async () => {
    const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(address("bucket"))));
    const all = stores.flatMap((store) => Array.from({ length: 10 }, (_, i) => store.put(randomBytes(10_000, i))));
    expect(new Set(await Promise.all(all)).size).toBe(10);
  }, 60_000);

  it("says what is wrong with keys and buckets", async () => {
    await expect(openStore(address("nothing"))).rejects.toThrow(
      `the store s3://nothing/a sweep/store/ cannot be used: there is no bucket nothing at ${new URL(swift.endpoint).host}`,
    );
    await expect(openStore(address("bucket", { secretAccessKey: "wrong" }))).rejects.toThrow(
      "says that the secret key does not go with the access key",
    );
    await expect(openStore(address("bucket", { accessKeyId: "nobody" }))).rejects.toThrow(/cannot be used: /);
    const reader = await openStore(address("bucket", { accessKeyId: "test:reader", secretAccessKey: "reading" }));
    await expect(reader.put(bytesOf("not mine"))).rejects.toThrow("the keys may not do this in bucket bucket");
  });

  it("waits for a server that is away for a moment", async () => {
    const store = await openStore(address("bucket"));
    const down = swift.restart(300);
    expect(await store.put(bytesOf("later"))).toBe(contentHash("later"));
    await down;
  }, 60_000);
});

it("says that nobody listens", async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "a");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "b");
  const [port] = await freePorts(1);
  await expect(openStore(`s3://bucket/x?endpoint=http://127.0.0.1:${port}`)).rejects.toThrow(
    `the store s3://bucket/x/ cannot be reached at 127.0.0.1:${port}: nobody listens there`,
  );
  vi.unstubAllEnvs();
}, 60_000);
