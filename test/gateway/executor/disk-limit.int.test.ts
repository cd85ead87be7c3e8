import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../../shared/operations/index.ts';
import type { Operation } from '../../../shared/kernel/operation.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { Agent } from '../../shared/api/mcp/agent.ts';
import { decide } from '../../surface/deciding.ts';
import { World, type Answer } from '../../surface/scenario.ts';
import { WebVisitor } from '../web/inbox/web-visitor.ts';

type Json = Record<string, unknown>;

const LETTER = { to: ['ana@example.com'], subject: 'Hello', text: 'Hello.', wait_seconds: 0 };
const CONTENT = Buffer.from('content').toString('base64');
/** Outside of `team-a/`: what is there, and what isn't. */
const THERE = 'team-b/there';
const MISSING = 'team-b/none';

let gateway: TestGateway;
let world: World;
/** Of keys that are limited to `team-a/`. */
let disk: string;
let reader: string;
let everything: string;
let mailId: string;

beforeAll(async () => {
  gateway = await TestGateway.start();
  world = new World(gateway);
  for (const name of ['team-a/x', THERE, 'plain']) {
    await world.get('kv_set', { key: name, value: 1 });
    await world.get('state_save', { task_id: name, state: 1 });
    await world.get('file_put', { path: name, content_base64: CONTENT });
  }
  disk = await limitedKey(['team-a/'], 'disk');
  reader = await limitedKey(['team-a/'], 'disk:read');
  everything = await limitedKey(
    ['team-a/'],
    'disk',
    'send',
    'inbox:read',
    'inbox:write',
    'approvals',
    'ledger:read',
  );
  const source = await world.get('source_add', { type: 'email', name: 'mail' });
  mailId = String((await world.deliver(String(source['url']), MAIL)).body['event_id']);
});
afterAll(() => gateway.stop());

const MAIL = [
  'From: eve@example.org',
  'Subject: A note',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain; name=note.txt',
  'Content-Disposition: attachment; filename=note.txt',
  '',
  'a note',
  '--b--',
  '',
].join('\r\n');

async function limitedKey(disk_prefixes: readonly string[], ...scopes: string[]): Promise<string> {
  const made = await world.get('key_create', { name: 'limited', scopes, disk_prefixes });
  return String(made['api_key']);
}

const outside = (...prefixes: string[]) => ({
  status: 403,
  body: {
    error: {
      code: 'SCOPE_MISSING',
      message: 'This key lacks a required scope.',
      hint: `This key is limited to names on the disk that start with ${prefixes.map((one) => `"${one}"`).join(', ')}.`,
      details: { scope: 'disk', prefixes },
    },
  },
});

function shown({ status, body }: Answer) {
  return { status, body };
}

/** An input of the operation that names this. */
function naming({ disk: names, example, input }: Operation, name: string): Json {
  if (!names) throw new Error('It names nothing.');
  const isList = input.shape[names.field]?.safeParse([]).success || names.field === 'keys';
  const more = names.field === 'attachments' ? LETTER : {};
  return { ...example, ...more, [names.field]: isList ? [name] : name };
}

async function toolsOf(agent: Agent): Promise<unknown> {
  return (await agent.modern('tools/list')).result['tools'];
}

