import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SIGN_UP_OPEN } from '../../../gateway/auth/sign-up.ts';
import { readMailConfig } from '../../../gateway/mail/read-mail-config.ts';
import { Connection } from '../../../shared/store/engine/connection.ts';
import { FakeTelegram } from '../../helpers/fake-telegram.ts';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { linkToken } from '../../helpers/outbox.ts';
import type { FakeMessage, FakePerson } from '../../helpers/telegram-person.ts';
import { Person } from '../auth/sign-in/person.ts';

const SOON = { interval: 5, timeout: 60_000 } as const;
const PROJECTS = 5;

interface Founded {
  readonly id: string;
  readonly key: string;
}

let telegram: FakeTelegram;
let folder: ReturnType<typeof temporaryFolder>;
let test: TestGateway;
let founded: Founded[];

function start(): Promise<TestGateway> {
  const { token, url: apiRoot } = telegram;
  return TestGateway.start({
    folder: folder.path,
    signIn: true,
    signUp: SIGN_UP_OPEN,
    messaging: { mail: readMailConfig({}), telegram: { token, apiRoot, mode: 'poll' } },
  });
}

beforeEach(async () => {
  telegram = await FakeTelegram.start();
  folder = temporaryFolder();
  test = await start();
  founded = [];
  for (let count = 0; count < PROJECTS; count += 1) {
    const founder = new Person(test, `founder${count}@example.com`);
    const { api_key: key, project } = await founder.project({ slug: `shop-${count}` });
    founded.push({ id: project.id, key });
  }
});
afterEach(async () => {
  await test.stop();
  await telegram.stop();
  folder.remove();
});

function inControl<T>(work: (control: Connection) => T): T {
  const connection = new Connection(join(folder.path, 'control.db'));
  try {
    return work(connection);
  } finally {
    connection.close();
  }
}

let resting: string[] = [];

/** A second run, which nobody has asked for anything yet. */
async function restart(change = ''): Promise<void> {
  await test.stop();
  const later = Date.now() + 3_600_000;
  resting = inControl((control) => {
    control.exec(change);
    const idle =
      'SELECT project_id AS id FROM project_rest WHERE next_due_at IS NULL OR next_due_at > ?';
    return control.all(idle, [later]).map(({ id }) => String(id));
  });
  test = await start();
}

/** Which projects were opened without being due, by their numbers. */
async function opened(): Promise<number[]> {
  const found = await Promise.all(
    founded.map(async ({ id }) => (await test.gateway.projects.find(id))?.isOpen ?? false),
  );
  return founded.flatMap(({ id }, nth) => (found[nth] && resting.includes(id) ? [nth] : []));
}

/** A person's chat as an active channel of a project. */
async function connect(person: FakePerson, { key }: Founded): Promise<string> {
  let added = { status: 503, body: { channel: { id: '' }, start_url: '' } };
  const add = async () => {
    added = await test.call('POST', '/v1/channels', { key, body: { kind: 'telegram' } });
    return added.status;
  };
  await expect.poll(add, SOON).toBe(201);
  const token = new URL(added.body.start_url).searchParams.get('start') ?? '';
  person.says(`/start ${token}`);
  await expect.poll(() => person.received.at(-1)?.shown.text, SOON).toContain('Connected');
  await test.gateway.approvals.decide(await linkToken(test.folder), { verb: 'approve' });
  return added.body.channel.id;
}

async function asked(person: FakePerson, { key }: Founded, approver: string): Promise<FakeMessage> {
  const before = person.received.length;
  const question = { question: 'Which region?', approvers: [approver], wait_seconds: 0 };
  await test.call('POST', '/v1/requests', { key, body: question });
  await expect.poll(() => person.received.length, SOON).toBe(before + 1);
  const message = person.received.at(-1);
  if (!message) throw new Error('No message came.');
  return message;
}

async function answerTo(person: FakePerson, cause: () => void): Promise<string> {
  const before = person.received.length;
  cause();
  await expect.poll(() => person.received.length, SOON).toBe(before + 1);
  return person.received.at(-1)?.shown.text ?? '';
}

describe('a private message from a stranger', () => {
  it('opens no project, however it is written', async () => {
    await restart();
    expect(resting.length).toBeGreaterThan(0);
    const eve = telegram.person(666, 'Eve');
    const help = await answerTo(eve, () => eve.says('Hello'));
    expect(help).toContain('I bring you requests');
    const said = eve.received.at(-1);
    for (const text of ['/start', '/stop', `/start ${'0'.repeat(16)}${'a'.repeat(24)}`, 'Yes']) {
      const mark = telegram.calls.length;
      eve.says(text, said);
      await expect.poll(() => telegram.calls.length, SOON).toBeGreaterThan(mark);
    }
    eve.sends(said as FakeMessage, `a:${'0'.repeat(16)}${'a'.repeat(24)}`);
    await expect.poll(() => eve.toasts.length, SOON).toBe(1);
    expect(await opened()).toEqual([]);
  });
});

describe('a reply of somebody who is asked', () => {
  let ana: FakePerson;
  let shop: Founded;
  let channel: string;
  beforeEach(async () => {
    ana = telegram.person(4711, 'Ana');
    shop = founded[3] as Founded;
    channel = await connect(ana, shop);
  });

  /** Whether an answer was taken. Until all projects are noted, people are asked to repeat it. */
  const answered = (message: FakeMessage) => async (): Promise<boolean> => {
    ana.says('Europe', message);
    return ana.received.some(({ shown }) => shown.text.includes('Answered'));
  };

  it('opens their own project alone', async () => {
    const message = await asked(ana, shop, channel);
    await restart();
    expect(await answerTo(ana, () => ana.says('Europe', message))).toContain('Answered');
    expect((await opened()).filter((nth) => nth !== 3)).toEqual([]);
  });

  it('is found in a project of an earlier release, which nobody has opened since', async () => {
    const message = await asked(ana, shop, channel);
    await restart('DELETE FROM telegram_chat; UPDATE project SET has_chats_noted = 0');
    await expect.poll(answered(message), { ...SOON, interval: 50 }).toBe(true);
    const left = 'SELECT id FROM project WHERE has_chats_noted = 0';
    await expect.poll(() => inControl((control) => control.all(left)), SOON).toEqual([]);
    await restart();
    const eve = telegram.person(666, 'Eve');
    await answerTo(eve, () => eve.says('Yes', message));
    expect(await opened()).toEqual([]);
  });

  it('is found in a project that was imported while the gateway ran', async () => {
    const message = await asked(ana, shop, channel);
    const eve = telegram.person(666, 'Eve');
    await answerTo(eve, () => eve.says('Yes', message));
    // As an import leaves it.
    inControl((control) => {
      control.exec('DELETE FROM telegram_chat; UPDATE project SET has_chats_noted = 0');
    });
    await expect.poll(answered(message), { ...SOON, interval: 50 }).toBe(true);
  });

  it('opens nothing once their channel is removed', async () => {
    const message = await asked(ana, shop, channel);
    const hashes = () => inControl((control) => control.all('SELECT chat_hash FROM telegram_chat'));
    expect(hashes()).toHaveLength(1);
    // A chat that was just noted stays for a minute, as another gateway may be about to confirm it.
    inControl((control) => control.exec('UPDATE telegram_chat SET added_at = 0'));
    await test.call('DELETE', `/v1/channels/${channel}`, { key: shop.key });
    await expect.poll(hashes, SOON).toEqual([]);
    await restart();
    await answerTo(ana, () => ana.says('Europe', message));
    expect(await opened()).toEqual([]);
  });
});
