import { add, compare, type Rational, rational, subtract } from "../../model/numbers/rational.ts";
import type { RouteSet, RouteTimes } from "../../model/routes/routes.ts";
import type { SyncProblem } from "./problem.ts";
import type { Send } from "./sends.ts";

/** Transfers of chunks, as columns; rows with equal route, start and end are one merged send. */
export interface TimedSends {
  readonly chunk: readonly number[];
  readonly route: readonly number[];
  readonly startPs: readonly number[];
  readonly endPs: readonly number[];
  /** When the last step ends. */
  readonly ps: number;
}

/** One message: chunks on one route. */
interface Message {
  readonly route: number;
  readonly chunks: number[];
}

/**
 * Returns when each chunk is sent: a step begins when the one before has ended, the chunks of a route are one message, and
 * messages that share links begin as soon as their shares are free, the longest first. Where nothing is shared a step lasts
 * as long as its longest message. `sends` by steps. O(sends + messages of a step squared where links are shared).
 */
export function timedSends(
  { arcs }: Pick<SyncProblem, "arcs">,
  sends: readonly Send[],
  routes: RouteSet,
  times: RouteTimes,
): TimedSends {
  const chunk: number[] = [];
  const route: number[] = [];
  const startPs: number[] = [];
  const endPs: number[] = [];
  let now = 0;
  for (let from = 0; from < sends.length; ) {
    let to = from;
    while (to < sends.length && sends[to]?.step === sends[from]?.step) to++;
    const messages = messagesOf(arcs.routes, sends.slice(from, to), times);
    let end = now;
    for (const { message, start } of placed(messages, routes, times, now)) {
      const stop = start + lengthOf(message, times);
      for (const one of message.chunks) {
        chunk.push(one);
        route.push(message.route);
        startPs.push(start);
        endPs.push(stop);
      }
      end = Math.max(end, stop);
    }
    now = end;
    from = to;
  }
  return { chunk, route, startPs, endPs, ps: now };
}

const lengthOf = ({ route, chunks }: Message, { latencyPs, serialPs }: RouteTimes): number =>
  latencyPs[route] + chunks.length * serialPs[route];

/** Returns the messages of a step: the chunks of an arc go to its routes so that each, in turn, ends as early as it can. */
function messagesOf(routesOf: readonly (readonly number[])[], sends: readonly Send[], times: RouteTimes): Message[] {
  const byRoute = new Map<number, Message>();
  for (const { chunk, arc } of sends) {
    let best: Message | null = null;
    let bestPs = Number.POSITIVE_INFINITY;
    for (const route of routesOf[arc] as readonly number[]) {
      const message = byRoute.get(route) ?? { route, chunks: [] };
      const ps = lengthOf(message, times) + times.serialPs[route];
      if (ps < bestPs) [best, bestPs] = [message, ps];
    }
    const { route, chunks } = best as Message;
    chunks.push(chunk);
    byRoute.set(route, best as Message);
  }
  return [...byRoute.values()];
}

/** Returns the messages with their starts, from `now` on. */
function placed(messages: readonly Message[], routes: RouteSet, times: RouteTimes, now: number) {
  const { linkOffset, links, shareNum, shareDen } = routes;
  const waiting = [...messages].sort((a, b) => lengthOf(b, times) - lengthOf(a, times) || a.route - b.route);
  const inUse = new Map<number, Rational>();
  const change = (route: number, by: typeof add): void => {
    for (let i = linkOffset[route]; i < linkOffset[route + 1]; i++) {
      const used = inUse.get(links[i]) ?? rational(0);
      inUse.set(links[i], by(used, rational(shareNum[i], shareDen[i])));
    }
  };
  const isFree = (route: number): boolean => {
    for (let i = linkOffset[route]; i < linkOffset[route + 1]; i++) {
      const used = inUse.get(links[i]);
      if (used !== undefined && compare(add(used, rational(shareNum[i], shareDen[i])), rational(1)) > 0) return false;
    }
    return true;
  };
  const starts: { readonly message: Message; readonly start: number }[] = [];
  let running: { readonly route: number; readonly end: number }[] = [];
  let at = now;
  for (let left = waiting; left.length > 0; ) {
    left = left.filter((message) => {
      if (!isFree(message.route)) return true;
      change(message.route, add);
      running.push({ route: message.route, end: at + lengthOf(message, times) });
      starts.push({ message, start: at });
      return false;
    });
    if (left.length === 0) break;
    at = running.reduce((least, { end }) => Math.min(least, end), Number.POSITIVE_INFINITY);
    for (const { route, end } of running) if (end === at) change(route, subtract);
    running = running.filter(({ end }) => end > at);
  }
  return starts;
}
