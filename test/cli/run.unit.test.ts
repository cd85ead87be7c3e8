import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { FakeDaemon, json, refuse } from './fake-daemon.ts';
import { TextSink } from './fake-output.ts';

const EVENT = 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3';

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

async function listening(answer: ConstructorParameters<typeof FakeDaemon>[0]): Promise<FakeDaemon> {
  daemon = new FakeDaemon(answer);
  await daemon.listen();
  return daemon;
}

async function svc(
  line: string | readonly string[],
  fake?: FakeDaemon,
  signal?: AbortSignal,
  onTerminal = false,
) {
  const [stdout, stderr] = [new TextSink(onTerminal), new TextSink()];
  const argv = typeof line === 'string' ? line.split(' ').filter(Boolean) : line;
  const env = fake?.env ?? { SVC_HOME: '/nonexistent' };
  const around = { env, stdout, stderr, signal: signal ?? new AbortController().signal };
  return { code: await run(argv, around), stdout: stdout.text, stderr: stderr.text };
}

const NO_ITEMS = { items: [], next_cursor: null };

describe('a command of the interface', () => {
  it.each([
    [
      `inbox claim ${EVENT} --lease-seconds 60`,
      'POST /v1/inbox/claim',
      { event_id: EVENT, lease_seconds: 60 },
    ],
    [
      `inbox nack ${EVENT} --reason late --retry=false`,
      'POST /v1/inbox/nack',
      { event_id: EVENT, reason: 'late', retry: false },
      { event_id: EVENT, status: 'dead', available_at: null },
    ],
    ['inbox list --status dead --limit 3', 'GET /v1/inbox?status=dead&limit=3', null, NO_ITEMS],
    ['key revoke key_1/2', 'DELETE /v1/keys/key_1%2F2', null],
    ['keys list --limit 5', 'GET /v1/keys?limit=5', null, NO_ITEMS],
    ['source add github --json', 'POST /v1/sources', { type: 'webhook', name: 'github' }],
    [
      'key create --name ci --scopes admin,disk',
      'POST /v1/keys',
      { name: 'ci', scopes: ['admin', 'disk'] },
    ],
    ['--json whoami', 'GET /v1/whoami', null],
    ['inbox --json list', 'GET /v1/inbox', null, NO_ITEMS],
  ])('%s', async (line, request, body, answer: unknown = { ok: true }) => {
    const fake = await listening((_, response) => json(response, answer));
    const { code, stdout, stderr } = await svc(line, fake);
    expect([code, stdout, stderr]).toEqual([0, `${JSON.stringify(answer)}\n`, '']);
    const [seen] = fake.seen;
    expect(`${seen?.method} ${seen?.url}`).toBe(request);
    expect(seen?.body ? JSON.parse(seen.body) : null).toEqual(body);
  });

  it('asks who it is before it rotates a key, to know whether the stored one is meant', async () => {
    const fake = await listening((_, response) => json(response, { key: { id: 'key_2' } }));
    const { code } = await svc('keys rotate key_1 --grace-seconds 5', fake);
    expect(code).toBe(0);
    expect(fake.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /v1/whoami',
      'POST /v1/keys/key_1/rotate',
    ]);
    expect(JSON.parse(fake.seen[1]?.body ?? '')).toEqual({ grace_seconds: 5 });
  });

  it('ends with 3 when nothing is there', async () => {
    const fake = await listening((_, response) => json(response, { event: null }));
    const { code, stdout } = await svc('inbox wait --timeout-seconds 1', fake);
    expect([code, stdout]).toEqual([3, '{"event":null}\n']);
  });

  it.each([
    ['UNAUTHENTICATED', 401, 4],
    ['POLICY_DENIED', 403, 5],
    ['EVENT_NOT_CLAIMABLE', 409, 1],
  ])(
    'ends with its exit code for %s, and nothing on standard output',
    async (code, status, exit) => {
      const fake = await listening((_, response) => refuse(response, status, code));
      const plain = await svc(`inbox claim ${EVENT}`, fake);
      expect([plain.code, plain.stdout, plain.stderr]).toEqual([exit, '', `${code}: ${code}.\n`]);
      const asJson = await svc(`inbox claim ${EVENT} --json`, fake);
      expect(JSON.parse(asJson.stderr)).toEqual({
        error: { code, message: `${code}.`, hint: null },
      });
    },
  );

  it('names the fields of a refused input as they are typed, and as the interface does with --json', async () => {
    const fields = [
      { path: 'event_id', message: 'Expected an event id.' },
      { path: 'lease_seconds', message: 'Too small.' },
      { path: 'surprise', message: 'Unknown field.' },
    ];
    const error = { code: 'VALIDATION_FAILED', message: 'No.', hint: null, details: { fields } };
    const fake = await listening((_, response) => json(response, { error }, 400));
    const plain = await svc('inbox claim evt_1 --lease-seconds 4', fake);
    expect(plain.stderr.split('\n')).toEqual([
      'VALIDATION_FAILED: No.',
      '  <event_id>: Expected an event id.',
      '  --lease-seconds: Too small.',
      '  surprise: Unknown field.',
      '',
    ]);
    const asJson = await svc('inbox claim evt_1 --lease-seconds 4 --json', fake);
    expect(JSON.parse(asJson.stderr)).toEqual({ error });
  });

  it('ends with 130 when it is interrupted, at once', async () => {
    const fake = await listening(() => {});
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 50);
    const { code, stdout, stderr } = await svc('inbox wait', fake, abort.signal);
    expect([code, stdout, stderr]).toEqual([130, '', '']);
  });

  it('ends with 7 without a daemon and without a key, and names both ways to get one', async () => {
    const { code, stderr } = await svc('whoami');
    expect(code).toBe(7);
    expect(stderr).toBe(
      "UNREACHABLE: The daemon isn't running, and no key is stored here.\n" +
        "To use a project on this machine: svc up. To use a team's: svc login --gateway URL\n",
    );
  });
});

