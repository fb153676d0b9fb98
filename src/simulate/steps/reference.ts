import { InputError, inWords } from "../../base/errors.ts";
import { type Rational, rational } from "../../model/numbers/rational.ts";
import { accepted, replayProblem, rowsOf } from "../../model/replay/columns.ts";
import { MessageNetwork } from "../../model/replay/message-network.ts";
import { REPLAY_MODE, REPLAY_WANTS, type Replay, TOO_LATE } from "../../model/replay/problem.ts";
import { replayJs } from "../../model/replay/replay.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";

/**
 * The reference mode: the first-order model of ASTRA-sim's congestion-aware analytical network, to the nanosecond.
 * Store-and-forward, first come first served per link, an event queue whose ties go by the order of scheduling, and two
 * delays per message and link that are truncated to whole nanoseconds separately: size/bandwidth until the link is free,
 * latency + size/bandwidth until the message is at the far end. Computed in integers, where ASTRA-sim uses doubles.
 */

/** One message on a fixed way. */
export interface Message {
  /** Links in order; each starts where the one before ends. */
  readonly links: readonly number[];
  /** Whole bytes, 1 or more. */
  readonly bytes: number;
  /** Not sent before this time, whole nanoseconds; default 0. Not together with `after`. */
  readonly releaseNs?: number;
  /** Index of an earlier message at whose arrival this one is sent. */
  readonly after?: number;
}

export interface MessageTimes {
  /** When the last message arrives. */
  readonly lastArrivalNs: number;
  /** [messages] */
  readonly arrivalNs: Float64Array;
  /** [links] */
  readonly linkBusyNs: Float64Array;
}

export interface ReferenceOptions {
  /**
   * Read bandwidths that are labelled GB/s as GiB/s, as ASTRA-sim does with its configuration files: 50 GB/s becomes
   * 50 x 2^30 bytes/s. Default false: bandwidths are what they say they are, so a link of "50GiB/s" is right as it is.
   */
  readonly gigabytesAreGibibytes?: boolean;
}

/** Returns a function from (bytes, link) to [serial, delay] in whole nanoseconds; once per class of equal links. */
function delayRule(topology: Topology, bytes: Rational, options: ReferenceOptions): (link: number) => [number, number] {
  const [up, down] = options.gigabytesAreGibibytes === true ? [10n ** 9n, 1n << 30n] : [1n, 1n];
  const classes = new Map<string, [number, number]>();
  return (link) => {
    const bandwidth = topology.linkBytesPerSecond[link];
    const latencyPs = topology.linkLatencyPs[link];
    const key = `${bandwidth}:${latencyPs}`;
    let pair = classes.get(key);
    if (pair === undefined) {
      // ns = bytes x 1e9 / bandwidth, over one denominator
      const den = bytes.den * BigInt(bandwidth) * down;
      const num = bytes.num * 10n ** 9n * up;
      pair = [Number(num / den), Number((num * 1000n + BigInt(latencyPs) * den) / (1000n * den))];
      classes.set(key, pair);
    }
    return pair;
  };
}

/** Throws InputError for a message whose way is not a way, or that waits for a later one. */
function checkMessage(topology: Topology, message: Message, index: number): void {
  const { links, bytes, releaseNs = 0, after } = message;
  const place = `messages[${index}]`;
  if (links.length === 0)
    throw new InputError(`${place}.links`, "at least one link", inWords("none")).as("out-of-range");
  links.forEach((link, hop) => {
    if (!(Number.isInteger(link) && link >= 0 && link < linkCount(topology))) {
      throw new InputError(`${place}.links[${hop}]`, `a link below ${linkCount(topology)}`, link);
    }
    if (hop > 0 && topology.linkSource[link] !== topology.linkTarget[links[hop - 1]]) {
      throw new InputError(`${place}.links[${hop}]`, "a link that leaves where the one before arrives", link);
    }
  });
  if (!Number.isSafeInteger(bytes) || bytes < 1)
    throw new InputError(`${place}.bytes`, "whole bytes, 1 or more", bytes);
  if (!Number.isSafeInteger(releaseNs) || releaseNs < 0) {
    throw new InputError(`${place}.releaseNs`, "whole nanoseconds, 0 or more", releaseNs);
  }
  if (after !== undefined && !(Number.isInteger(after) && after >= 0 && after < index && releaseNs === 0)) {
    throw new InputError(`${place}.after`, "an earlier message, and no releaseNs", after);
  }
}

