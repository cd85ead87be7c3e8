import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { FakeDaemon, json } from './fake-daemon.ts';
import { TextSink } from './fake-output.ts';

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

const HERE = 'http://127.0.0.1:4780/w/token';
const PUBLIC = 'https://svc.example.com/w/token';

/** What a command says about this source on a terminal, each paragraph on one line. */
async function told(line: string, source: Record<string, unknown>): Promise<string> {
  daemon?.close();
  daemon = new FakeDaemon((_, response) => json(response, source));
  await daemon.listen();
  const [stdout, stderr] = [new TextSink(true, 100), new TextSink()];
  const { signal } = new AbortController();
  const env = { ...daemon.env, NO_COLOR: '1' };
  expect(await run(line.split(' '), { env, stdout, stderr, signal })).toBe(0);
  return stdout.text.replaceAll(/\n {5}(?=\S)/g, ' ');
}

describe('svc source add says how to connect the sender:', () => {
  it.each(['stripe', 'standard_webhooks'])(
    '%s, when the secret was given',
    async (verification) => {
      const source = { name: 'shop', type: 'webhook', verification, url: PUBLIC };
      const given = `source add shop --verification ${verification} --secret whsec_a`;
      expect(await told(given, source)).toContain(
        "If it isn't the one you gave svc, store it: svc",
      );
    },
  );

  it.each([
    [
      'github',
      [
        'Set up GitHub:',
        `  2. Payload URL: ${PUBLIC}`,
        '  3. Content type: application/json',
        'To change it here: svc source rotate shop --secret -',
        '  svc trigger github.pull_request.opened --source shop',
      ],
    ],
    [
      'stripe',
      [
        'Set up Stripe:',
        `  2. Endpoint URL: ${PUBLIC}`,
        'whsec_…. Store it: svc source rotate shop --secret - --previous-valid-seconds 0',
        '  svc trigger stripe.invoice.paid --source shop',
      ],
    ],
    [
      'standard_webhooks',
      [
        `add an endpoint with this URL: ${PUBLIC}`,
        'Store it: svc source rotate shop --secret - --previous-valid-seconds 0',
        '  svc trigger webhook --source shop',
      ],
    ],
    ['hmac_sha256', [`POST request to this URL: ${PUBLIC}`, 'in the header x-signature.']],
    ['none', [`POST request to this URL: ${PUBLIC}`, 'Keep the URL secret:']],
  ])('%s', async (verification, lines) => {
    const signature_header = verification === 'hmac_sha256' ? 'x-signature' : null;
    const source = { name: 'shop', type: 'webhook', verification, signature_header, url: PUBLIC };
    const text = await told('source add shop', source);
    for (const line of lines) expect(text).toContain(line);
    expect(text).not.toContain('tunnel');
  });

  it('mail', async () => {
    const source = { name: 'mail', type: 'email', verification: 'none', url: HERE };
    const text = await told('source add mail --type email', { ...source, address: 'a@b.example' });
    expect(text).toContain('Mail to this address becomes an event: a@b.example');
    expect(text).toContain('  svc trigger email\n');
  });

  it('a URL of this machine needs a tunnel or a gateway', async () => {
    const source = { name: 'hub', type: 'webhook', verification: 'github', url: HERE };
    const text = await told('source add hub', source);
    expect(text).toContain('cloudflared tunnel --url http://127.0.0.1:4780\n');
    expect(text).toContain('  svc login --gateway URL\n');
  });
});

describe('svc source add without a secret', () => {
  const source = { name: 'shop', type: 'webhook', url: PUBLIC, signature_header: 'x-signature' };

  it.each([
    ['github', /^[0-9a-f]{40}$/, 'Secret: '],
    ['hmac_sha256', /^[0-9a-f]{40}$/, 'and the secret '],
    ['stripe', /^whsec_[A-Za-z0-9+/]{32}$/, null],
    ['standard_webhooks', /^whsec_[A-Za-z0-9+/]{32}$/, null],
  ])('makes one: %s', async (verification, form, lead) => {
    const line = `source add shop --verification ${verification}`;
    const text = await told(line, { ...source, verification });
    const { secret } = JSON.parse(daemon?.seen[0]?.body ?? '') as { secret: string };
    expect(secret).toMatch(form);
    // A sender that makes its own secret has no use for this one.
    expect(text.includes(`${lead ?? ''}${secret}`)).toBe(lead !== null);
    const printed = await told(`${line} --json`, { ...source, verification });
    const sent = JSON.parse(daemon?.seen[0]?.body ?? '') as { secret: string };
    expect(JSON.parse(printed)).toMatchObject({ name: 'shop', secret: sent.secret });
  });

  it.each(['source add shop', 'source add shop --verification github --secret given'])(
    'makes none: %s',
    async (line) => {
      const text = await told(line, { ...source, verification: 'github' });
      const { secret } = JSON.parse(daemon?.seen[0]?.body ?? '') as { secret?: string };
      expect(secret).toBe(line.includes('given') ? 'given' : undefined);
      expect(text).not.toContain('shown only now');
    },
  );
});

it('svc source add in a pipe says how to connect the sender beside its JSON, without the secret', async () => {
  daemon?.close();
  const source = { name: 'hub', type: 'webhook', verification: 'github', url: PUBLIC };
  daemon = new FakeDaemon((_, response) => json(response, source));
  await daemon.listen();
  const { signal } = new AbortController();
  const { env } = daemon;
  const added = async (...flags: string[]) => {
    const [stdout, stderr] = [new TextSink(), new TextSink()];
    const line = ['source', 'add', 'hub', '--verification', 'github', ...flags];
    expect(await run(line, { env, stdout, stderr, signal })).toBe(0);
    return { answer: JSON.parse(stdout.text) as { secret: string }, notes: stderr.text };
  };
  const { answer, notes } = await added();
  expect(notes).toContain('Set up GitHub:');
  expect(notes).toContain(`  2. Payload URL: ${PUBLIC}`);
  expect(notes).toContain('the `secret` above (shown only now)');
  expect(notes).toContain('\n  svc trigger github.pull_request.opened --source hub\n');
  expect(answer.secret).toMatch(/^[0-9a-f]{40}$/);
  expect(notes).not.toContain(answer.secret);
  expect((await added('--json')).notes).toBe('');
});

describe('svc source get', () => {
  const source = { name: 'hub', type: 'webhook', verification: 'github', url: PUBLIC };

  it('says how to connect the sender until something has arrived', async () => {
    const text = await told('source get hub', { ...source, last_event_at: null });
    expect(text).toContain('Nothing has arrived yet.');
    expect(text).toContain('Set up GitHub:');
    expect(daemon?.seen[0]?.url).toBe('/v1/sources/hub');
  });

  it('shows the last delivery and where refused ones are explained', async () => {
    const last_event_at = '2026-01-02T11:00:00.000Z';
    const used = { ...source, last_event_at, events_24h: 3, rejected_24h: 1 };
    const text = await told('source get hub', used);
    expect(text).toContain('last_event_at');
    expect(text).toContain('To see why deliveries were refused: svc logs');
    expect(text).not.toContain('Set up');
    expect(await told('source get hub --steps', used)).toContain('Set up GitHub:');
  });
});
