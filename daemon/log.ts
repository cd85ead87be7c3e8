import { pino, type Logger } from 'pino';
import { redact } from '../shared/redact.ts';
import { openLog, rotateLog } from './log-file.ts';

interface LogOptions {
  readonly file: string;
  /** A pino level; an unknown word counts as `info`. */
  readonly level: string | undefined;
  /** Also to standard error, for a daemon that runs in the foreground. */
  readonly mirror: boolean;
}

/** The log of the daemon: JSON lines, appended at once, so that a crash loses none. */
export function createLog(options: LogOptions): Logger {
  rotateLog(options.file);
  const file = pino.destination({ dest: openLog(options.file), sync: true });
  const level = options.level && options.level in pino.levels.values ? options.level : 'info';
  const stream = options.mirror
    ? pino.multistream([
        { stream: file, level: 'trace' },
        { stream: pino.destination({ dest: 2, sync: true }), level: 'trace' },
      ])
    : file;
  // Redaction works on the finished line: paths of fields would miss a key inside a message or stack.
  return pino({ level, base: { pid: process.pid }, hooks: { streamWrite: redact } }, stream);
}
