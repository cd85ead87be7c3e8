/** One event of a stream, unparsed. */
export interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

/** Our gateway sends no longer event. */
const EVENT_MAX_CHARS = 1024 * 1024;

/** Reads server-sent events: the fields `event` and `data`, without comments. Looks at each character once. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let event = new PartialEvent();
  let rest = '';
  for await (const chunk of chunks) {
    // Only the new chunk can contain a line feed: `rest` has none.
    const [first = '', ...lines] = decoder.decode(chunk, { stream: true }).split('\n');
    rest += first;
    for (const next of lines) {
      if (!event.take(rest.endsWith('\r') ? rest.slice(0, -1) : rest)) {
        const whole = event.finish();
        if (whole) yield whole;
        event = new PartialEvent();
      }
      rest = next;
    }
    if (event.chars + rest.length > EVENT_MAX_CHARS) {
      throw new Error('An event of the stream is too long.');
    }
  }
}

class PartialEvent {
  readonly #data: string[] = [];
  #name = 'message';
  #chars = 0;

  /** The length of the collected data. */
  get chars(): number {
    return this.#chars;
  }

  /** False for the empty line that ends an event. */
  take(line: string): boolean {
    // The `s` flag, because data may contain U+2028 and other characters that end a line for a regular expression only.
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'event') this.#name = value;
    else if (field === 'data') this.#keep(value);
    return line !== '';
  }

  /** Null if the event has no data. */
  finish(): StreamEvent | null {
    return this.#data.length > 0 ? { name: this.#name, data: this.#data.join('\n') } : null;
  }

  #keep(value: string): void {
    this.#data.push(value);
    // Count the line feed after it too.
    this.#chars += value.length + 1;
  }
}
