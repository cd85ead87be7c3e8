import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutboxMailer } from '../../../gateway/mail/outbox-mailer.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-kill-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const MODULE = new URL('../../../gateway/mail/outbox-mailer.ts', import.meta.url).href;

/** Writes mails and says of each that it is kept. */
const WRITER = `
  import { OutboxMailer } from ${JSON.stringify(MODULE)};
  const [folder, round] = process.argv.slice(1);
  const mailer = new OutboxMailer({ folder, clock: { now: () => 0 } });
  const text = 'All of it. '.repeat(20_000) + '\\nEnd of it.\\n';
  for (let count = 1; ; count += 1) {
    const id = 'r' + round + '_' + count;
    const plain = { from: 'svc@localhost', to: 'ann@example.com', subject: id, text };
    const { outcome } = await mailer.send({ id, ...plain });
    if (outcome === 'sent') process.stdout.write(id + '\\n');
  }`;

/**
 * The ids that a process had acknowledged when it was killed: at once when something happened in the folder for the
 * so-manieth time, which is in the middle of something.
 */
async function killedAtEvent(count: number, round: number): Promise<string[]> {
  const options = ['--import', 'tsx', '--input-type=module', '--eval', WRITER];
  const child = spawn(process.execPath, [...options, folder, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const watcher = watch(folder);
  let events = 0;
  watcher.on('change', () => {
    events += 1;
    if (events >= count) child.kill('SIGKILL');
  });
  await once(child, 'close');
  watcher.close();
  return printed.split('\n').slice(0, -1);
}

describe('an outbox whose process is killed at any moment', () => {
  it('has every mail that was acknowledged, and no other than whole', async () => {
    const kept: string[] = [];
    for (const [round, count] of [1, 2, 8, 9, 10, 11].entries()) {
      kept.push(...(await killedAtEvent(count, round)));
    }
    const names = readdirSync(folder).filter((name) => name.endsWith('.eml'));
    expect(names).toEqual(expect.arrayContaining(kept.map((id) => `${id}.eml`)));
    expect(kept.length).toBeGreaterThan(0);
    const cut = names.filter(
      (name) => !readFileSync(join(folder, name), 'utf8').endsWith('\r\nEnd of it.\r\n'),
    );
    expect(cut).toEqual([]);
    const mail = { from: 'svc@localhost', to: 'ann@example.com', subject: 's', text: 't' };
    await new OutboxMailer({ folder, clock: { now: () => 0 } }).send({ id: 'last', ...mail });
    expect(readdirSync(folder).filter((name) => !name.endsWith('.eml'))).toEqual([]);
  });
});