describe('a limited key', () => {
  const touching = operations.filter((one) => one.disk);

  describe.each(touching.map((operation) => [operation.name, operation] as const))(
    'by %s',
    (name, operation) => {
      it('learns nothing of names outside, not even whether they exist', async () => {
        // A list of a shorter prefix has what is allowed below it.
        const shorter = operation.disk?.isPrefix ? [] : ['team-a'];
        for (const one of [THERE, MISSING, 'Team-a/x', ...shorter]) {
          const headers = { 'idempotency-key': `${name} ${one}` };
          const asked = world.run(name, naming(operation, one), { key: everything, headers });
          expect([one, shown(await asked)]).toEqual([one, outside('team-a/')]);
        }
      });

      it('may use names inside', async () => {
        const answer = await world.run(name, naming(operation, 'team-a/y'), { key: everything });
        expect(answer.status).not.toBe(403);
      });
    },
  );

  it('needs every one of several names to be inside', async () => {
    const keys = ['team-a/x', THERE];
    expect(shown(await world.run('kv_mget', { keys }, { key: disk }))).toEqual(outside('team-a/'));
    const read = await world.get('kv_mget', { keys: ['team-a/x', 'team-a/none'] }, { key: disk });
    expect(read['items']).toMatchObject([{ key: 'team-a/x' }, null]);
  });

  it('reads only, with disk:read', async () => {
    const key = reader;
    expect((await world.get('kv_get', { key: 'team-a/x' }, { key }))['value']).toBe(1);
    const written = await world.run('kv_set', { key: 'team-a/x', value: 2 }, { key });
    expect(written.body).toMatchObject({ error: { details: { scope: 'disk' } } });
    expect(shown(await world.run('kv_get', { key: THERE }, { key }))).toEqual(outside('team-a/'));
  });

  it('has the states of its tasks under both names, and their versions', async () => {
    await world.get('state_save', { task_id: 'team-a/x', state: 2 });
    const state = await world.get('kv_get', { key: 'state/team-a/x' }, { key: disk });
    expect(state['value']).toBe(2);
    const { items } = await world.get('state_history', { task_id: 'team-a/x' }, { key: disk });
    expect(items).toHaveLength(2);
    const other = await world.get('state_history', { task_id: 'plain' });
    const { version } = (other['items'] as Json[])[0] ?? {};
    const asked = { task_id: 'plain', version };
    expect(shown(await world.run('state_load', asked, { key: disk }))).toEqual(outside('team-a/'));
    // A version of another task is none of its own.
    const own = await world.run('state_load', { ...asked, task_id: 'team-a/x' }, { key: disk });
    expect([own.status, own.body]).toEqual([200, null]);
  });
});

describe('a list for a limited key', () => {
  const NUMBERS = ['0', '1', '12', '13', '2', '3'];
  let key: string;
  beforeAll(async () => {
    await Promise.all(
      NUMBERS.flatMap((n) => [
        world.get('kv_set', { key: `many/${n}`, value: n }),
        world.get('file_put', { path: `many/${n}`, content_base64: CONTENT }),
        world.get('file_put', { path: `more/${n}`, content_base64: CONTENT }),
      ]),
    );
    await world.get('state_save', { task_id: 'many/task', state: 1 });
    key = await limitedKey(['more/1', 'many/', 'more/12', 'none/'], 'disk:read');
  });

  async function pages(name: string, field: string, input: Json): Promise<string[]> {
    const found: string[] = [];
    let cursor: unknown;
    do {
      const next = cursor === undefined ? {} : { cursor };
      const page = await world.get(name, { ...input, ...next }, { key });
      found.push(...(page['items'] as Json[]).map((item) => String(item[field])));
      cursor = page['next_cursor'] ?? undefined;
    } while (cursor !== undefined);
    return found;
  }

  it.each([1, 2, 100])('has what it may see, page after page of %i', async (limit) => {
    const many = NUMBERS.map((n) => `many/${n}`);
    const more = many.map((path) => path.replace('many', 'more'));
    const ones = more.filter((path) => path.startsWith('more/1'));
    expect(await pages('file_list', 'path', { limit })).toEqual([...many, ...ones]);
    expect(await pages('file_list', 'path', { limit, prefix: 'm' })).toEqual([...many, ...ones]);
    expect(await pages('file_list', 'path', { limit, prefix: 'more/1' })).toEqual(ones);
    expect(await pages('file_list', 'path', { limit, prefix: 'disk://more/12' })).toEqual([
      'more/12',
    ]);
    const keys = [...many, 'state/many/task'];
    expect(await pages('kv_list', 'key', { limit })).toEqual(keys);
    expect(await pages('kv_list', 'key', { limit, values: true })).toEqual(keys);
    expect(await pages('kv_list', 'key', { limit, prefix: 'state/' })).toEqual(['state/many/task']);
    expect(await pages('kv_list', 'key', { limit, prefix: 'none/' })).toEqual([]);
  });

  it('starts at any cursor, and still has nothing else', async () => {
    const cursor = Buffer.from('many/2zz').toString('base64url');
    const page = await world.get('file_list', { cursor, limit: 100 }, { key });
    const paths = (page['items'] as Json[]).map(({ path }) => String(path));
    expect(paths).not.toEqual([]);
    expect(paths.every((path) => path > 'many/2zz' && path.startsWith('m'))).toBe(true);
    expect(paths).not.toContain('more/2');
  });
});

