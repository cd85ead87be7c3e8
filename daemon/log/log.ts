import { pino, type DestinationStream, type Logger } from 'pino';
import { LogOutput } from '../../shared/host/log-output.ts';
import { redact } from '../../shared/lib/redact.ts';
import { openLog, rotateLog } from './log-file.ts';

interface LogOptions {
  readonly file: string;
  /** A pino level; an unknown word counts as `info`. */
  readonly level: string | undefined;
  /** Also write to standard error, for a daemon in the foreground. */
  readonly mirror: boolean;
}

/** The daemon's log: JSON lines, written synchronously, so a crash loses no line. */
export function createLog(options: LogOptions): Logger {
  rotateLog(options.file);
  const file = new LogOutput(openLog(options.file), { background: false });
  const level = options.level && options.level in pino.levels.values ? options.level : 'info';
  const stream = options.mirror ? mirrored(file) : file;
  // Redact the finished line: redaction by field would miss a key inside a message or stack.
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
