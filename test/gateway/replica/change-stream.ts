import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';

/** An event of the stream. */
export interface Told {
  readonly name: string;
  readonly data: Record<string, unknown>;
}

/** A client of `GET /v1/replica/changes` that keeps what it was told. */
export class ChangeStream {
  readonly told: Told[] = [];
  readonly headers: IncomingMessage['headers'];
  readonly #response: IncomingMessage;
  #rest = '';

  private constructor(response: IncomingMessage) {
    this.#response = response;
    this.headers = response.headers;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#take(text));
    response.on('error', () => undefined);
  }

  /** Rejects with the answer's body unless it is a stream. */
  static async open(url: string, key: string): Promise<ChangeStream> {
    const request = get(`${url}/v1/replica/changes`, {
      agent: false,
      headers: { authorization: `Bearer ${key}` },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    request.on('error', () => undefined);
    if (response.statusCode === 200) return new ChangeStream(response);
    const chunks = (await response.toArray()) as Buffer[];
    throw new Error(`${response.statusCode} ${Buffer.concat(chunks).toString()}`);
  }

  /** The first event that fits, of those already told and of those to come. */
  async next(fits: (told: Told) => boolean): Promise<Told> {
    for (;;) {
      const found = this.told.find(fits);
      if (found) return found;
      if (this.#response.readableEnded || this.#response.destroyed) {
        throw new Error(`The stream has ended: ${JSON.stringify(this.told)}`);
      }
      await Promise.race([once(this.#response, 'data'), once(this.#response, 'close')]);
    }
  }

  named(name: string): Promise<Told> {
    return this.next((told) => told.name === name);
  }

  /** Resolves when the server has ended it. */
  async ended(): Promise<void> {
    if (!this.#response.readableEnded && !this.#response.destroyed) {
      await once(this.#response, 'close');
    }
  }

  /** Takes nothing more, and leaves the connection open. */
  stall(): void {
    this.#response.pause();
  }

  get isOpen(): boolean {
    return !this.#response.readableEnded && !this.#response.destroyed;
  }

  leave(): void {
    this.#response.destroy();
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, name = '', data = 'null'] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      this.told.push({ name, data: JSON.parse(data) as Record<string, unknown> });
    }
  }
}
