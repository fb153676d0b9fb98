import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Why no Redis server can be started here; null where it can. */
export const redisMissing: string | null =
  spawnSync("redis-server", ["--version"]).status === 0 ? null : "redis-server is not installed";

/** Returns a port of this machine that nobody uses. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A Redis server of a test, whose file is on disk. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** The authority of its certificate; "" without TLS. */
  readonly ca: string;
  /** Ends it: as it would by itself (SHUTDOWN), or by SIGKILL. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** Starts it again from its file. */
  start(): Promise<void>;
  /** Ends it, and removes its folder. */
  remove(): Promise<void>;
}

const TRIES = 200;
const PAUSE_MS = 50;

/** Writes an authority, and a certificate of it for "localhost" and 127.0.0.1. */
function certificates(folder: string): void {
  const ssl = (...args: string[]): unknown => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const key = ["-newkey", "rsa:2048", "-nodes", "-days", "2"];
  ssl("req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=test authority");
  ssl("req", ...key.slice(0, 3), "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost");
  writeFileSync(join(folder, "names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  const signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
  ssl("x509", "-req", "-in", "server.csr", ...signed, "-out", "server.crt");
}

/** Starts a Redis server on a free port of this machine, with its file on disk. */
export async function startRedis({
  password = "",
  tls = false,
}: {
  readonly password?: string;
  readonly tls?: boolean;
} = {}): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), "banyan-redis-"));
  const port = await freePort();
  if (tls) certificates(folder);
  const secure = ["--tls-cert-file", "server.crt", "--tls-key-file", "server.key", "--tls-ca-cert-file", "ca.crt"];
  const args = [
    ...(tls ? ["--port", "0", "--tls-port", `${port}`, ...secure, "--tls-auth-clients", "no"] : ["--port", `${port}`]),
    ...["--bind", "127.0.0.1", "--dir", folder, "--appendonly", "yes", "--save", "", "--loglevel", "warning"],
    ...(password === "" ? [] : ["--requirepass", password]),
  ];
  const asked = [
    ...["-p", `${port}`, ...(tls ? ["--tls", "--cacert", join(folder, "ca.crt")] : [])],
    ...(password === "" ? [] : ["--no-auth-warning", "-a", password]),
  ];
  let server: ChildProcess | null = null;
  const start = async (): Promise<void> => {
    server = spawn("redis-server", args, { cwd: folder, stdio: "ignore" });
    for (let i = 0; i < TRIES; i++) {
      if (spawnSync("redis-cli", [...asked, "ping"], { encoding: "utf8" }).stdout.startsWith("PONG")) return;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    throw new Error("redis-server does not answer");
  };
  const stop = async (signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> => {
    const ending = server;
    server = null;
    if (ending === null || ending.exitCode !== null) return;
    const gone = new Promise((resolve) => ending.once("exit", resolve));
    ending.kill(signal);
    await gone;
  };
  await start();
  return {
    url: `redis${tls ? "s" : ""}://127.0.0.1:${port}`,
    port,
    folder,
    ca: tls ? join(folder, "ca.crt") : "",
    start,
    stop,
    async remove() {
      await stop("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
