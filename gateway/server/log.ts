import { pino, type Logger } from 'pino';
import { LogOutput } from '../../shared/host/log-output.ts';
import { redact } from '../../shared/lib/redact.ts';

const REDACTED = '[redacted]';

export interface ServerLog {
  readonly log: Logger;
  /** Writes the lines held back so far, and later ones at once. */
  begin(): void;
}

/**
 * The log of the hosted process: JSON lines on standard output. It writes them in the background, so that a reader
 * who stalls doesn't stall the gateway, and writes the rest when the process ends. Before `begin` it holds lines
 * back, because the first line is for the program that waits for the gateway to listen.
 */
export function createServerLog(options: {
  readonly level: string;
  /** Texts that must never appear in a line. */
  readonly secrets: readonly string[];
}): ServerLog {
  const { level } = options;
  // Lines contain them in JSON's spelling.
  const secrets = options.secrets.map((text) => JSON.stringify(text).slice(1, -1));
  const clean = (line: string): string =>
    secrets.reduce((text, secret) => text.replaceAll(secret, REDACTED), redact(line));
  const out = new LogOutput(1, { background: true });
  let held: string[] | null = [];
  const begin = (): void => {
    for (const line of held ?? []) out.write(line);
    held = null;
  };
  const write = (line: string): void => {
    if (held) held.push(line);
    else out.write(line);
  };
  // The held lines say why a start failed.
  process.once('exit', () => {
    begin();
    out.end();
  });
  const log = pino({ level, base: { pid: process.pid }, hooks: { streamWrite: clean } }, { write });
  return { log, begin };
}
