import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { post } from '../gateway/auth/sign-in/person.ts';
import { TestGateway } from '../helpers/gateway.ts';
import { WebVisitor } from '../gateway/web/inbox/web-visitor.ts';
import { TextSink } from './fake-output.ts';

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await TestGateway.start({ signIn: true });
});
afterEach(() => gateway.stop());

async function svc(line: string, isTTY = true, data = gateway.folder) {
  const [stdout, stderr] = [new TextSink(isTTY, 100), new TextSink()];
  const env = { SVC_HOME: join(gateway.folder, 'home'), SVC_DATA: data, NO_COLOR: '1' };
  const { signal } = new AbortController();
  const code = await run(line.split(' '), { env, stdout, stderr, signal });
  return { code, out: stdout.text, err: stderr.text };
}

const signIn = (email: string) => post(gateway, '/v1/auth/start', { email });

describe('the mail of a gateway without a mail server', () => {
  it('is shown on its host, with the newest link to sign in', async () => {
    await signIn('ana@example.com');
    await signIn('ben@example.com');
    const { code, out, err } = await svc('gateway outbox');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^To +ben@example\.com$/m);
    expect(out).toMatch(/http:\/\/\S+\/s\/[0-9a-zA-Z]{32,40}/);
  });

  it('is listed, and each by its id', async () => {
    await signIn('ana@example.com');
    await signIn('ben@example.com');
    const listed = await svc('gateway outbox --list', false);
    const { items } = JSON.parse(listed.out) as { items: { id: string; to: string }[] };
    expect(items.map(({ to }) => to)).toEqual(['ben@example.com', 'ana@example.com']);
    const shown = await svc(`gateway outbox ${items[1]?.id}`, false);
    expect(JSON.parse(shown.out)).toMatchObject({ to: 'ana@example.com' });
    const unknown = await svc('gateway outbox ntc_none', false);
    expect([unknown.code, unknown.err]).toEqual([
      3,
      expect.stringContaining('svc gateway outbox --list'),
    ]);
  });

  it('says where it looked, and how to look elsewhere', async () => {
    const { code, err } = await svc('gateway outbox', true, '/nowhere');
    expect([code, err]).toEqual([3, expect.stringContaining('No mail is in /nowhere/outbox.')]);
    expect(err).toContain('svc gateway outbox --data FOLDER');
    expect((await svc('gateway outbox --list', true, '/nowhere')).code).toBe(3);
  });

  it('is named by the page that says to look for the email', async () => {
    const visitor = new WebVisitor(gateway);
    await visitor.get('/ui/sign-in');
    const { html } = await visitor.post('/ui/sign-in', { fields: { email: 'ana@example.com' } });
    expect(html).toContain('>svc gateway outbox</code>');
    expect(html).not.toContain('svc outbox');
  });
});
