/** Characters after which a part of the text is handed on. */
const PART_LENGTH = 65_536;

/** Yields the parts of a JSON trace (Trace Event Format, Chrome and Perfetto) of events, each a JSON text. */
export function* traceOf(...all: readonly Iterable<string>[]): Generator<string> {
  let part = '{"displayTimeUnit":"ns","traceEvents":[';
  let separator = "\n";
  for (const events of all) {
    for (const event of events) {
      part += separator + event;
      separator = ",\n";
      if (part.length < PART_LENGTH) continue;
      yield part;
      part = "";
    }
  }
  yield `${part}\n]}\n`;
}
