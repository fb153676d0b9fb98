import { CancelledError } from "../../base/errors.ts";
import type { CancelFlag, Kernels } from "../contract/kernels.ts";
import type { MilpSolution } from "../contract/programs.ts";
import type { JobWatch, MilpJob } from "../milp/job.ts";
import { inlinePool } from "./inline.ts";
import { type Pool, type PoolResult, type PoolTask, shareColumns, type Work } from "./pool.ts";
import { fromFailure, type WorkerRequest, type WorkerResult } from "./request.ts";
import { ThreadLost, type WebThread, webThread } from "./web-thread.ts";

/** A thread without work ends after so long. */
const IDLE_MS = 10_000;

/** A request that waits or runs. */
interface Errand {
  readonly request: WorkerRequest;
  /** Does the same on the calling thread. */
  readonly here: () => Promise<WorkerResult | null>;
  readonly resolve: (result: WorkerResult | null) => void;
  readonly reject: (error: unknown) => void;
}

interface Member {
  readonly thread: WebThread;
  ready: boolean;
  errand: Errand | undefined;
  idle: ReturnType<typeof setTimeout> | undefined;
}

/** Starts the worker of the package; written so that bundlers see the file and ship it, from dist/ and from src/. */
export const startPackageWorker = (): Worker =>
  new Worker(new URL("../../run/threads/worker.browser.js", import.meta.url), { type: "module", name: "banyan" });

/**
 * Returns a pool of Web Workers that run these kernels, in a page that is cross-origin isolated. Nothing is started before
 * the first task, or `prepare`; a thread ends after 10 s without work. A thread that dies rejects its task with InternalError
 * and another one takes its place. Where no worker starts (its script cannot be had, say) the calling thread does the work.
 */
export function webWorkerPool(kernels: Kernels, threads: number, startWorker = startPackageWorker): Pool {
  const [members, queue] = [new Set<Member>(), [] as Errand[]];
  const state = { canStart: true, hasStarted: false, closed: false };
  const office: Office = { kernels, threads, startWorker, members, queue, ...state };
  const thisThread = inlinePool(kernels);

  return {
    threads,
    prepare() {
      if (office.canStart && !office.closed && members.size === 0) hire(office);
    },
    run: async <T extends PoolTask>(task: T, cancel?: CancelFlag) =>
      (await sent(office, { task, cancel }, () => thisThread.run(task, cancel))) as PoolResult<T>,
    async milp(job: MilpJob, watch: JobWatch, end?: AbortSignal) {
      if (end?.aborted) return null;
      try {
        const request = { job, board: watch.board };
        return (await sent(office, request, () => thisThread.milp(job, watch, end), end)) as MilpSolution | null;
      } catch (error) {
        if (end?.aborted || error instanceof ThreadLost) return null;
        throw error;
      }
    },
    work: async <A, R extends object>(work: Work<A, R>, argument: A) =>
      (await sent(office, { work: work.name, argument }, () => thisThread.work(work, argument))) as R,
    share: shareColumns,
    async close() {
      office.closed = true;
      office.canStart = false;
      const abandoned = [...queue.splice(0), ...[...members].flatMap(({ errand }) => (errand ? [errand] : []))];
      for (const member of [...members]) dismiss(office, member);
      for (const { reject } of abandoned) reject(new CancelledError());
    },
  };
}

/** The threads of a pool and what waits for them. */
interface Office {
  readonly kernels: Kernels;
  readonly threads: number;
  readonly startWorker: () => Worker;
  readonly members: Set<Member>;
  readonly queue: Errand[];
  /** Whether it is worth trying; what failed is tried again, once all threads have ended, if it ever worked. */
  canStart: boolean;
  hasStarted: boolean;
  closed: boolean;
}

function dismiss({ members }: Office, member: Member): void {
  clearTimeout(member.idle);
  member.thread.end();
  members.delete(member);
}

function lost(office: Office, member: Member, reason: string): void {
  const { members } = office;
  if (!members.has(member)) return;
  dismiss(office, member);
  member.errand?.reject(new ThreadLost(reason));
  if (!member.ready) couldNotStart(office);
  deal(office);
}

/** The threads that there are do the work; where there is none, the calling thread does. */
function couldNotStart(office: Office): void {
  const { members, queue } = office;
  office.canStart = false;
  if (members.size > 0) return;
  for (const { here, resolve, reject } of queue.splice(0)) here().then(resolve, reject);
}

function hire(office: Office): void {
  const { startWorker, kernels, members } = office;
  try {
    const member: Member = {
      thread: webThread(startWorker(), kernels),
      ready: false,
      errand: undefined,
      idle: undefined,
    };
    members.add(member);
    member.thread.onReady = () => {
      member.ready = true;
      office.hasStarted = true;
      rest(office, member);
      deal(office);
    };
    member.thread.onDeath = (reason) => lost(office, member, reason);
    member.thread.onReply = (reply) => {
      const { errand } = member;
      if (errand === undefined) return;
      member.errand = undefined;
      if ("result" in reply) errand.resolve(reply.result);
      else errand.reject("failure" in reply ? fromFailure(reply.failure) : reply.error);
      rest(office, member);
      deal(office);
    };
  } catch {
    couldNotStart(office);
  }
}

function rest(office: Office, member: Member): void {
  clearTimeout(member.idle);
  member.idle = setTimeout(() => dismiss(office, member), IDLE_MS);
}

/** Hands what waits to threads that wait, and starts as many more as there is still work for. */
function deal(office: Office): void {
  const { members, queue, threads } = office;
  let starting = 0;
  for (const member of members) {
    if (!member.ready) starting++;
    else if (member.errand === undefined && queue.length > 0) give(office, member, queue.shift() as Errand);
  }
  for (; office.canStart && starting < queue.length && members.size < threads; starting++) hire(office);
}

function give(office: Office, member: Member, errand: Errand): void {
  clearTimeout(member.idle);
  member.errand = errand;
  try {
    member.thread.send(errand.request);
  } catch (error) {
    member.errand = undefined;
    errand.reject(error);
    rest(office, member);
  }
}

/** Gives up an errand: its thread is ended, or it leaves the queue. */
function abandon(office: Office, errand: Errand): void {
  const { queue, members } = office;
  const place = queue.indexOf(errand);
  if (place >= 0) queue.splice(place, 1);
  const member = [...members].find((one) => one.errand === errand);
  if (member !== undefined) dismiss(office, member);
  errand.reject(new CancelledError());
  deal(office);
}

function sent(
  office: Office,
  request: WorkerRequest,
  here: () => Promise<WorkerResult | null>,
  end?: AbortSignal,
): Promise<WorkerResult | null> {
  const { members, queue } = office;
  if (office.closed) return Promise.reject(new CancelledError());
  if (members.size === 0) office.canStart ||= office.hasStarted;
  if (members.size === 0 && !office.canStart) return here();
  let drop: (() => void) | undefined;
  const done = new Promise<WorkerResult | null>((resolve, reject) => {
    const errand: Errand = { request, here, resolve, reject };
    drop = () => abandon(office, errand);
    end?.addEventListener("abort", drop, { once: true });
    queue.push(errand);
    deal(office);
  });
  return done.finally(() => end?.removeEventListener("abort", drop as () => void));
}
