/**
 * Events in order of (time, sequence number), as a binary heap in typed arrays. Sequence numbers are the caller's, so an
 * event may be put in later than the moment at which it was due to be scheduled and still keeps its turn.
 */
export class EventQueue {
  /** Of the event that `next` took out last. */
  time = 0;
  sequence = -1;
  payload = 0;

  private size = 0;
  private times: Float64Array = new Float64Array(1024);
  private sequences: Float64Array = new Float64Array(1024);
  private payloads: Int32Array = new Int32Array(1024);

  /** When the first event is due; infinity where there is none. */
  get firstTime(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : this.times[0];
  }

  /** Puts an event in. O(log events). */
  push(time: number, sequence: number, payload: number): void {
    if (this.size === this.times.length) this.grow();
    const { times, sequences, payloads } = this;
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (times[parent] < time || (times[parent] === time && sequences[parent] < sequence)) break;
      times[at] = times[parent];
      sequences[at] = sequences[parent];
      payloads[at] = payloads[parent];
      at = parent;
    }
    times[at] = time;
    sequences[at] = sequence;
    payloads[at] = payload;
  }

  /** Takes the first event out into `time`, `sequence` and `payload`; false when there is none. O(log events). */
  next(): boolean {
    if (this.size === 0) return false;
    const { times, sequences, payloads } = this;
    this.time = times[0];
    this.sequence = sequences[0];
    this.payload = payloads[0];
    const last = --this.size;
    const time = times[last];
    const sequence = sequences[last];
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= last) break;
      const right = child + 1;
      if (
        right < last &&
        (times[right] < times[child] || (times[right] === times[child] && sequences[right] < sequences[child]))
      ) {
        child = right;
      }
      if (time < times[child] || (time === times[child] && sequence < sequences[child])) break;
      times[at] = times[child];
      sequences[at] = sequences[child];
      payloads[at] = payloads[child];
      at = child;
    }
    times[at] = time;
    sequences[at] = sequence;
    payloads[at] = payloads[last];
    return true;
  }

  private grow(): void {
    const places = 2 * this.size;
    const times = new Float64Array(places);
    times.set(this.times);
    this.times = times;
    const sequences = new Float64Array(places);
    sequences.set(this.sequences);
    this.sequences = sequences;
    const payloads = new Int32Array(places);
    payloads.set(this.payloads);
    this.payloads = payloads;
  }
}

/** Ways through the network and how long one message takes on each link of them; times in any unit, whole numbers. */
export interface Ways {
  /** [ways + 1] */
  readonly offset: Int32Array;
  /** [way links] */
  readonly links: Int32Array;
  /** [way links] how long the link is busy with the message. */
  readonly serial: Float64Array;
  /** [way links] from the start on the link until the message is at its far end. */
  readonly delay: Float64Array;
}

/**
 * A store-and-forward network. Every link sends one message at a time, first come first served; a message that starts at t
 * frees the link at t + serial and is at its far end at t + delay; no other limits. Events of equal time run in the order
 * in which they were scheduled, a message's arrival before the freeing of its link: the first-order model of ASTRA-sim's
 * congestion-aware analytical network.
 *
 * A link that nobody waits for needs no event when it becomes free: its sequence number is set aside when it starts, and
 * the event is made, with that number, when the first message has to wait. O(log events in flight) per message and link.
 */
export class MessageNetwork {
  /** [links] */
  readonly linkBusy: Float64Array;
  /** [messages] start on the first link. */
  readonly start: Float64Array;
  /** Start per message and link, row by row of `hopOffset`, where it was asked for. */
  readonly hopStart: Float64Array | undefined;
  now = 0;

  private readonly queue = new EventQueue();
  private sequence = 0;
  private readonly position: Int32Array;
  private readonly nextWaiting: Int32Array;
  private readonly firstWaiting: Int32Array;
  private readonly lastWaiting: Int32Array;
  private readonly freeAt: Float64Array;
  private readonly freeSequence: Float64Array;
  private readonly ways: Ways;
  private readonly wayOf: ArrayLike<number>;
  private readonly hopOffset: Float64Array | undefined;

  /**
   * @param wayOf [messages]
   * @param hopOffset [messages] where the message's hops begin in `hopStart`
   */
  constructor(linkCount: number, ways: Ways, wayOf: ArrayLike<number>, hopOffset?: Float64Array, hops = 0) {
    const messages = wayOf.length;
    this.ways = ways;
    this.wayOf = wayOf;
    this.hopOffset = hopOffset;
    this.hopStart = hopOffset === undefined ? undefined : new Float64Array(hops);
    this.linkBusy = new Float64Array(linkCount);
    this.start = new Float64Array(messages);
    this.position = new Int32Array(messages);
    this.nextWaiting = new Int32Array(messages).fill(-1);
    this.firstWaiting = new Int32Array(linkCount).fill(-1);
    this.lastWaiting = new Int32Array(linkCount).fill(-1);
    this.freeAt = new Float64Array(linkCount).fill(-1);
    this.freeSequence = new Float64Array(linkCount);
  }

  /** Hands the message to the first link of its way, now. */
  send(message: number): void {
    this.position[message] = this.ways.offset[this.wayOf[message]];
    this.enter(message);
  }

  /** Hands the message to the first link of its way at a time from now on. */
  sendAt(message: number, time: number): void {
    this.position[message] = this.ways.offset[this.wayOf[message]] - 1;
    this.queue.push(time, this.sequence++, message);
  }

  /** Runs all events; calls back for each message that has come to the end of its way. Returns the last event's time. */
  run(onArrival: (message: number, time: number) => void): number {
    const { queue, ways, wayOf, position } = this;
    while (queue.next()) {
      this.now = queue.time;
      const message = queue.payload;
      if (message < 0) this.serveNext(~message);
      else if (++position[message] < ways.offset[wayOf[message] + 1]) this.enter(message);
      else onArrival(message, queue.time);
    }
    return this.now;
  }

  private enter(message: number): void {
    const link = this.ways.links[this.position[message]];
    const free = this.freeAt[link];
    if (free < this.now || (free === this.now && this.freeSequence[link] < this.queue.sequence)) {
      this.transmit(link, message);
      return;
    }
    const last = this.lastWaiting[link];
    if (last < 0) {
      this.firstWaiting[link] = message;
      this.queue.push(free, this.freeSequence[link], ~link);
    } else {
      this.nextWaiting[last] = message;
    }
    this.lastWaiting[link] = message;
  }

  private transmit(link: number, message: number): void {
    const { now, ways, position } = this;
    const p = position[message];
    this.queue.push(now + ways.delay[p], this.sequence, message);
    this.freeSequence[link] = this.sequence + 1;
    this.sequence += 2;
    this.freeAt[link] = now + ways.serial[p];
    this.linkBusy[link] += ways.serial[p];
    const hop = p - ways.offset[this.wayOf[message]];
    if (hop === 0) this.start[message] = now;
    if (this.hopStart !== undefined && this.hopOffset !== undefined) this.hopStart[this.hopOffset[message] + hop] = now;
  }

  private serveNext(link: number): void {
    const message = this.firstWaiting[link];
    const after = this.nextWaiting[message];
    this.nextWaiting[message] = -1;
    this.firstWaiting[link] = after;
    this.transmit(link, message);
    if (after < 0) this.lastWaiting[link] = -1;
    else this.queue.push(this.freeAt[link], this.freeSequence[link], ~link);
  }
}
