import { readFileSync } from "node:fs";
import { InputError, shown } from "../../base/errors.ts";

/** Where a server of queues is, and how it is reached. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly db: number;
  readonly username: string | null;
  readonly password: string | null;
  /** Null: no TLS. */
  readonly tls: {
    /** Certificates of authorities, PEM, in place of those of the system; null: those of the system and of NODE_EXTRA_CA_CERTS. */
    readonly ca: string | null;
    /** False: anybody's certificate will do. */
    readonly verified: boolean;
    /** The name that the certificate is to have; null: the host. */
    readonly serverName: string | null;
  } | null;
  /** What all keys begin with. */
  readonly prefix: string;
  /** How long a lost server is waited for. */
  readonly patienceMs: number;
  /** The address as it may be shown: without user and password. */
  readonly shown: string;
}

const PORT = 6379;
const PREFIX = "banyan";
const PATIENCE_S = 600;
const PARAMETERS = ["prefix", "patience", "ca", "insecure", "servername"] as const;
const FORM = "redis://[user:password@]host:port[/db][?prefix=NAME], or rediss:// for TLS";

/** Returns whether a text names a server of queues. */
export const isRedis = (text: string): boolean => /^rediss?:\/\//i.test(text);

const refused = (what: string, expected: string, ...received: [unknown?]): InputError =>
  new InputError(`the Redis address: ${what}`, expected, ...received);

function fileText(path: string, what: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw refused(what, "a file that can be read", path).saying(
      `${what} ${shown(path)} cannot be read (${(error as NodeJS.ErrnoException).code ?? "not the name of a file"})`,
    );
  }
}

/** Returns the password that the address has, or the environment: BANYAN_REDIS_PASSWORD, or the file BANYAN_REDIS_PASSWORD_FILE names. */
function passwordOf(url: URL, env: NodeJS.ProcessEnv): string | null {
  if (url.password !== "") return decoded(url.password);
  const { BANYAN_REDIS_PASSWORD: word, BANYAN_REDIS_PASSWORD_FILE: file } = env;
  if (word !== undefined && word !== "") return word;
  if (file === undefined || file === "") return null;
  return fileText(file, "the file of BANYAN_REDIS_PASSWORD_FILE").replace(/\r?\n$/, "");
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw refused("user and password", "%XX for what is no letter or digit");
  }
}

function wholeOf(text: string, what: string, most: number): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) > most)
    throw refused(what, `a whole number up to ${most}`, text).as("out-of-range");
  return Number(text);
}

function tlsOf(parameters: URLSearchParams): RedisAddress["tls"] {
  const ca = parameters.get("ca");
  const insecure = parameters.get("insecure");
  if (insecure !== null && !/^[01]?$/.test(insecure)) throw refused("insecure", "1 or 0", insecure);
  return {
    ca: ca === null ? null : fileText(ca, "the file of certificates"),
    verified: insecure === null || insecure === "0",
    serverName: parameters.get("servername"),
  };
}

/** Reads the address of a server of queues. Throws InputError, which never shows a password. */
export function readRedisAddress(text: string, env: NodeJS.ProcessEnv = process.env): RedisAddress {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw refused("its form", FORM).saying(`the Redis address is no address; it must be ${FORM}`);
  }
  const { protocol, hostname, searchParams: parameters } = url;
  if (!isRedis(text) || hostname === "")
    throw refused("its form", FORM).saying(`the Redis address has no host; it must be ${FORM}`);
  const unknown = [...parameters.keys()].find((name) => !(PARAMETERS as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw refused("its parameters", `among ${PARAMETERS.join(", ")}`, unknown).as("unknown-name");
  const isTls = protocol === "rediss:";
  const ofTls = ["ca", "insecure", "servername"].find((name) => parameters.has(name));
  if (!isTls && ofTls !== undefined) throw refused(ofTls, "with rediss:// only").as("not-together");
  const prefix = parameters.get("prefix") ?? PREFIX;
  if (!/^[\w.-]{1,64}$/.test(prefix)) throw refused("prefix", "letters, digits, _ . and -, up to 64", prefix);
  const port = url.port === "" ? PORT : Number(url.port);
  const db = wholeOf(url.pathname.replace(/^\//, "") || "0", "the database", 1e6);
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port,
    db,
    username: url.username === "" ? null : decoded(url.username),
    password: passwordOf(url, env),
    tls: isTls ? tlsOf(parameters) : null,
    prefix,
    patienceMs: 1000 * wholeOf(parameters.get("patience") ?? String(PATIENCE_S), "patience in seconds", 1e8),
    shown: `${protocol}//${hostname}:${port}${db === 0 ? "" : `/${db}`}${prefix === PREFIX ? "" : `?prefix=${prefix}`}`,
  };
}
