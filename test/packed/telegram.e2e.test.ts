import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeTelegram } from '../helpers/fake-telegram.ts';
import { linkToken } from '../helpers/outbox.ts';
import { visit } from '../helpers/page-visitor.ts';
import type { FakeMessage, FakePerson } from '../helpers/telegram-person.ts';
import { HostedGateway } from './hosted-gateway.ts';
import { installPackage } from './installed.ts';
import { Machine, type Process } from './machine.ts';
import { TlsFront } from './tls-front.ts';

const SOON = { timeout: 60_000 };

const installed = await installPackage();
let telegram: FakeTelegram;
let ana: FakePerson;
/** Where agents work. */
let machine: Machine;

beforeEach(async () => {
  telegram = await FakeTelegram.start();
  ana = telegram.person(4711, 'Ana');
});
afterEach(async () => {
  await machine.remove();
  await telegram.stop();
});

function settings(): Record<string, string> {
  return { SVC_TELEGRAM_TOKEN: telegram.token, SVC_TELEGRAM_API_ROOT: telegram.url };
}

async function statusOf(channel: string): Promise<string | undefined> {
  type Channels = { readonly items: { readonly id: string; readonly status: string }[] };
  const { items } = await machine.json<Channels>('channel', 'list');
  return items.find(({ id }) => id === channel)?.status;
}

interface Added {
  readonly channel: { readonly id: string };
  readonly start_url: string;
}

/** From the link that `svc channel add` prints to the owner's approval. */
async function letIn(person: FakePerson, ownerApproves: () => Promise<void>): Promise<string> {
  const added = await machine.json<Added>('channel', 'add', 'telegram', '--label', 'ana');
  const channel = added.channel.id;
  person.says(`/start ${new URL(added.start_url).searchParams.get('start') ?? ''}`);
  await expect.poll(() => statusOf(channel), SOON).toBe('verified');
  await ownerApproves();
  expect(await statusOf(channel)).toBe('active');
  return channel;
}

/** `svc ask …`, which goes on until somebody decides. */
function ask(...args: readonly string[]): Process {
  return machine.start(['ask', ...args, '--wait-seconds', '90', '--json']);
}

async function nextMessage(person: FakePerson, text: string): Promise<FakeMessage> {
  const find = (): FakeMessage | undefined =>
    person.received.find(({ html }) => html.includes(text));
  await expect.poll(find, SOON).toBeDefined();
  const found = find();
  if (!found) throw new Error('It has gone again.');
  return found;
}

/** What is known of the newest message: nobody replies faster than it is written down. */
async function lastNotice(): Promise<string | undefined> {
  type Requests = { readonly items: { readonly notified: { readonly status: string }[] }[] };
  const { items } = await machine.json<Requests>('request', 'list');
  return items[0]?.notified[0]?.status;
}

/** A button decides, a reply answers, and a stranger does neither. */
async function decideAndAnswer(channel: string): Promise<void> {
  const approval = ask('approval', 'deploy', 'Deploy v2', '--approvers', channel);
  const asked = await nextMessage(ana, 'Deploy v2');
  const eve = telegram.person(666, 'Eve');
  eve.says('/start 0123456789012345678901234567890123456789');
  await expect.poll(() => eve.received.length, SOON).toBe(1);
  eve.taps(asked, 'Deny');
  await expect.poll(() => eve.toasts.length, SOON).toBe(1);
  ana.taps(asked, 'Approve');
  const approved = await approval.ended;
  expect([approved.code, approved.err]).toEqual([0, '']);
  expect(JSON.parse(approved.out)).toMatchObject({ status: 'approved' });

  const question = ask('human', 'Which region?', '--approvers', channel);
  const message = await nextMessage(ana, 'Which region?');
  await expect.poll(lastNotice, SOON).toBe('sent');
  eve.says('nowhere', message);
  ana.says('eu-west', message);
  const answered = await question.ended;
  expect(answered.code).toBe(0);
  expect(JSON.parse(answered.out)).toMatchObject({ status: 'answered', decision: 'eu-west' });
}

describe.runIf(installed)('a Telegram bot of the installed package', () => {
  it('on one machine fetches updates: /start, the owner, buttons, a reply, a stranger', async () => {
    machine = new Machine(installed, settings());
    await machine.svc('up', '--port', '0');
    const channel = await letIn(ana, async () => {
      const { url } = await machine.json<{ url: string }>('outbox', 'open', '--print');
      await visit(url, { button: 'Approve' });
    });
    await decideAndAnswer(channel);
    expect(await machine.json('status')).toMatchObject({
      people: { telegram: true, telegram_trouble: null, active_telegram: 1 },
    });
  });

  it('that its gateway gets updates for by webhook does the same', async () => {
    const front = await TlsFront.start();
    const before = getGlobalDispatcher();
    // Telegram and people trust the certificate.
    setGlobalDispatcher(new Agent({ connect: { ca: front.ca } }));
    machine = new Machine(installed, { NODE_EXTRA_CA_CERTS: front.caFile });
    const host = new Machine(installed, { ...settings(), SVC_TELEGRAM_MODE: 'webhook' });
    try {
      const gateway = await HostedGateway.start(host, { SVC_PUBLIC_URL: front.url });
      front.target = gateway.listen;
      await expect.poll(() => telegram.webhook?.url, SOON).toMatch(/^https:/);
      await gateway.signIn(machine, '--email', 'owner@example.com', '--create', 'Shop');
      const channel = await letIn(ana, async () => {
        const token = await linkToken(gateway.dataFolder);
        await visit(`${front.url}/a/${token}`, { button: 'Approve' });
      });
      await decideAndAnswer(channel);
      expect(telegram.count('getUpdates')).toBe(0);
      expect(telegram.deliveries.map(({ status }) => status)).not.toContain(0);

      const metrics = await (await fetch(`${gateway.listen}/metrics`)).text();
      expect(metrics).toContain('svc_telegram_connected 1\n');
      const ready: unknown = await (await fetch(`${front.url}/readyz`)).json();
      expect(ready).toMatchObject({ checks: { telegram: 'connected' } });
    } finally {
      await host.remove();
      await front.stop();
      setGlobalDispatcher(before);
    }
  });

  it('whose token Telegram refuses is named by status and doctor', async () => {
    machine = new Machine(installed, { ...settings(), SVC_TELEGRAM_TOKEN: '1:a-wrong-token' });
    await machine.svc('up', '--port', '0');
    const trouble = 'Telegram, getMe: 401 Unauthorized';
    await expect
      .poll(() => machine.json('status'), SOON)
      .toMatchObject({ people: { telegram_trouble: trouble } });
    const { code, out } = await machine.run(['doctor', '--json']);
    expect(code).toBe(1);
    expect((JSON.parse(out) as { items: unknown }).items).toContainEqual(
      expect.objectContaining({ check: 'telegram', status: 'error', detail: trouble }),
    );
  });
});
