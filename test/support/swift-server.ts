import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An S3-compatible server that nobody here wrote: OpenStack Swift with its middleware s3api, on this machine. */
export interface SwiftServer {
  /** http://127.0.0.1:PORT */
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Ends the server that takes requests, and starts it again. */
  restart(downMs: number): Promise<void>;
  stop(): void;
}

const KEYS = { accessKeyId: "test:tester", secretAccessKey: "testing" };

/** Debian's Swift runs by the system's Python, whatever else is on the path. */
const ENV = { ...process.env, PATH: `/usr/bin:/bin:${process.env["PATH"] ?? ""}` };

/** Returns why no such server can be started here; null where it can. */
export function whyNoSwift(): string | null {
  try {
    for (const part of ["proxy", "account", "container", "object"])
      execFileSync("sh", ["-c", `command -v swift-${part}-server`], { env: ENV, stdio: "pipe" });
    execFileSync("python3", ["-c", "import swift.common.middleware.s3api"], { env: ENV, stdio: "pipe" });
    return null;
  } catch {
    return "no OpenStack Swift here (Debian: swift-proxy swift-account swift-container swift-object python3-swift)";
  }
}

/** Returns ports that nobody listens at. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** Starts Swift with one copy of everything in a new folder, and makes buckets. */
export async function startSwift(buckets: readonly string[]): Promise<SwiftServer> {
  const folder = mkdtempSync(join(tmpdir(), "swift-"));
  const [proxyPort, ...ports] = (await freePorts(4)) as [number, number, number, number];
  const user = execFileSync("id", ["-un"], { encoding: "utf8" }).trim();
  mkdirSync(join(folder, "devices/d1"), { recursive: true });
  writeFileSync(join(folder, "swift.conf"), "[swift-hash]\nswift_hash_path_prefix = a\nswift_hash_path_suffix = b\n");
  const own = `user = ${user}\nbind_ip = 127.0.0.1\nswift_dir = ${folder}\nworkers = 0\nlog_address = ${folder}/none\n`;
  const parts = ["account", "container", "object"] as const;
  parts.forEach((part, i) => {
    writeFileSync(
      join(folder, `${part}.conf`),
      `[DEFAULT]\n${own}bind_port = ${ports[i]}\ndevices = ${folder}/devices\nmount_check = false\n` +
        `[pipeline:main]\npipeline = ${part}-server\n[app:${part}-server]\nuse = egg:swift#${part}\n` +
        `recon_cache_path = ${folder}\nrecon_lock_path = ${folder}\n`,
    );
    const builder = join(folder, `${part}.builder`);
    const ring = (...args: string[]): void => {
      execFileSync("swift-ring-builder", [builder, ...args], { env: ENV, stdio: "pipe" });
    };
    ring("create", "4", "1", "1");
    ring(
      "add",
      "--region",
      "1",
      "--zone",
      "1",
      "--ip",
      "127.0.0.1",
      "--port",
      `${ports[i]}`,
      "--device",
      "d1",
      "--weight",
      "1",
    );
    ring("rebalance");
  });
  writeFileSync(
    join(folder, "proxy.conf"),
    `[DEFAULT]\n${own}bind_port = ${proxyPort}\n` +
      "[pipeline:main]\npipeline = catch_errors proxy-logging cache s3api tempauth dlo slo proxy-server\n" +
      "[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\nallow_account_management = true\n" +
      "[filter:tempauth]\nuse = egg:swift#tempauth\nuser_test_tester = testing .admin\nuser_test_reader = reading\n" +
      "[filter:s3api]\nuse = egg:swift#s3api\ns3_acl = false\nlocation = us-east-1\n" +
      "[filter:cache]\nuse = egg:swift#memcache\nmemcache_servers = 127.0.0.1:1\n" +
      ["catch_errors", "dlo", "slo"].map((name) => `[filter:${name}]\nuse = egg:swift#${name}\n`).join("") +
      "[filter:proxy-logging]\nuse = egg:swift#proxy_logging\n",
  );
  const start = (part: string): ChildProcess =>
    spawn(`swift-${part}-server`, [join(folder, `${part}.conf`)], {
      env: { ...ENV, SWIFT_DIR: folder },
      stdio: "ignore",
    });
  const children = parts.map(start);
  let proxy = start("proxy");
  const endpoint = `http://127.0.0.1:${proxyPort}`;
  const stop = (): void => {
    for (const child of [proxy, ...children]) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  const isUp = async (): Promise<void> => {
    const end = Date.now() + 20_000;
    for (;;) {
      try {
        await fetch(endpoint);
        return;
      } catch (error) {
        if (Date.now() > end) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  };
  try {
    await isUp();
    const { AwsClient } = await import("aws4fetch");
    const client = new AwsClient({ ...KEYS, service: "s3", region: "us-east-1", retries: 8 });
    for (const bucket of buckets) {
      const { ok, status } = await client.fetch(`${endpoint}/${bucket}`, { method: "PUT" });
      if (!ok) throw new Error(`the bucket ${bucket} was not made: ${status}`);
    }
  } catch (error) {
    stop();
    throw error;
  }
  return {
    endpoint,
    ...KEYS,
    async restart(downMs) {
      proxy.kill("SIGKILL");
      await new Promise((resolve) => setTimeout(resolve, downMs));
      proxy = start("proxy");
    },
    stop,
  };
}
