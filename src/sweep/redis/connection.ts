import type { Redis } from "ioredis";
import { CancelledError, InputError } from "../../base/errors.ts";
import { loadOptional } from "../optional-package.ts";
import type { RedisAddress } from "./address.ts";
import { SCRIPTS } from "./scripts.ts";

/** A server of queues as one side of it sees it: it may be lost for a while, and what was asked is then asked again. */
export interface Connection {
  readonly client: Redis;
  /** Another connection to the same server, for commands that wait. */
  waiting(): Redis;
  /** Resolves as `work` does. Rejects where the server stays lost, with what is to be said then, and where it is interrupted. */
  patiently<T>(work: () => Promise<T>): Promise<T>;
  /** Ends what is waited for just now. */
  interrupt(error: Error): void;
  /** It does not answer now. */
  isLost(): boolean;
  /** Calls back whenever the server is there again. */
  onBack(act: () => void): void;
  /** Calls back when the server stayed lost for too long. */
  onGivenUp(act: (error: Error) => void): void;
  close(): void;
}

/** What a connection is opened with. */
export interface ConnectionOptions {
  note(line: string): void;
  /** What is safe while the server is lost, and how to go on: the end of a sentence. */
  readonly safe: string;
}

/** A server that says nothing for so long is taken as lost; every connection asks more often. */
const SILENCE_MS = 20_000;
const CONNECT_MS = 10_000;
const LONGEST_PAUSE_MS = 2000;
const PAUSE_MS = 1000;
/** What a server answers that cannot do now what it can do later: a full disk or memory, a start, a change of roles. */
const PASSES = /^(?:MISCONF|OOM|LOADING|READONLY|MASTERDOWN|TRYAGAIN|BUSY|NOSCRIPT|NOREPLICAS|CLUSTERDOWN)\b/;

function optionsOf(address: RedisAddress) {
  const { host, port, db, username, password, tls } = address;
  return {
    host,
    port,
    db,
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(tls === null
      ? {}
      : {
          tls: {
            rejectUnauthorized: tls.verified,
            ...(tls.ca === null ? {} : { ca: tls.ca }),
            ...(tls.serverName === null ? {} : { servername: tls.serverName }),
          },
        }),
    maxRetriesPerRequest: null,
    connectTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    keepAlive: SILENCE_MS,
    replyMapping: "legacy" as const,
    lazyConnect: true,
    // a standby that was made the first: ask the other one, again
    reconnectOnError: (error: Error) => (error.message.startsWith("READONLY") ? (2 as const) : (false as const)),
  };
}

const why = (error: unknown): string => (error as Error).message.split("\n")[0] as string;

/** Loads the packages that queues need. Rejects with InputError, which says how to install them. */
export async function loadQueues(what: string): Promise<{
  readonly Redis: typeof import("ioredis").Redis;
  readonly bullmq: typeof import("bullmq");
}> {
  const { Redis: Client } = await loadOptional("ioredis", what, () => import("ioredis"), "bullmq ioredis");
  const bullmq = await loadOptional("bullmq", what, () => import("bullmq"), "bullmq ioredis");
  return { Redis: Client, bullmq };
}

/** Opens a connection. Rejects with InputError where the server cannot be reached or refuses user and password. */
export async function openConnection(
  Client: typeof import("ioredis").Redis,
  address: RedisAddress,
  { note, safe }: ConnectionOptions,
): Promise<Connection> {
  let wasThere = false;
  let isClosed = false;
  let lastError: Error | null = null;
  let patience: NodeJS.Timeout | undefined;
  let givenUp: Error | null = null;
  const others = new Set<Redis>();
  const rejections = new Set<(error: Error) => void>();
  const [backs, endings]: [(() => void)[], ((error: Error) => void)[]] = [[], []];

  const interrupt = (error: Error): void => {
    for (const reject of [...rejections]) reject(error);
  };
  const giveUp = (): void => {
    const minutes = Math.round(address.patienceMs / 6000) / 10;
    givenUp = new InputError(`the server ${address.shown}`, "one that answers").saying(
      `the server ${address.shown} is lost: it has not answered for ${minutes} min${lastError === null ? "" : ` (${why(lastError)})`}; ${safe}`,
    );
    interrupt(givenUp);
    for (const act of endings) act(givenUp);
  };
  const options = {
    ...optionsOf(address),
    retryStrategy: (times: number): number | null =>
      wasThere && !isClosed ? Math.min(50 * 2 ** Math.min(times, 6), LONGEST_PAUSE_MS) : null,
  };
  const client = new Client(options);
  for (const { name, keys, lua } of Object.values(SCRIPTS)) client.defineCommand(name, { numberOfKeys: keys, lua });
  client.on("error", (error: Error) => {
    lastError = error;
  });
  client.on("close", () => {
    if (!wasThere || isClosed || patience !== undefined || givenUp !== null) return;
    note(`the server ${address.shown} is lost${lastError === null ? "" : ` (${why(lastError)})`}: trying again`);
    patience = setTimeout(giveUp, address.patienceMs);
  });
  client.on("ready", () => {
    lastError = null;
    if (patience !== undefined) note(`the server ${address.shown} is there again`);
    clearTimeout(patience);
    patience = undefined;
    if (wasThere) for (const act of backs) act();
  });
  const close = (): void => {
    isClosed = true;
    clearTimeout(patience);
    for (const one of [client, ...others]) one.disconnect();
    interrupt(new CancelledError());
  };
  try {
    await client.connect();
    await client.ping();
    wasThere = true;
  } catch (error) {
    close();
    throw new InputError(`the server ${address.shown}`, "one that answers", address.shown).saying(
      `the server ${address.shown} cannot be used: ${why(lastError ?? error)}`,
    );
  }

  async function untilItPasses<T>(work: () => Promise<T>): Promise<T> {
    let since: number | null = null;
    for (;;)
      try {
        return await work();
      } catch (error) {
        const passes = PASSES.test(why(error));
        const now = performance.now();
        since ??= now;
        if (!passes || isClosed) throw error;
        lastError = error as Error;
        if (now - since > address.patienceMs) throw givenUpFor(error);
        if (now === since && !why(error).startsWith("NOSCRIPT"))
          note(`the server ${address.shown} refuses for now: ${why(error)}`);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
  }
  const givenUpFor = (error: unknown): Error =>
    new InputError(`the server ${address.shown}`, "one that takes commands").saying(
      `the server ${address.shown} refuses: ${why(error)}; ${safe}`,
    );

  return {
    client,
    waiting() {
      const other = client.duplicate();
      other.on("error", () => undefined);
      others.add(other);
      return other;
    },
    async patiently(work) {
      if (givenUp !== null) throw givenUp;
      let reject: (error: Error) => void = () => undefined;
      try {
        return await new Promise((resolve, refuse) => {
          reject = refuse;
          rejections.add(refuse);
          untilItPasses(work).then(resolve, refuse);
        });
      } finally {
        rejections.delete(reject);
      }
    },
    interrupt,
    isLost: () => patience !== undefined || givenUp !== null,
    onBack: (act) => void backs.push(act),
    onGivenUp(act) {
      if (givenUp === null) endings.push(act);
      else act(givenUp);
    },
    close,
  };
}
