import { CancelledError } from "../../base/errors.ts";
import type { CancelFlag, Kernels } from "../contract/kernels.ts";
import type { MilpSolution } from "../contract/milp.ts";
import type { JobWatch, MilpJob } from "../milp/job.ts";
import { fromFailure } from "./failure.ts";
import { inlinePool } from "./inline.ts";
import type { Pool, PoolResult, PoolTask } from "./pool.ts";
import type { WorkerRequest, WorkerResult } from "./request.ts";
import { shareColumns } from "./share.ts";
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
  const thisThread = inlinePool(kernels);
  const members = new Set<Member>();
  const queue: Errand[] = [];
  /** Whether it is worth trying; what failed is tried again, once all threads have ended, if it ever worked. */
  let canStart = true;
  let hasStarted = false;
  let closed = false;

  const dismiss = (member: Member): void => {
    clearTimeout(member.idle);
    member.thread.end();
    members.delete(member);
  };

  const lost = (member: Member, reason: string): void => {
    if (!members.has(member)) return;
    dismiss(member);
    member.errand?.reject(new ThreadLost(reason));
    if (!member.ready) couldNotStart();
    deal();
  };

  /** The threads that there are do the work; where there is none, the calling thread does. */
  const couldNotStart = (): void => {
    canStart = false;
    if (members.size > 0) return;
    for (const { here, resolve, reject } of queue.splice(0)) here().then(resolve, reject);
  };

  const hire = (): void => {
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
        hasStarted = true;
        rest(member);
        deal();
      };
      member.thread.onDeath = (reason) => lost(member, reason);
      member.thread.onReply = (reply) => {
        const { errand } = member;
        if (errand === undefined) return;
        member.errand = undefined;
        if ("result" in reply) errand.resolve(reply.result);
        else errand.reject("failure" in reply ? fromFailure(reply.failure) : reply.error);
        rest(member);
        deal();
      };
    } catch {
      couldNotStart();
    }
  };

  const rest = (member: Member): void => {
    clearTimeout(member.idle);
    member.idle = setTimeout(() => dismiss(member), IDLE_MS);
  };

  /** Hands what waits to threads that wait, and starts as many more as there is still work for. */
  const deal = (): void => {
    let starting = 0;
    for (const member of members) {
      if (!member.ready) starting++;
      else if (member.errand === undefined && queue.length > 0) give(member, queue.shift() as Errand);
    }
    for (; canStart && starting < queue.length && members.size < threads; starting++) hire();
  };

  const give = (member: Member, errand: Errand): void => {
    clearTimeout(member.idle);
    member.errand = errand;
    try {
      member.thread.send(errand.request);
    } catch (error) {
      member.errand = undefined;
      errand.reject(error);
      rest(member);
    }
  };

  /** Gives up an errand: its thread is ended, or it leaves the queue. */
  const abandon = (errand: Errand): void => {
    const place = queue.indexOf(errand);
    if (place >= 0) queue.splice(place, 1);
    const member = [...members].find((one) => one.errand === errand);
    if (member !== undefined) dismiss(member);
    errand.reject(new CancelledError());
    deal();
  };

  const sent = (
    request: WorkerRequest,
    here: () => Promise<WorkerResult | null>,
    end?: AbortSignal,
  ): Promise<WorkerResult | null> => {
    if (closed) return Promise.reject(new CancelledError());
    if (members.size === 0) canStart ||= hasStarted;
    if (members.size === 0 && !canStart) return here();
    let drop: (() => void) | undefined;
    const done = new Promise<WorkerResult | null>((resolve, reject) => {
      const errand: Errand = { request, here, resolve, reject };
      drop = () => abandon(errand);
      end?.addEventListener("abort", drop, { once: true });
      queue.push(errand);
      deal();
    });
    return done.finally(() => end?.removeEventListener("abort", drop as () => void));
  };

  return {
    threads,
    prepare() {
      if (canStart && !closed && members.size === 0) hire();
    },
    run: async <T extends PoolTask>(task: T, cancel?: CancelFlag) =>
      (await sent({ task, cancel }, () => thisThread.run(task, cancel))) as PoolResult<T>,
    async milp(job: MilpJob, watch: JobWatch, end?: AbortSignal) {
      if (end?.aborted) return null;
      try {
        const request = { job, board: watch.board };
        return (await sent(request, () => thisThread.milp(job, watch, end), end)) as MilpSolution | null;
      } catch (error) {
        if (end?.aborted || error instanceof ThreadLost) return null;
        throw error;
      }
    },
    share: shareColumns,
    async close() {
      closed = true;
      canStart = false;
      const abandoned = [...queue.splice(0), ...[...members].flatMap(({ errand }) => (errand ? [errand] : []))];
      for (const member of [...members]) dismiss(member);
      for (const { reject } of abandoned) reject(new CancelledError());
    },
  };
}