describe('a wrong command line', () => {
  it.each([
    ['inbxo list', 'Unknown command "inbxo list". Did you mean "inbox list"?'],
    ['inbox lst', 'Unknown command "inbox lst". Did you mean "inbox list"?'],
    ['gateway bakup', 'Unknown command "gateway bakup". Did you mean "gateway backup"?'],
    ['frobnicate', 'Unknown command "frobnicate".\nSee: svc --help'],
    ['version', 'Unknown command "version".\nSee: svc --version'],
    ['kv rm last-run', 'Unknown command "kv rm". Did you mean "kv delete"?\nSee: svc kv --help'],
    ['channels rm', 'Unknown command "channels rm". Did you mean "channel remove"?'],
    ['file ls', 'Unknown command "file ls". Did you mean "file list"?'],
    ['source new', 'Unknown command "source new". Did you mean "source add"?'],
    ['kv write', 'Unknown command "kv write". Did you mean "kv set"?'],
    ['kv frobnicate', 'Unknown command "kv frobnicate".\nSee: svc kv --help'],
    [
      'kv set greeting hello',
      `<value> isn't JSON: it's wrong at line 1, column 1.\nQuote text: '"done"'. Or read`,
    ],
    ['--frob', 'Unknown flag --frob.'],
    ['inbox list --limt 3', 'Unknown flag --limt. Did you mean --limit?'],
    ['source rotate github', '--secret is missing.'],
    ['inbox list --limit few', '--limit must be a whole number, not "few".'],
    ['completion tcsh', 'svc has no completion script for "tcsh".'],
    ['api GET v1', '"v1" isn\'t a path.'],
    ['api GET /v1 -H nonsense', '"nonsense" isn\'t a header.'],
  ])('%s', async (line, message) => {
    const { code, stdout, stderr } = await svc(line);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`USAGE: ${message}`);
  });

  it('is told as an error body with --json', async () => {
    const { stderr } = await svc('inbox lst --json');
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'USAGE' } });
  });
});

