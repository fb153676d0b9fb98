import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { AwsClient } from "aws4fetch";
import { DamagedFileError, InputError } from "../../base/errors.ts";
import { loadOptional } from "../optional-package.ts";
import { type ContentStore, nameInStore, notInStore } from "./content-store.ts";
import { sha256Of } from "./folder-store.ts";
import { accessOf, readAddress, type S3World } from "./s3-address.ts";

/** How often a request is sent. */
const MOST_TRIES = 6;
const FIRST_PAUSE_MS = 100;
const MOST_PAUSE_MS = 5000;
/** How long a request may take, with what its bytes take on a slow line. */
const PATIENCE_MS = 30_000;
const LEAST_BYTES_PER_MS = 250;
/** Most bytes of one request of S3. */
const MOST_BYTES = 5 * 2 ** 30;

const SHORTENED = 200;

/** An answer that is no success. */
interface Refusal {
  readonly status: number;
  /** S3's word for it: "NoSuchBucket"; "" where the answer has none. */
  readonly code: string;
  readonly message: string;
}

async function refusalOf(response: Response): Promise<Refusal> {
  const text = await response.text().catch(() => "");
  const inside = (tag: string): string => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(text)?.[1] ?? "";
  return { status: response.status, code: inside("Code"), message: inside("Message").slice(0, SHORTENED) };
}

/** What is asked of a server. */
interface Asked {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** What an answer says is wrong, in words. */
const REASONS: Readonly<Record<string, (bucket: string, server: string) => string>> = {
  NoSuchBucket: (bucket, server) => `there is no bucket ${bucket} at ${server}`,
  InvalidBucketName: (bucket, server) => `there can be no bucket ${bucket} at ${server}`,
  InvalidAccessKeyId: (_, server) => `${server} does not know the access key`,
  SignatureDoesNotMatch: (_, server) => `${server} says that the secret key does not go with the access key`,
  ExpiredToken: () => "the session token has expired",
  InvalidToken: () => "the session token is wrong",
  RequestTimeTooSkewed: () => "this machine's clock is wrong",
  AuthorizationHeaderMalformed: () => "the region is wrong: say ?region=NAME",
  PermanentRedirect: () => "the bucket is in another region: say ?region=NAME",
  AccessDenied: (bucket) =>
    `the keys may not do this in bucket ${bucket}: they need s3:GetObject, s3:PutObject and s3:ListBucket`,
  EntityTooLarge: () => "the server takes no file of this length",
  QuotaExceeded: (bucket) => `the bucket ${bucket} is full`,
};

const isRetried = ({ status }: { readonly status: number }): boolean =>
  status >= 500 || status === 429 || status === 408;

/** Returns AWS's keys, regions and profiles of this machine, as its own tools find them. */
async function worldHere(): Promise<S3World> {
  const { env } = process;
  const text = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "");
  const beside = (name: string): string => join(homedir(), ".aws", name);
  const credentials = await text(env["AWS_SHARED_CREDENTIALS_FILE"] ?? beside("credentials"));
  return { env, credentials, config: await text(env["AWS_CONFIG_FILE"] ?? beside("config")) };
}

/**
 * Opens an S3-compatible store, after one request that shows that server, keys and bucket are right: each file an object
 * PREFIX/ab/cdef... of its hash, which the server sees whole or not at all. What fails for the moment is sent again with growing
 * pauses. Rejects with InputError.
 */
export async function openS3(place: string): Promise<ContentStore> {
  const address = readAddress(place);
  const access = accessOf(address, await worldHere());
  const { AwsClient } = await loadOptional("aws4fetch", "a store at s3://", () => import("aws4fetch"));
  const { accessKeyId, secretAccessKey, sessionToken, region } = access;
  const client = new AwsClient({
    ...{ accessKeyId, secretAccessKey, region, service: "s3", retries: 0 },
    ...(sessionToken === undefined ? {} : { sessionToken }),
  });
  const store = s3Store(place, access.bucketUrl, address, client);
  await store.check();
  return store;
}

