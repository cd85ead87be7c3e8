import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { documentedBots } from '../clients/documented-bots.ts';
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

/** The functions of the reader's own that the bots of the pages import. */
const OWN = `
interface Pull {
  readonly number: number;
  readonly sha: string;
}
export const review = async ({ sha }: Pull): Promise<string> => sha;
export const merge = async ({ sha }: Pull): Promise<{ readonly merged: string }> => ({ merged: sha });
`;

/** Acts without a check on what strangers sent, on what nobody approved, and on values that nobody bound. */
const WRONG_BOT = `
import { NotApproved, Svc } from 'svc-agents/client';
interface Order { order: number }
await new Svc().work<Order>({}, ({ payload }) => payload.order);
await new Svc().work({}, async ({ payload }, ctx) => {
  ctx.spend(new NotApproved({} as never).answer);
  return payload.order;
});
`;

function typeErrors(file: string): string {
  const tsc = resolve('node_modules', 'typescript', 'bin', 'tsc');
  const flags = [
    '--strict',
    '--exactOptionalPropertyTypes',
    '--noUncheckedIndexedAccess',
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
  it('lets each bot of the pages compile under the strictest settings, and none that casts', () => {
    const folder = join(installed?.folder ?? '', 'bots');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'github.ts'), OWN);
    const bots = documentedBots('ts');
    expect(bots.length).toBeGreaterThan(0);
    for (const [index, { page, text }] of bots.entries()) {
      const path = join(folder, `bot-${index}.ts`);
      writeFileSync(path, text);
      expect({ page, told: typeErrors(path) }).toEqual({ page, told: '' });
    }
    const wrong = join(folder, 'wrong.ts');
    writeFileSync(wrong, WRONG_BOT);
    const lines = typeErrors(wrong).match(/wrong\.ts\(\d+/g);
    expect(new Set(lines)).toEqual(new Set(['wrong.ts(4', 'wrong.ts(6', 'wrong.ts(7']));
  });

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
