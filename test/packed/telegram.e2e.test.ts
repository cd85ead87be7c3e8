import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeTelegram } from '../helpers/fake-telegram.ts';
import { visit } from '../helpers/page-visitor.ts';
import type { FakePerson } from '../helpers/telegram-person.ts';
import { installPackage, type Installed } from './installed.ts';
import { Machine, type Process } from './machine.ts';

const SOON = { timeout: 30_000 };

let installed: Installed | null;
let telegram: FakeTelegram;
let machine: Machine;
let ana: FakePerson;

beforeAll(async () => {
  installed = await installPackage();
});
beforeEach(async ({ skip }) => {
  if (!installed) return skip();
  telegram = await FakeTelegram.start();
  ana = telegram.person(4711, 'Ana');
  machine = new Machine(installed, {
    SVC_TELEGRAM_TOKEN: telegram.token,
    SVC_TELEGRAM_API_ROOT: telegram.url,
  });
});
afterEach(async () => {
  await machine.remove();
  await telegram.stop();
});

interface Letter {
  readonly id: string;
  readonly subject: string;
}

/** Presses a button behind the link of the newest letter about this. */
async function ownerPresses(button: string, about: string): Promise<void> {
  const find = async (): Promise<Letter | undefined> => {
    const { items } = await machine.json<{ items: Letter[] }>('outbox', 'list');
    return items.find(({ subject }) => subject.includes(about));
  };
  await expect.poll(find, SOON).toBeDefined();
  const { text } = await machine.json<{ text: string }>('outbox', 'show', (await find())?.id ?? '');
  await visit(/^https?:\/\/\S+$/m.exec(text)?.[0] ?? '', { button });
}

async function statusOf(channel: string): Promise<string | undefined> {
  const { items } = await machine.json<{ items: { id: string; status: string }[] }>(
    'channel',
    'list',
  );
  return items.find(({ id }) => id === channel)?.status;
}

interface Added {
  readonly channel: { readonly id: string };
  readonly start_url: string;
}

/** From the link that `svc channel add` prints to the owner's approval. */
async function letIn(person: FakePerson): Promise<string> {
  const added = await machine.json<Added>('channel', 'add', 'telegram', '--label', 'ana');
  const channel = added.channel.id;
  person.says(`/start ${new URL(added.start_url).searchParams.get('start') ?? ''}`);
  await expect.poll(() => statusOf(channel), SOON).toBe('verified');
  await ownerPresses('Approve', 'channel');
  expect(await statusOf(channel)).toBe('active');
  return channel;
}

/** `svc ask …`, which goes on until somebody decides. */
function ask(...args: readonly string[]): Process {
  return machine.start(['ask', ...args, '--wait-seconds', '60', '--json']);
}

async function nextMessage(person: FakePerson, text: string) {
  const find = () => person.received.find(({ html }) => html.includes(text));
  await expect.poll(find, SOON).toBeDefined();
  const found = find();
  if (!found) throw new Error('It has gone again.');
  return found;
}

/** What is known of the newest message: nobody can reply faster than it is written down. */
async function lastNotice(): Promise<string | undefined> {
  const { items } = await machine.json<{ items: { notified: { status: string }[] }[] }>(
    'request',
    'list',
  );
  return items[0]?.notified[0]?.status;
}

describe('a Telegram bot of the installed package', () => {
  it('lets a person in by /start and the owner, who then decides by a button and answers by a reply', async () => {
    await machine.svc('up', '--port', '0');
    const channel = await letIn(ana);

    const approval = ask('approval', 'deploy', 'Deploy v2', '--approvers', channel);
    ana.taps(await nextMessage(ana, 'Deploy v2'), 'Approve');
    expect(await approval.ended).toMatchObject({
      code: 0,
      out: expect.stringContaining('"approved"'),
    });

    const question = ask('human', 'Which region?', '--approvers', channel);
    const message = await nextMessage(ana, 'Which region?');
    await expect.poll(lastNotice, SOON).toBe('sent');
    ana.says('eu-west', message);
    expect(await question.ended).toMatchObject({
      code: 0,
      out: expect.stringContaining('eu-west'),
    });
  });

  it('refuses a stranger, who has neither a link nor a say', async () => {
    await machine.svc('up', '--port', '0');
    const channel = await letIn(ana);
    const eve = telegram.person(666, 'Eve');
    eve.says('/start 0123456789012345678901234567890123456789');
    await expect.poll(() => eve.received.length, SOON).toBeGreaterThan(0);

    const approval = ask('approval', 'deploy', 'Deploy v3', '--approvers', channel);
    const message = await nextMessage(ana, 'Deploy v3');
    eve.taps(message, 'Approve');
    await expect.poll(() => eve.toasts.length, SOON).toBe(1);
    ana.taps(message, 'Deny');
    expect(await approval.ended).toMatchObject({
      code: 5,
      out: expect.stringContaining('"denied"'),
    });
  });
});