/** Returns a store that has not been asked anything yet. */
function s3Store(
  place: string,
  bucketUrl: string,
  { bucket, prefix }: { readonly bucket: string; readonly prefix: string },
  client: AwsClient,
): ContentStore & { check(): Promise<void> } {
  const server = new URL(bucketUrl).host;
  const shownPlace = `s3://${bucket}/${prefix}`;
  const urlOf = (sha256: string): string =>
    `${bucketUrl}${`${prefix}${nameInStore(sha256)}`.split("/").map(encodeURIComponent).join("/")}`;

  const refused = ({ status, code, message }: Refusal): InputError => {
    const reason = REASONS[code]?.(bucket, server) ?? `${server} answers ${status} ${code} ${message}`.trimEnd();
    return new InputError("the store", "one that can be used", shownPlace).saying(
      `the store ${shownPlace} cannot be used: ${reason}`,
    );
  };
  const unreachable = (why: string): InputError =>
    new InputError("the store", "one that can be reached", shownPlace).saying(
      `the store ${shownPlace} cannot be reached at ${server}: ${why}`,
    );

  /** Sends a request once; resolves to what `read` makes of its answer, or null for a failure of the moment, where that is not the last try. */
  async function send<T>(
    sha256: string,
    init: Asked,
    isLast: boolean,
    read: (response: Response) => Promise<T>,
  ): Promise<T | null> {
    const control = new AbortController();
    const giveUpAfter = (bytes: number) =>
      setTimeout(() => control.abort(), PATIENCE_MS + Math.ceil(bytes / LEAST_BYTES_PER_MS));
    let timer = giveUpAfter(init.body?.length ?? 0);
    try {
      const request = await client.sign(urlOf(sha256), init as RequestInit);
      const response = await fetch(request, { signal: control.signal, redirect: "manual" });
      clearTimeout(timer);
      timer = giveUpAfter(Number(response.headers.get("content-length") ?? 0));
      if (!isRetried(response) || isLast) return await read(response);
      await response.arrayBuffer();
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends a request until it is answered, with growing pauses. */
  async function ask<T>(sha256: string, init: Asked, read: (response: Response) => Promise<T & {}>): Promise<T & {}> {
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === MOST_TRIES;
      try {
        const answer = await send(sha256, init, isLast, read);
        if (answer !== null) return answer;
      } catch (error) {
        if (error instanceof InputError) throw error;
        if (isLast) throw unreachable(reasonOf(error));
      }
      const pause = Math.min(MOST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
      await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random() / 2)));
    }
  }

  /** Returns whether an object is there, as far as the keys may know. The first byte is asked for: a HEAD's refusal has no words. */
  const probe = (sha256: string): Promise<"there" | "not there" | "hidden"> =>
    ask(sha256, { method: "GET", headers: { range: "bytes=0-0" } }, async (response) => {
      const { status } = response;
      // nothing has no first byte
      if (response.ok || status === 416) {
        await response.body?.cancel();
        return "there";
      }
      const refusal = await refusalOf(response);
      if (status === 404 && refusal.code !== "NoSuchBucket") return "not there";
      if (refusal.code === "AccessDenied") return "hidden";
      throw refused(refusal);
    });

  return {
    place,
    async check() {
      await probe(sha256Of(new Uint8Array()));
    },
    async put(bytes) {
      const sha256 = sha256Of(bytes);
      if (bytes.length > MOST_BYTES)
        throw new InputError("the store", "one that takes a file of this length", shownPlace).saying(
          `the store ${shownPlace} takes no file above 5 GiB`,
        );
      if ((await probe(sha256)) === "there") return sha256;
      const headers = {
        "content-type": "application/octet-stream",
        "x-amz-content-sha256": sha256,
        "content-length": `${bytes.length}`,
      };
      await ask(sha256, { method: "PUT", headers, body: bytes }, async (response) => {
        if (!response.ok) throw refused(await refusalOf(response));
        await response.arrayBuffer();
        return true;
      });
      return sha256;
    },
    async get(sha256) {
      const bytes = await ask(sha256, { method: "GET" }, async (response) => {
        if (response.ok) return new Uint8Array(await response.arrayBuffer());
        const refusal = await refusalOf(response);
        if (response.status === 404 && refusal.code !== "NoSuchBucket") throw notInStore(shownPlace, sha256);
        throw refused(refusal);
      });
      if (sha256Of(bytes) !== sha256)
        throw new DamagedFileError(
          `${shownPlace}${nameInStore(sha256)}`,
          "its bytes do not have the SHA-256 of its name",
        );
      return bytes;
    },
    async has(sha256) {
      const found = await probe(sha256);
      if (found === "hidden") throw refused({ status: 403, code: "AccessDenied", message: "" });
      return found === "there";
    },
  };
}

/** Returns why a request got no answer: what lies below fetch's "fetch failed". */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: Error & { code?: string } };
  if (name === "AbortError") return "it does not answer";
  if (cause?.code === "ECONNREFUSED") return "nobody listens there";
  if (cause?.code === "ENOTFOUND") return "there is no such host";
  return cause?.message ?? message;
}
