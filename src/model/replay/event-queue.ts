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
