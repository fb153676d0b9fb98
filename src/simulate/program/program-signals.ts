import { type ProgramNetwork, schedule } from "./program-network.ts";

/** Data between two signals from one rank to another: how much of it is on its way, and the signal that ends it. */
export interface Stretch {
  inFlight: number;
  event: number;
  earliestPs: number;
}

/** Signals from rank to rank: none overtakes data that its rank had begun to send to the same one. */
export interface Signals {
  /** Returns the stretch to which data sent now belongs. */
  readonly begin: (from: number, to: number) => Stretch;
  /** Data of a stretch has arrived. */
  readonly arrive: (stretch: Stretch, from: number, to: number, nowPs: number) => void;
  /** Sends a signal, which arrives no earlier than at `earliestPs`. */
  readonly signal: (from: number, to: number, event: number, nowPs: number, earliestPs: number) => void;
}

/** Returns the signals of a program; they are told of by events of this kind with the event's number. */
export function signalsOf(network: ProgramNetwork, rankCount: number, kind: number): Signals {
  const stretches = new Map<number, Stretch[]>();
  const of = (from: number, to: number): Stretch[] => {
    const key = from * rankCount + to;
    let list = stretches.get(key);
    if (list === undefined) {
      list = [{ inFlight: 0, event: -1, earliestPs: 0 }];
      stretches.set(key, list);
    }
    return list;
  };
  const settle = (list: Stretch[], nowPs: number): void => {
    while (list[0].event >= 0 && list[0].inFlight === 0) {
      schedule(network, Math.max(nowPs, list[0].earliestPs), kind, list[0].event);
      list.shift();
    }
  };
  return {
    begin(from, to) {
      const list = of(from, to);
      const stretch = list[list.length - 1];
      stretch.inFlight++;
      return stretch;
    },
    arrive(stretch, from, to, nowPs) {
      stretch.inFlight--;
      settle(of(from, to), nowPs);
    },
    signal(from, to, event, nowPs, earliestPs) {
      const list = of(from, to);
      const open = list[list.length - 1];
      open.event = event;
      open.earliestPs = earliestPs;
      list.push({ inFlight: 0, event: -1, earliestPs: 0 });
      settle(list, nowPs);
    },
  };
}
