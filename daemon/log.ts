import { pino, type Logger } from 'pino';
import { openLog, rotateLog } from './log-file.ts';

interface LogOptions {
  readonly file: string;
  /** A pino level; an unknown word counts as `info`. */
  readonly level: string | undefined;
  /** Also to standard error, for a daemon that runs in the foreground. */
  readonly mirror: boolean;
}

/** Headers whose value is a secret, as they stand in a JSON line. */
const SECRET_HEADERS =
  /("(?:authorization|cookie|set-cookie|x-api-key|proxy-authorization)":)"(?:[^"\\]|\\.)*"/gi;
/** Keys, signing secrets, and the addresses that are secrets themselves. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/svc_live_[0-9A-Za-z]+/g, 'svc_live_[redacted]'],
  [/whsec_[0-9A-Za-z+/=_-]+/g, 'whsec_[redacted]'],
  [/\b(Bearer )[^\s"\\]+/gi, '$1[redacted]'],
  [/(\/w\/)[0-9A-Za-z]+/g, '$1[redacted]'],
  [/(\/l\/[0-9a-z]+\/evt_[0-9a-z]+\/\d+\/)[\w-]+/g, '$1[redacted]'],
];

/** A finished log line without its secrets, wherever in it they stand. */
export function redact(line: string): string {
  return SECRETS.reduce(
    (text, [pattern, shown]) => text.replace(pattern, shown),
    line.replace(SECRET_HEADERS, '$1"[redacted]"'),
  );
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
