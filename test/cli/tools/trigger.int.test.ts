import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { webhookKinds } from '../../../shared/senders/samples.ts';
import { run } from '../../../cli/commands/trigger.ts';
import { eventType } from '../../../shared/rules/inbox/event-type.ts';
import { providerId } from '../../../gateway/http/delivery-key.ts';
import { signWebhook, verifySignature } from '../../../shared/rules/payload/signature.ts';
import type { Verification } from '../../../shared/senders/registry.ts';
import { headerRecord } from '../../../gateway/http/stored-headers.ts';
import { fakeContext, FakeClient, fieldsOf, parsedLine, receiver } from './fakes.ts';

const SECRET = 'a-shared-secret';
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function source(name: string, verification: Verification) {
  return { name, verification, type: 'webhook', signature_header: null, url: null };
}

/** A daemon with these sources that signs, and the ingress behind it. */
async function service(sources: ReturnType<typeof source>[], status = 'accepted') {
  const ingress = await receiver(({ headers }) =>
    status === 'refused'
      ? { status: 401, body: '{"error":{"code":"INGRESS_SIGNATURE_INVALID","message":"No."}}' }
      : {
          status: 200,
          body: JSON.stringify({ status, event_id: `evt_${String(headers['x-n'])}` }),
        },
  );
  closers.push(ingress.close);
  const signers = sources.map(({ name, verification }) => [
    `POST /v1/sources/${name}/sign`,
    ({ body }: { readonly body?: unknown }) => {
      const headers = signWebhook({
        verification,
        secret: SECRET,
        id: 'msg_1',
        body: Buffer.from(String(fieldsOf(body)['body_base64']), 'base64'),
        nowMs: Date.now(),
      });
      return { headers: { ...headers, 'x-n': '1' }, url: `${ingress.url}/w/token` };
    },
  ]);
  const client = new FakeClient({
    'GET /v1/sources': () => ({ items: sources, next_cursor: null }),
    ...Object.fromEntries(signers),
  });
  return { client, ingress };
}

describe('svc trigger', () => {
  it('sends a signed sample to the only source that fits', async () => {
    const { client, ingress } = await service([source('gh', 'github'), source('pay', 'stripe')]);
    const { context, printed } = fakeContext({
      client,
      args: { kind: 'github.pull_request.opened' },
      options: { set: ['pull_request.title=Hello', 'number=7', 'pull_request.labels.0.name="x"'] },
    });
    expect(await run(context)).toBe(0);
    expect(printed.lines.map(parsedLine)).toEqual([
      { status: 'accepted', event_id: 'evt_1', kind: 'github.pull_request.opened', source: 'gh' },
    ]);
    const [received] = ingress.received;
    expect(received?.headers).toMatchObject({
      'x-github-event': 'pull_request',
      'content-type': 'application/json',
    });
    const body = received?.body ?? Buffer.alloc(0);
    const headers = headerRecord(received?.rawHeaders ?? []);
    const signed = { verification: 'github', secrets: [SECRET], headers, body } as const;
    expect(verifySignature({ ...signed, nowMs: Date.now() })).toBe(true);
    expect(JSON.parse(body.toString('utf8'))).toMatchObject({
      action: 'opened',
      number: 7,
      pull_request: { title: 'Hello', labels: [{ name: 'x' }] },
    });
  });

  it('makes each of several a delivery of its own', async () => {
    const { client, ingress } = await service([source('pay', 'stripe')]);
    const { context, printed } = fakeContext({
      client,
      args: { kind: 'stripe.invoice.paid' },
      options: { count: '3' },
    });
    await run(context);
    const ids = ingress.received.map(({ body }) => parsedLine(body.toString('utf8'))['id']);
    expect(new Set(ids).size).toBe(3);
    expect(printed.lines).toHaveLength(3);
  });

  it('says what to type next on a terminal', async () => {
    const { client } = await service([source('any', 'none')], 'duplicate');
    const { context, printed } = fakeContext({ client, args: { kind: 'webhook' }, json: false });
    await run(context);
    expect(printed.lines).toEqual(['duplicate  evt_1  webhook  any']);
    expect(printed.notes).toEqual(['Next: svc inbox wait --source any']);
  });

  it('tells why a delivery was refused', async () => {
    const { client } = await service([source('gh', 'github')], 'refused');
    const { context } = fakeContext({ client, args: { kind: 'github.push' } });
    await expect(run(context)).rejects.toMatchObject({
      code: 'INGRESS_SIGNATURE_INVALID',
      exit: 1,
    });
  });

  it.each([
    [[], {}, 'svc source add github --verification github --secret @secret.txt'],
    [[source('a', 'github'), source('b', 'github')], {}, '--source a'],
    [[source('a', 'github')], { source: 'c' }, 'Webhook sources: a.'],
  ])('helps to choose among %j', async (sources, options, hint) => {
    const { client } = await service(sources);
    const { context } = fakeContext({ client, args: { kind: 'github.push' }, options });
    const failure: unknown = await run(context).catch((error: unknown) => error);
    expect(failure).toMatchObject({ exit: 2 });
    expect(String(Reflect.get(Object(failure), 'hint'))).toContain(hint);
  });

  it('names the source that was meant', async () => {
    const { client } = await service([source('github', 'github')]);
    const args = { kind: 'github.push' };
    const { context } = fakeContext({ client, args, options: { source: 'githb' } });
    await expect(run(context)).rejects.toThrow('Did you mean "github"?');
  });

  it('knows what was meant', async () => {
    for (const [kind, hint] of [
      ['github.pul_request.opened', 'github.pull_request.opened'],
      ['stripe.customer', 'stripe.customer.created'],
      ['invoice.paid', 'stripe.invoice.paid'],
      ['mail', 'email'],
      ['bounce', 'email.bounce'],
      ['slack.message', 'slack.app_mention'],
      ['slak.message', 'slack.app_mention'],
      ['xyzzy', 'svc trigger --list'],
    ] as const) {
      const failure: unknown = await run(fakeContext({ args: { kind } }).context).catch(
        (error: unknown) => error,
      );
      expect(String(Reflect.get(Object(failure), 'hint'))).toContain(hint);
    }
  });

  it.each(['=1', 'a', '__proto__.x=1', 'a..b=1', 'action.x=1', 'commits.99999=1'])(
    'refuses to set %s',
    async (set) => {
      const { client } = await service([source('gh', 'github')]);
      const args = { kind: 'github.push' };
      const options = { set: set === 'action.x=1' ? ['ref.x=1'] : [set] };
      const { context } = fakeContext({ client, args, options });
      await expect(run(context)).rejects.toMatchObject({ exit: 2 });
    },
  );

  it('lists its kinds and shows a sample without sending it', async () => {
    const list = fakeContext({ options: { list: true } });
    await run(list.context);
    const { items } = fieldsOf(list.printed.answers[0]);
    expect(items).toContainEqual(
      expect.objectContaining({ kind: 'github.ping', type: 'webhook', verification: 'github' }),
    );
    expect(items).toContainEqual(
      expect.objectContaining({ kind: 'email.reply', type: 'email', verification: 'none' }),
    );
    const dry = fakeContext({ args: { kind: 'github.ping' }, options: { 'dry-run': true } });
    await run(dry.context);
    expect(dry.printed.answers[0]).toMatchObject({ kind: 'github.ping', payload: { zen: /./ } });
  });
});

