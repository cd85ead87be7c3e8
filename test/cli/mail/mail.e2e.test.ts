import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { visit } from '../../helpers/page-visitor.ts';
import { Harness } from '../../surface/harness.ts';
import { fieldsOf, parsedLine } from '../tools/fakes.ts';

// Mail in and out on one machine, without a mail server: the executable and its daemon, step after step.

let daemon: Harness;
beforeAll(async () => {
  daemon = await Harness.local('mail-test');
});
afterAll(() => daemon.stop());

type Fields = Record<string, unknown>;

/** The answer of a command that is to succeed. */
async function answer(...args: string[]): Promise<Fields> {
  const { code, out, err } = await daemon.svc(...args);
  if (code !== 0) throw new Error(`svc ${args.join(' ')}: ${err}`);
  return parsedLine(out);
}

function itemsOf(list: Fields): Fields[] {
  return Array.isArray(list['items']) ? list['items'].map(fieldsOf) : [];
}

function messagesOf(batch: Fields): Fields[] {
  return Array.isArray(batch['messages']) ? batch['messages'].map(fieldsOf) : [];
}

/** Runs a command with a text on its standard input. */
async function withInput(text: string, ...args: string[]): Promise<Fields> {
  const child = spawn(process.execPath, [daemon.bundle, ...args], { env: daemon.env });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  child.stdin.end(text);
  await once(child, 'close');
  return parsedLine(out);
}

/** The owner presses a button on the page of the message about a mail, once that message is written. */
async function decide(button: string, subject: string): Promise<void> {
  const newest = async (): Promise<string> =>
    String(itemsOf(await answer('outbox', 'list'))[0]?.['subject']);
  await expect.poll(newest).toContain(`Send "${subject}"`);
  const { url } = await answer('outbox', 'open', '--print');
  await visit(String(url), { button });
}

describe('mail at the terminal', () => {
  let event: Fields;
  let batch: Fields;

  it('comes in as an event, once there is a source for it', async () => {
    const without = await daemon.svc('trigger', 'email');
    expect(without).toMatchObject({ code: 2, err: expect.stringContaining('--type email') });
    const source = await answer('source', 'add', 'mail', '--type', 'email');
    const sent = await answer('trigger', 'email', '--set', 'subject=Wo bleibt das? — Zoë');
    expect(sent).toMatchObject({ status: 'accepted', kind: 'email', source: 'mail' });
    event = fieldsOf((await answer('inbox', 'wait'))['event']);
    expect(event).toMatchObject({
      id: sent['event_id'],
      type: 'email.received',
      channel: 'email',
      verified: false,
      payload: {
        subject: 'Wo bleibt das? — Zoë',
        from: { address: 'ines.ferreira@example.com', name: 'Ines Ferreira' },
        to: [{ address: source['address'] }],
        text: expect.stringMatching(/^Hello,\n\norder 20418/),
      },
      attachments: [{ name: 'order-20418.csv', content_type: 'text/csv' }],
      attachments_blocked: [],
    });
  });

  it('is claimed with a page for its HTML and files to fetch', async () => {
    const id = String(event['id']);
    const { html_url: url } = await answer('inbox', 'claim', id);
    expect(await (await fetch(String(url))).text()).toContain('<p>Hello,</p>');
    const { out } = await daemon.svc('file', 'get', `${id}/order-20418.csv`, '-');
    expect(out).toMatch(/^item,quantity,price\r?\nTide table 2026,2,24\.50\r?\n/);
  });

  it('goes out once a person has let it, with files of other mails', async () => {
    const line = ['email', 'send', '--to', 'ana@example.com', '--to', 'bo@example.com'];
    const files = ['--attachments', `${String(event['id'])}/order-20418.csv`];
    const rest = ['--subject', 'Your order', ...files, '--wait-seconds', '0'];
    batch = await withInput('Hello,\nit is on its way.\n', ...line, '--text', '-', ...rest);
    expect(batch).toMatchObject({ status: 'pending' });
    const id = String(batch['batch_id']);
    expect((await daemon.svc('email', 'status', id)).code).toBe(6);
    await decide('Approve', 'Your order');
    const read = async (): Promise<Fields> =>
      parsedLine((await daemon.svc('email', 'status', id)).out);
    await expect.poll(read).toMatchObject({ status: 'sent' });
    const messages = itemsOf(await answer('outbox', 'list'));
    const mails = messages.filter(({ subject }) => subject === 'Your order');
    expect(mails.map(({ to }) => String(to)).toSorted()).toEqual([
      'ana@example.com',
      'bo@example.com',
    ]);
    expect(await answer('outbox', 'show', String(mails[0]?.['id']))).toMatchObject({
      text: 'Hello,\nit is on its way.',
      attachments: [{ name: 'order-20418.csv', content_type: 'text/csv' }],
    });
    expect(await answer('outbox', 'open', '--print')).toMatchObject({
      id: expect.stringMatching(/^ntc_/),
    });
  });

  it('is answered: the event names the message', async () => {
    const [first] = messagesOf(batch);
    const id = String(first?.['message_id']);
    const { event_id: reply } = await answer(
      'trigger',
      'email.reply',
      '--set',
      `in_reply_to=${id}`,
    );
    const events = itemsOf(await answer('inbox', 'list', '--source', 'mail'));
    expect(events.find((one) => one['id'] === reply)).toMatchObject({
      type: 'email.received',
      reply_to: id,
      payload: { text_stripped: 'Yes, it does. Thank you!\n\nInes' },
    });
  });

  it('bounces: the message says so, and so does an event', async () => {
    const [, second] = messagesOf(batch);
    const id = String(second?.['message_id']);
    const sent = await answer('trigger', 'email.bounce', '--set', `message_id=${id}`);
    expect(sent).toMatchObject({ status: 'accepted', event_id: null });
    const [bounced] = itemsOf(await answer('inbox', 'list', '--type', 'email.bounced'));
    expect(bounced?.['payload']).toMatchObject({
      message_id: id,
      to: 'bo@example.com',
      bounce_type: 'soft',
      diagnostic: '452 4.2.2 Mailbox full',
    });
    const now = messagesOf(await answer('email', 'status', String(batch['batch_id'])));
    expect(now.map(({ status }) => status)).toEqual(['sent', 'bounced']);
  });

  it('is cancelled when a person denies it', async () => {
    const line = ['email', 'send', '--to', 'cy@example.com', '--subject', 'No', '--text', 'No.'];
    const { code, out } = await daemon.svc(...line, '--wait-seconds', '0');
    expect(code).toBe(6);
    await decide('Deny', 'No');
    const ended = await daemon.svc('email', 'status', String(parsedLine(out)['batch_id']));
    expect([ended.code, parsedLine(ended.out)['status']]).toEqual([5, 'cancelled']);
  });
});
