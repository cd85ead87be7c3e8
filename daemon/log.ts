import { pino, type DestinationStream, type Logger } from 'pino';
import { LogOutput } from '../shared/host/log-output.ts';
import { redact } from '../shared/lib/redact.ts';
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
  const file = new LogOutput(openLog(options.file), { background: false });
  const level = options.level && options.level in pino.levels.values ? options.level : 'info';
  const stream = options.mirror ? mirrored(file) : file;
  // Redaction works on the finished line: paths of fields would miss a key inside a message or stack.
  return pino({ level, base: { pid: process.pid }, hooks: { streamWrite: redact } }, stream);
}

function mirrored(file: LogOutput): DestinationStream {
  const mirror = new LogOutput(2, { background: true });
  process.once('exit', () => mirror.end());
  return {
    write(line) {
      file.write(line);
      mirror.write(line);
    },
  };
}