describe('roads to the names of others', () => {
  it('are closed for uploads', async () => {
    const upload = { size: 1, content_type: 'text/plain' };
    const { upload_id } = await world.get('file_put', { path: THERE, upload });
    const done = (path: string) =>
      world.run('file_put', { path, complete: upload_id }, { key: disk });
    expect(shown(await done(THERE))).toEqual(outside('team-a/'));
    expect((await done('team-a/y')).status).toBe(404);
    const opened = await world.run('file_put', { path: MISSING, upload }, { key: disk });
    expect(shown(opened)).toEqual(outside('team-a/'));
    const own = await world.get('file_put', { path: 'team-a/up', upload }, { key: disk });
    const headers = own['upload_headers'] as Record<string, string>;
    const sent = await fetch(String(own['upload_url']), { method: 'PUT', headers, body: 'x' });
    expect(sent.status).toBe(200);
    const complete = { path: 'team-a/up', complete: own['upload_id'] };
    expect((await world.run('file_put', complete, { key: disk })).status).toBe(200);
  });

  it('are closed for public links and their approvals', async () => {
    const key = everything;
    const asked = await world.get('file_url', { path: 'team-a/x', wait_seconds: 0 }, { key });
    const request_id = String(asked['request_id']);
    await decide(gateway, world, request_id, { verb: 'approve' });
    const link = (path: string) => ({ path, approval: request_id, wait_seconds: 0 });
    expect(shown(await world.run('file_url', link(THERE), { key }))).toEqual(outside('team-a/'));
    const made = await world.get('file_url', link('team-a/x'), { key });
    expect(await (await fetch(String(made['url']))).text()).toBe('content');
  });

  it('are closed for attachments of mails it sends', async () => {
    const send = (...attachments: string[]) =>
      world.run('email_send', { ...LETTER, attachments }, { key: everything });
    expect(shown(await send('team-a/x', THERE))).toEqual(outside('team-a/'));
    expect(shown(await send(`disk://${MISSING}`))).toEqual(outside('team-a/'));
    expect((await send('team-a/x')).status).toBe(202);
    const answer = { ...LETTER, to: undefined, subject: undefined, reply_to_event: mailId };
    const replied = await world.run(
      'email_send',
      { ...answer, attachments: [THERE] },
      { key: everything },
    );
    expect(shown(replied)).toEqual(outside('team-a/'));
  });

  it('lead to attachments of mails that came in only with inbox:read', async () => {
    const path = `${mailId}/note.txt`;
    const file = await world.get('file_get', { path }, { key: everything });
    expect(Buffer.from(String(file['content_base64']), 'base64').toString()).toContain('a note');
    expect(shown(await world.run('file_get', { path }, { key: disk }))).toEqual(outside('team-a/'));
    const prefix = `${mailId}/`;
    const listed = await world.get('file_list', { prefix }, { key: everything });
    expect(listed['items']).toMatchObject([{ path }]);
    const refused = await world.run('file_list', { prefix }, { key: disk });
    expect(shown(refused)).toEqual(outside('team-a/'));
  });

  it('are closed in requests that name files, and in the events of their ends', async () => {
    const by = { key: everything };
    const link = await world.get('file_url', { path: THERE, wait_seconds: 0 });
    const mail = await world.get('email_send', { ...LETTER, attachments: [THERE] });
    const own = await world.get(
      'file_url',
      { path: 'team-a/x', expires_in: 60, wait_seconds: 0 },
      by,
    );
    const question = { question: 'May I?', wait_seconds: 0 };
    const asked = await world.get('ask_human', question);
    const status = (request_id: unknown) => world.get('request_status', { request_id }, by);
    expect(await status(link['request_id'])).toMatchObject({
      kind: 'file_url',
      summary: 'Share a file by a public link',
      details: null,
    });
    expect(await status(mail['request_id'])).toMatchObject({ details: null });
    expect((await status(own['request_id']))['summary']).toContain('team-a/x');
    expect((await status(asked['request_id']))['question']).toBe('May I?');
    await world.get('request_withdraw', { request_id: link['request_id'] });
    await world.get('request_withdraw', { request_id: mail['request_id'] });
    const all = [
      await world.get('request_list', { limit: 100 }, by),
      await world.get('inbox_list', { limit: 100 }, by),
      await world.get('inbox_list', { limit: 100, status: 'done' }, by),
    ];
    expect(JSON.stringify(all)).not.toContain(THERE);
    const events = all.flatMap(({ items }) => items as Json[]);
    const ended = events.filter(({ type }) => type === 'request.resolved');
    expect(ended.length).toBeGreaterThanOrEqual(2);
    for (const { id: event_id } of ended) {
      const read = await world.get('inbox_get', { event_id }, by);
      expect(JSON.stringify(read)).not.toContain(THERE);
    }
    expect(JSON.stringify(await world.get('request_list', { limit: 100 }))).toContain(THERE);
  });

  it('are closed over MCP, whose tools say nothing of it but whoami', async () => {
    const agent = new Agent(gateway.url, disk);
    const call = async (name: string, input: Json) =>
      (await agent.modern('tools/call', { name, arguments: input })).result;
    const refused = await call('kv_get', { key: THERE });
    expect(refused).toMatchObject({ isError: true });
    expect(JSON.stringify(refused)).toContain('team-a/');
    const { result } = await agent.modern('resources/list');
    const names = (result['resources'] as Json[]).map(({ name }) => String(name));
    expect(names).toContain('team-a/x');
    expect(names.every((name) => /^(state\/)?team-a\//.test(name))).toBe(true);
    for (const uri of [`disk://${THERE}`, `kv://${MISSING}`, `kv://${THERE}`]) {
      expect((await agent.modern('resources/read', { uri })).error).toBeDefined();
    }
    const complete = async (value: string) => {
      const ref = { type: 'ref/resource', uri: 'disk://{+path}' };
      const completing = { ref, argument: { name: 'path', value } };
      return (await agent.modern('completion/complete', completing)).result['completion'];
    };
    expect(await complete('team')).toMatchObject({ values: ['team-a/up', 'team-a/x'] });
    expect(await complete('team-b')).toMatchObject({ values: [] });
    const { structuredContent } = await call('whoami', {});
    expect(structuredContent).toMatchObject({ key: { disk_prefixes: ['team-a/'] } });
    const unlimited = new Agent(gateway.url, (await world.newKey('disk')).apiKey);
    expect(await toolsOf(agent)).toEqual(await toolsOf(unlimited));
  });

  it('are closed for replicas', async () => {
    for (const path of ['/v1/replica', '/v1/replica/changes']) {
      const answer = await world.call('GET', path, { key: everything });
      const hint =
        "A replica is the whole project, so its key can't be limited to prefixes of the disk.";
      const details = { scope: 'disk', prefixes: ['team-a/'] };
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({ error: { code: 'SCOPE_MISSING', hint, details } });
    }
  });

  it('are closed in a web inbox that it opens', async () => {
    const visitor = await WebVisitor.withKey(gateway, everything);
    const slug = (await gateway.gateway.projects.find(gateway.projectId))?.info.slug;
    for (const page of ['requests', 'events']) {
      const { html: text } = await visitor.get(`/ui/p/${slug}/${page}`);
      expect(text).not.toContain(THERE);
    }
    const { items } = await world.get('request_list', { limit: 100 });
    const [link] = (items as Json[]).filter(({ summary }) => String(summary).includes(THERE));
    const { html: text } = await visitor.get(
      `/ui/p/${slug}/requests/${String(link?.['request_id'])}`,
    );
    expect(text).toContain('Share a file by a public link');
    expect(text).not.toContain(THERE);
  });
});
