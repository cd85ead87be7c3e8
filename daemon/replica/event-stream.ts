/** One event of a stream, as it was sent. */
export interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

/** An event that is longer is none of ours. */
const EVENT_MAX_CHARS = 1024 * 1024;

/** Reads server-sent events: fields `event` and `data`, comments are left out. Looks at each character once. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let event = new PartialEvent();
  let rest = '';
  for await (const chunk of chunks) {
    // A line feed is in what is new: the rest before it had none.
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

  /** Of what is kept. */
  get chars(): number {
    return this.#chars;
  }

  /** False for the empty line that ends an event. */
  take(line: string): boolean {
    // The flag: what a sender wrote may hold separators that end a line for a regular expression, and for nobody here.
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'event') this.#name = value;
    else if (field === 'data') this.#keep(value);
    return line !== '';
  }

  /** Null where there were no data. */
  finish(): StreamEvent | null {
    return this.#data.length > 0 ? { name: this.#name, data: this.#data.join('\n') } : null;
  }

  #keep(value: string): void {
    this.#data.push(value);
    // With the line feed between this and the next.
    this.#chars += value.length + 1;
  }
}
