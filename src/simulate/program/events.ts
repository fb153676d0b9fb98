import { EventQueue } from "../../model/replay/message-network.ts";

/** Places of the table of times, and by how much a 32-bit hash is shifted to be one. */
const PLACES = 4096;
const SHIFT = 20;

/**
 * Events in order of time, those of one time in the order in which they came. Ranks that do alike have their events at the same
 * times: these are lists, and only lists are sorted. Nothing may be put in before the time of the event taken out last.
 */
export class Events {
  /** Of the event that `next` took out last. */
  time = 0;
  payload = 0;

  /** Lists that are not begun; several of one time in the order in which they were made. */
  private readonly lists = new EventQueue();
  private made = 0;
  private current = -1;
  /** By time's hash: the list of that time, or of another one. */
  private readonly listAt = new Int32Array(PLACES).fill(-1);
  /** [lists] time, -1: not in use; first and last event, -1: none. */
  private readonly times: number[] = [];
  private readonly first: number[] = [];
  private readonly last: number[] = [];
  /** [events] */
  private readonly payloads: number[] = [];
  private readonly after: number[] = [];
  private readonly freeLists: number[] = [];
  private readonly freeEvents: number[] = [];

  /** Puts an event in, behind those of the same time. O(1) where the time's list is found, else O(log lists). */
  push(time: number, payload: number): void {
    const { first, last, payloads, after } = this;
    const event = this.freeEvents.pop() ?? payloads.length;
    payloads[event] = payload;
    after[event] = -1;
    const list = this.listOf(time);
    if (first[list] < 0) first[list] = event;
    else after[last[list]] = event;
    last[list] = event;
  }

  /** Takes the first event out into `time` and `payload`; false when there is none. */
  next(): boolean {
    const { first, lists } = this;
    while (this.current < 0 || first[this.current] < 0) {
      if (this.current >= 0) {
        this.times[this.current] = -1;
        this.freeLists.push(this.current);
      }
      this.current = -1;
      if (!lists.next()) return false;
      this.current = lists.payload;
      this.time = lists.time;
    }
    const event = first[this.current];
    this.payload = this.payloads[event];
    first[this.current] = this.after[event];
    this.freeEvents.push(event);
    return true;
  }

  /** Returns the list that was made last for a time; a new one where that is over, or another time has its place in the table. */
  private listOf(time: number): number {
    const { times, listAt } = this;
    const place = Math.imul(time | 0, 0x9e3779b1) >>> SHIFT;
    const known = listAt[place];
    if (known >= 0 && times[known] === time) return known;
    const list = this.freeLists.pop() ?? times.length;
    times[list] = time;
    this.first[list] = -1;
    this.last[list] = -1;
    listAt[place] = list;
    this.lists.push(time, this.made++, list);
    return list;
  }
}