describe('help', () => {
  it.each([
    ['', 'Your first event:'],
    ['help', 'Your first event:'],
    ['--help', 'Your first event:'],
    ['inbox', 'svc inbox <command> [flags]'],
    ['help inbox', 'svc inbox <command> [flags]'],
    ['inbox --help', 'svc inbox <command> [flags]'],
    ['help inbox claim', 'svc inbox claim <event_id> [flags]'],
    ['inbox claim --help', 'svc inbox claim <event_id> [flags]'],
    ['inbox claim -h', 'svc inbox claim <event_id> [flags]'],
    ['keys --help', 'svc key <command> [flags]'],
    ['mcp --help', 'mcp install'],
  ])('svc %s', async (line, text) => {
    const { code, stdout, stderr } = await svc(line);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(text);
  });
});

describe('auth token and api', () => {
  it('prints the bare key, also in a pipe', async () => {
    const fake = await listening(() => {});
    expect((await svc('auth token', fake)).stdout).toBe(`${fake.apiKey}\n`);
    expect(JSON.parse((await svc('auth token --json', fake)).stdout)).toEqual({
      api_key: fake.apiKey,
    });
    expect((await svc('auth token')).code).toBe(4);
  });

  it('sends what it is told and prints the answer as it came', async () => {
    const fake = await listening((_, response) => response.end('{ "big": 12345678901234567890 }'));
    const line = [
      'api',
      'post',
      '/v1/x?a=1',
      '--body',
      '{"b":2}',
      '-H',
      'X-One: 1',
      '-H',
      'X-Two: 2',
    ];
    const { code, stdout } = await svc(line, fake);
    expect([code, stdout]).toEqual([0, '{ "big": 12345678901234567890 }']);
    expect(fake.seen[0]).toMatchObject({
      method: 'POST',
      url: '/v1/x?a=1',
      body: '{"b":2}',
      headers: { 'x-one': '1', 'x-two': '2', 'content-type': 'application/json' },
    });
  });

  it.each([
    ['application/json', '{"a":1}', '{\n  "a": 1\n}\n'],
    ['application/problem+json; charset=utf-8', '{}\n', '{}\n'],
    ['text/plain', 'hello', 'hello\n'],
    ['text/event-stream', 'data: 1\n\n', 'data: 1\n\n'],
    ['text/plain', '', ''],
    ['application/octet-stream', 'bytes', 'bytes'],
  ])('ends text with a line feed on a terminal only: %s %j', async (type, body, printed) => {
    const fake = await listening((_, response) =>
      response.writeHead(200, { 'content-type': type }).end(body),
    );
    expect((await svc('api GET /v1/x', fake)).stdout).toBe(body);
    const { stdout } = await svc('api GET /v1/x --no-color', fake, undefined, true);
    expect(stdout).toBe(printed);
  });

  it('prints an error answer too and ends with its exit code', async () => {
    const fake = await listening((_, response) => refuse(response, 403, 'SCOPE_MISSING'));
    const { code, stdout, stderr } = await svc('api GET /v1/sources', fake);
    expect(code).toBe(4);
    expect(stdout).toContain('SCOPE_MISSING');
    expect(stderr).toBe('HTTP 403\n');
  });
});

interface Entry {
  readonly seq: number;
  readonly hash: string;
  readonly at: string;
}

const entry = (seq: number, hash = `hash-${seq}`): Entry => ({
  seq,
  hash,
  at: '2026-01-02T00:00:00.000Z',
});

/** A daemon whose ledger a test can change. */
async function withLedger(entries: Entry[]) {
  const ledger = { entries };
  const fake = await listening(({ method, url }, response) => {
    const head = ledger.entries.at(-1) ?? null;
    if (method === 'POST') {
      const to = head?.seq ?? 0;
      json(response, {
        ok: true,
        from_seq: 1,
        to_seq: to,
        checked: to,
        first_bad_seq: null,
        head,
      });
      return;
    }
    const cursor = Number(new URL(url, 'http://x').searchParams.get('cursor') ?? Infinity);
    const items = ledger.entries.filter(({ seq }) => seq < cursor).toReversed();
    json(response, { items, next_cursor: null });
  });
  return { fake, ledger, file: join(fake.folder, 'ledger-heads.json') };
}