interface Example {
  readonly name: string;
  readonly examples: readonly Record<string, unknown>[];
}

const EXAMPLES: readonly Example[] = JSON.parse(
  readFileSync('node_modules/@octokit/webhooks-examples/api.github.com/index.json', 'utf8'),
);

/** Paths of ours that no real delivery has, or has with another type. */
function strangePaths(ours: unknown, theirs: readonly unknown[], path = ''): string[] {
  if (ours === null) return [];
  if (theirs.every((one) => one === undefined)) return [path];
  if (Array.isArray(ours)) {
    const items = theirs.filter((one) => Array.isArray(one)).flat();
    return items.length === 0 ? [] : ours.flatMap((one) => strangePaths(one, items, `${path}[]`));
  }
  const known = theirs.filter((one) => one !== null && one !== undefined);
  if (typeof ours !== 'object') {
    return known.length === 0 || known.some((one) => typeof one === typeof ours) ? [] : [path];
  }
  if (known.length === 0) return [];
  return Object.entries(ours).flatMap(([name, value]) =>
    strangePaths(
      value,
      known.map((one) => fieldsOf(one)[name]),
      `${path}.${name}`,
    ),
  );
}

/** Senders whose deliveries are told apart by their bodies alone. */
const WITHOUT_ID: ReadonlySet<string> = new Set(['asana', 'dropbox', 'meta', 'zoom']);

describe('samples', () => {
  const github = webhookKinds.filter(({ verification }) => verification === 'github');

  it.each(github.map((kind) => [kind.kind, kind] as const))(
    '%s has fields GitHub sends',
    (_, kind) => {
      const { headers, payload } = kind.build();
      const name = headers['x-github-event'] ?? '';
      const examples = EXAMPLES.find((one) => one.name === name)?.examples ?? [];
      expect(strangePaths(payload, examples)).toEqual([]);
      const type = eventType({ verification: 'github', headers, payload });
      expect(`github.${type}`).toBe(kind.kind);
    },
  );

  it.each(webhookKinds.map((kind) => [kind.kind, kind] as const))(
    '%s is fresh each time',
    (_, kind) => {
      const [one, other] = [kind.build(), kind.build()];
      expect(JSON.stringify(one)).not.toBe(JSON.stringify(other));
      expect(one.headers['content-type']).toMatch(/^application\/(json|x-www-form-urlencoded)/);
    },
  );

  const providers = webhookKinds.filter(({ verification }) => verification !== null);

  it.each(providers.map((kind) => [kind.kind, kind] as const))(
    '%s has the type and an id of its provider',
    (_, kind) => {
      const verification = kind.verification ?? 'none';
      const [one, other] = [kind.build(), kind.build()];
      const type = eventType({ verification, ...one });
      const isTyped = type !== 'webhook.received';
      expect(isTyped ? `${verification}.${type}` : verification).toBe(kind.kind);
      const ids = [one, other].map((sample) => providerId({ verification, ...sample }));
      expect(ids[0] === ids[1]).toBe(WITHOUT_ID.has(verification));
      expect(ids[0] === null).toBe(WITHOUT_ID.has(verification));
    },
  );
});
