import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { installPackage } from './installed.ts';
import { Machine } from './machine.ts';

const installed = await installPackage();
let machine: Machine;

beforeEach(() => {
  machine = new Machine(installed);
});
afterEach(() => machine.remove());

/** TypeScript without types of its own, so that it's JavaScript too. */
const PROGRAM = `
import { NotFoundError, Permanent, Svc } from 'svc-agents/client';
import { FakeSvc } from 'svc-agents/client/testing';

const svc = new Svc();
await svc.kv.set({ key: 'seen', value: { n: 1 } });
const entry = await svc.kv.get({ key: 'seen' });
const none = await svc.kv.get({ key: 'none' });
const refused = await svc.inbox
  .claim({ event_id: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3' })
  .catch((error) => (error instanceof NotFoundError ? error.code : String(error)));
const finished = [];
await svc.work(
  { source: 'shop' },
  async (event, ctx) => {
    if (event.type === 'nonsense') throw new Permanent('unknown');
    return ctx.once('step', () => ({ handled: event.type }));
  },
  { max: 1 },
);
for await (const event of svc.inbox.list({ status: 'done' })) finished.push(event.type);
const fake = new FakeSvc();
const id = fake.deliver('shop', 'order.paid', { order: 7 });
await fake.run((event) => event.type);
const played = fake.event(id).result;
console.log(JSON.stringify({ value: entry?.value, none, refused, finished, played }));
`;

function typeErrors(file: string): string {
  const tsc = resolve('node_modules', 'typescript', 'bin', 'tsc');
  const flags = [
    '--strict',
    '--noEmit',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--types',
    '',
  ];
  const { stdout } = spawnSync(process.execPath, [tsc, ...flags, file], {
    cwd: installed?.folder,
    encoding: 'utf8',
  });
  return stdout;
}

describe.runIf(installed)('the client in the package', () => {
  it('has types, and works for a program that installed it', async () => {
    const typed = join(installed?.folder ?? '', 'program.mts');
    writeFileSync(typed, PROGRAM.replace('finished = []', 'finished: string[] = []'));
    expect(typeErrors(typed)).toBe('');
    writeFileSync(typed, PROGRAM.replace("key: 'seen',", 'kye: 7,'));
    expect(typeErrors(typed)).toContain('kye');

    await machine.svc('up', '--port', '0');
    await machine.svc('source', 'add', 'shop');
    await machine.svc('trigger', 'webhook', '--source', 'shop');
    const program = join(installed?.folder ?? '', 'program.mjs');
    writeFileSync(program, PROGRAM);
    const { code, out, err } = await machine.startProgram(process.execPath, [program]).ended;
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toEqual({
      value: { n: 1 },
      none: null,
      refused: 'NOT_FOUND',
      finished: ['webhook.received'],
      played: 'order.paid',
    });
  });
});
