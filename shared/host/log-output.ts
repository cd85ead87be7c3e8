import { write, writeSync } from 'node:fs';
import { errorCode } from '../lib/guards.ts';

/** How much may wait for a stalled reader; later lines are lost. */
const WAITING_CHARS_MAX = 1024 * 1024;
const BUSY_RETRY_MS = 100;
const TELL_AGAIN_MS = 1000;
/** After this long, nobody is reading. */
const STALLED_MS = 1000;
const NEWLINE = 0x0a;

interface Chunk {
  readonly bytes: Buffer;
  /** How many of the bytes report earlier lost lines. */
  readonly noticeBytes: number;
  readonly told: number;
  written: number;
}

/**
 * Writes log lines and never throws: a full disk, a reader that is gone or a full pipe only costs lines. Once it can
 * write again, it reports how many lines were lost.
 */
export class LogOutput {
  readonly #fd: number;
  readonly #background: boolean;
  #waiting = '';
  #lost = 0;
  #code = '';
  /** The last write ended in the middle of a line. */
  #torn = false;
  #inFlight: Chunk | null = null;
  #handedOverAt: number | null = null;
  #willTell = false;

  /**
   * In the background, a stalled reader doesn't block the event loop. Otherwise a line is written when `write` returns.
   */
  constructor(fd: number, { background }: { readonly background: boolean }) {
    this.#fd = fd;
    this.#background = background;
  }

  write(line: string): void {
    if (this.#waiting.length + line.length > WAITING_CHARS_MAX) {
      this.#lost += 1;
      this.#code = 'EAGAIN';
      return;
    }
    this.#waiting += line;
    if (!this.#background) this.flushSync();
    else if (!this.#inFlight) this.#begin(this.#take());
  }

  /** Writes waiting lines at once; pino calls it for a fatal line. */
  flushSync(): void {
    // Another thread's write in progress is that thread's to finish.
    if (this.#inFlight && this.#handedOverAt === null) {
      this.#writeSync(this.#inFlight);
      this.#inFlight = null;
    }
    if (this.#waiting !== '' || this.#lost > 0) this.#writeSync(this.#take());
  }

  /** The process's last use of the log. Node would wait forever for a thread that writes to a stalled reader. */
  end(): void {
    const since = this.#handedOverAt;
    if (since !== null && performance.now() - since > STALLED_MS) {
      process.kill(process.pid, 'SIGKILL');
    }
    this.flushSync();
  }

  #writeSync(chunk: Chunk): void {
    try {
      while (chunk.written < chunk.bytes.length) {
        chunk.written += writeSync(this.#fd, chunk.bytes, chunk.written);
      }
      this.#torn = false;
    } catch (error) {
      this.#failed(chunk, error);
    }
  }

  #begin(chunk: Chunk): void {
    this.#inFlight = chunk;
    this.#continue(chunk);
  }

  #continue(chunk: Chunk): void {
    if (chunk !== this.#inFlight) return;
    this.#handedOverAt = performance.now();
    write(this.#fd, chunk.bytes, chunk.written, null, null, (error, bytes) => {
      this.#handedOverAt = null;
      if (error?.code === 'EAGAIN') {
        setTimeout(() => this.#continue(chunk), BUSY_RETRY_MS).unref();
        return;
      }
      if (error) {
        this.#failed(chunk, error);
      } else {
        chunk.written += bytes;
        if (chunk.written < chunk.bytes.length) return this.#continue(chunk);
        this.#torn = false;
      }
      this.#inFlight = null;
      if (this.#waiting !== '') this.#begin(this.#take());
    });
  }

  #take(): Chunk {
    const notice = this.#notice();
    const bytes = Buffer.from(notice + this.#waiting);
    const told = this.#lost;
    this.#waiting = '';
    this.#lost = 0;
    return { bytes, noticeBytes: Buffer.byteLength(notice), told, written: 0 };
  }

  #notice(): string {
    const end = this.#torn ? '\n' : '';
    if (this.#lost === 0) return end;
    const msg = 'lines of this log could not be written';
    const line = {
      level: 40,
      time: Date.now(),
      pid: process.pid,
      lines: this.#lost,
      code: this.#code,
      msg,
    };
    return `${end}${JSON.stringify(line)}\n`;
  }

  #failed({ bytes, noticeBytes, told, written }: Chunk, error: unknown): void {
    if (written < noticeBytes) this.#lost += told;
    for (const byte of bytes.subarray(Math.max(written, noticeBytes))) {
      if (byte === NEWLINE) this.#lost += 1;
    }
    if (written > 0) this.#torn = bytes[written - 1] !== NEWLINE;
    this.#code = errorCode(error) ?? String(error);
    if (this.#willTell) return;
    this.#willTell = true;
    setTimeout(() => {
      this.#willTell = false;
      if (this.#lost > 0) this.write('');
    }, TELL_AGAIN_MS).unref();
  }
}