describe('the witness of the ledger', () => {
  it('remembers the head and lets the ledger grow', async () => {
    const { fake, ledger, file } = await withLedger([entry(1), entry(2)]);
    expect((await svc('ledger verify', fake)).code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ [fake.project]: entry(2) });
    ledger.entries = [entry(1), entry(2), entry(3)];
    const grown = await svc('ledger verify', fake);
    expect(JSON.parse(grown.stdout)).toMatchObject({
      ok: true,
      witness: { ok: true, remembered: entry(2) },
    });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ [fake.project]: entry(3) });
  });

  it.each([
    ['TRUNCATED', [entry(1)], 'truncated'],
    ['TRUNCATED', [], 'truncated'],
    ['REWRITTEN', [entry(1), entry(2, 'other')], 'rewritten'],
    ['REWRITTEN', [entry(1), entry(2, 'other'), entry(3)], 'rewritten'],
    ['REWRITTEN', [entry(1), entry(3)], 'rewritten'],
  ])('cries %s for %j', async (cry, entries, reason) => {
    const { fake, ledger, file } = await withLedger([entry(1), entry(2)]);
    await svc('ledger verify', fake);
    const before = readFileSync(file, 'utf8');
    ledger.entries = entries;
    for (const line of ['ledger verify', 'ledger query']) {
      const { code, stderr } = await svc(line, fake);
      expect(code).toBe(1);
      expect(stderr).toContain(`LEDGER ${cry}: `);
    }
    const { stdout } = await svc('ledger verify', fake);
    expect(JSON.parse(stdout)).toMatchObject({
      witness: { ok: false, reason, remembered: entry(2) },
    });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('accepts another history when told to, and then compares with that', async () => {
    const { fake, ledger, file } = await withLedger([entry(1), entry(2), entry(3)]);
    await svc('ledger verify', fake);
    const witness = join(fake.folder, 'data', 'replicas', fake.project, 'witness.json');
    mkdirSync(dirname(witness), { recursive: true });
    writeFileSync(witness, '{}');
    ledger.entries = [entry(1), entry(2, 'other')];
    const alarm = await svc('ledger verify', fake);
    expect(alarm.stderr).toContain('Once you know why: svc ledger verify --accept');
    const { code, stdout } = await svc('ledger verify --accept', fake);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      accepted: { before: entry(3), now: entry(2, 'other') },
    });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ [fake.project]: entry(2, 'other') });
    expect(existsSync(witness)).toBe(false);
    expect((await svc('ledger verify', fake)).code).toBe(0);
    ledger.entries = [];
    expect((await svc('ledger verify --accept', fake)).code).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({});
  });

  it('accepts the whole ledger only', async () => {
    const { fake } = await withLedger([entry(1)]);
    const { code, stderr } = await svc('ledger verify --accept --to-seq 1', fake);
    expect(code).toBe(2);
    expect(stderr).toContain('leave out --from-seq and --to-seq');
  });

  it('does not judge by a part of the ledger', async () => {
    const { fake, ledger } = await withLedger([entry(1), entry(2)]);
    await svc('ledger verify', fake);
    ledger.entries = [];
    expect((await svc('ledger query --op inbox_ack', fake)).code).toBe(0);
  });

  it('does not start anew over a damaged memory', async () => {
    const { fake, file } = await withLedger([entry(1)]);
    writeFileSync(file, 'garbage');
    const { code, stderr } = await svc('ledger verify', fake);
    expect(code).toBe(1);
    expect(stderr).toContain('LEDGER_HEADS_DAMAGED');
  });
});