/**
 * Returns when messages arrive in the reference model. Messages without `after` enter at their release time in the order
 * given; those that wait for the same message are sent at its arrival in the order given. Throws InputError.
 */
export function simulateMessages(
  topology: Topology,
  messages: readonly Message[],
  options: ReferenceOptions = {},
): MessageTimes {
  const offset = new Int32Array(messages.length + 1);
  messages.forEach((message, i) => {
    checkMessage(topology, message, i);
    offset[i + 1] = offset[i] + message.links.length;
  });
  const links = new Int32Array(offset[messages.length]);
  const serial = new Float64Array(links.length);
  const delay = new Float64Array(links.length);
  const rules = new Map<number, (link: number) => [number, number]>();
  const firstAfter = new Int32Array(messages.length).fill(-1);
  const nextAfter = new Int32Array(messages.length).fill(-1);
  for (let i = messages.length - 1; i >= 0; i--) {
    const { bytes, after, links: way } = messages[i];
    let rule = rules.get(bytes);
    if (rule === undefined) {
      rule = delayRule(topology, rational(bytes), options);
      rules.set(bytes, rule);
    }
    for (let hop = 0; hop < way.length; hop++) {
      links[offset[i] + hop] = way[hop];
      [serial[offset[i] + hop], delay[offset[i] + hop]] = rule(way[hop]);
    }
    if (after === undefined) continue;
    nextAfter[i] = firstAfter[after];
    firstAfter[after] = i;
  }
  const wayOf = Int32Array.from(messages, (_, i) => i);
  const network = new MessageNetwork(linkCount(topology), { offset, links, serial, delay }, wayOf);
  messages.forEach(({ after, releaseNs = 0 }, i) => {
    if (after !== undefined) return;
    if (releaseNs === 0) network.send(i);
    else network.sendAt(i, releaseNs);
  });
  const arrivalNs = new Float64Array(messages.length);
  let lastArrivalNs = 0;
  network.run((message, time) => {
    arrivalNs[message] = time;
    lastArrivalNs = time;
    for (let next = firstAfter[message]; next >= 0; next = nextAfter[next]) network.send(next);
  });
  return { lastArrivalNs, arrivalNs, linkBusyNs: network.linkBusy };
}

/** What a schedule does in the reference model; whole nanoseconds. */
export interface ReferenceSimulation {
  readonly model: "network/reference";
  /** When the last chunk arrives. */
  readonly ns: number;
  /** [links] */
  readonly linkBusyNs: Float64Array;
  /** [transfers] start on the first link. */
  readonly startNs: Float64Array;
  /** [transfers] arrival at the target. */
  readonly endNs: Float64Array;
}

/**
 * Returns the schedule replayed in the reference model: each transfer is a message of one chunk on its route, sent when the
 * chunk is at its source (in a reduction: when the planned contributions are), what is ready at the same event in planned
 * order. Links know no planned order, only first come first served. Throws InputError for a schedule that is not valid.
 */
export function simulateReference(
  schedule: StepSchedule,
  options: ReferenceOptions = {},
  replay: Replay = replayJs,
): ReferenceSimulation {
  const { topology, collective } = schedule;
  const rule = delayRule(topology, collective.chunkBytes, options);
  const links = Array.from({ length: linkCount(topology) }, (_, link) => rule(link));
  const serial = Float64Array.from(links, ([ns]) => Math.min(ns, TOO_LATE));
  const delay = Float64Array.from(links, ([, ns]) => Math.min(ns, TOO_LATE));
  const rows = rowsOf(schedule);
  const problem = replayProblem(rows, REPLAY_MODE.firstCome, REPLAY_WANTS.times, { serial, delay });
  const { last, linkBusy, start, end } = accepted(rows, replay(problem));
  return { model: "network/reference", ns: last, linkBusyNs: linkBusy, startNs: start, endNs: end };
}
