import type { ToolCall } from './tool-call.ts';
import { Transcript } from './transcript.ts';

/** How often to look whether the client still wants an answer. */
const LOOK_EVERY_MS = 300;

/** A client's prompt, while nobody has answered it on the screen. */
export class OpenPrompt {
  /** Aborted when the client ends this process or is gone, or the prompt was answered on the screen. */
  readonly signal: AbortSignal;
  readonly #closed = new AbortController();
  readonly #looking: NodeJS.Timeout;
  readonly #parent = process.ppid;
  #transcript: Transcript | null = null;

  constructor(interrupted: AbortSignal) {
    this.signal = AbortSignal.any([interrupted, this.#closed.signal]);
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS);
    // A terminal that's closed says only this.
    process.on('SIGHUP', this.#close);
  }

  /** Also reads in the client's transcript whether the call was answered. */
  follow(call: ToolCall): void {
    if (call.transcript !== null) this.#transcript = new Transcript(call.transcript, call);
  }

  release(): void {
    clearInterval(this.#looking);
    process.off('SIGHUP', this.#close);
  }

  #look(): void {
    if (process.ppid !== this.#parent || this.#transcript?.isAnswered()) this.#close();
  }

  readonly #close = (): void => this.#closed.abort();
}
