import { parseObject } from '../../shared/lib/guards.ts';

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const OWN_FIELDS: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'msg', 'err']);

/** A log line for people: time, level, message, fields, then the stack. Doesn't change other text. */
export function readableLogLine(line: string): string {
  const entry = parseObject(line);
  if (!entry || typeof entry['time'] !== 'number') return line;
  const level = LEVELS[Number(entry['level'])] ?? '';
  const fields = Object.entries(entry)
    .filter(([name]) => !OWN_FIELDS.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const message = typeof entry['msg'] === 'string' ? entry['msg'] : '';
  const head = [clockTime(entry['time']), level.padEnd(5), message, ...fields].join(' ');
  return [head, ...stackOf(entry['err'])].join('\n');
}

/** `07:41:10.272`, in the reader's time zone. */
function clockTime(ms: number): string {
  const time = new Date(ms);
  const [hours, minutes, seconds] = [time.getHours(), time.getMinutes(), time.getSeconds()].map(
    (part) => String(part).padStart(2, '0'),
  );
  return `${hours}:${minutes}:${seconds}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}

function stackOf(err: unknown): string[] {
  if (typeof err !== 'object' || err === null || !('stack' in err)) return [];
  return String(err.stack)
    .split('\n')
    .map((line) => `    ${line.trim()}`);
}
