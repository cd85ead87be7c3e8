import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { asNobody } from '../helpers/nobody.ts';
import { FakeDaemon, json } from './fake-daemon.ts';
import { TextSink } from './fake-output.ts';

type Answer = ConstructorParameters<typeof FakeDaemon>[0];

let gateway: FakeDaemon;
afterEach(() => gateway.close());

/** A gateway over the folder of a fake, as far as its operator sees it. */
async function running(answer: Answer): Promise<void> {
  gateway = new FakeDaemon(answer);
  await gateway.listen(join(gateway.folder, 'operator.sock'));
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function svc(line: string | readonly string[], terminal = false): Promise<Ran> {
  const [stdout, stderr] = [new TextSink(terminal, 100), new TextSink()];
  const argv = typeof line === 'string' ? line.split(' ') : line;
  const env = { ...gateway.env, SVC_DATA: gateway.folder };
  const { signal } = new AbortController();
  const code = await run(['gateway', 'project', ...argv], { env, stdout, stderr, signal });
  return { code, out: stdout.text, err: stderr.text };
}

const ALLOWED = { this_month: 12, blocked: null };
const BLOCKED = {
  this_month: 42,
  blocked: { reason: 'Unpaid\u001b[2J', since: '2020-01-02T03:04:05.000Z' },
};

function item(slug: string, emails: unknown) {
  const id = `prj_${slug.padEnd(16, '0')}`;
  const created_at = '2020-01-01T00:00:00.000Z';
  return { id, slug, name: 'Shop', created_at, owner: null, emails };
}

function obeyed(changed: boolean): Answer {
  const project = { id: 'prj_0000000000000000', slug: 'shop', name: 'Shop' };
  return (_, response) => json(response, { project, blocked: null, changed });
}

describe('svc gateway project list', () => {
  it('asks for page after page', async () => {
    const pages = [
      { items: [item('a', ALLOWED)], next_cursor: 'n/1' },
      { items: [item('b', ALLOWED)], next_cursor: null },
    ];
    await running(({ url }, response) => json(response, pages[url.includes('?') ? 1 : 0]));
    const { code, out } = await svc('list');
    expect(code).toBe(0);
    const items = [item('a', ALLOWED), item('b', ALLOWED)];
    expect(JSON.parse(out)).toEqual({ items, next_cursor: null });
    expect(gateway.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /projects',
      'GET /projects?cursor=n%2F1',
    ]);
    expect(gateway.seen[0]?.headers.authorization).toBeUndefined();
  });

  it('shows a table, and below it why something is blocked', async () => {
    const items = [item('open', ALLOWED), item('shut', BLOCKED), item('lost', null)];
    await running((_, response) => json(response, { items, next_cursor: null }));
    const { out, err } = await svc('list --no-color', true);
    expect(err).toBe('');
    const [head = '', ...lines] = out.trimEnd().split('\n');
    expect(head.split(/\s{2,}/)).toEqual([
      'SLUG',
      'NAME',
      'SENDING',
      'THIS MONTH',
      'OWNER',
      'CREATED',
      'ID',
    ]);
    expect(lines.slice(0, 3).map((line) => line.split(/\s+/).slice(0, 4))).toEqual([
      ['open', 'Shop', 'allowed', '12'],
      ['shut', 'Shop', 'blocked', '42'],
      ['lost', 'Shop', 'unreadable', '–'],
    ]);
    expect(lines.slice(3)).toEqual([
      '',
      expect.stringMatching(/^shut: blocked \d+ days ago: Unpaid/),
    ]);
    expect(out).not.toContain('\u001b');
  });

  it('shows what is being moved, and where it went', async () => {
    const to = 'https://svc.example.com\u001b[2J';
    const items = [
      { ...item('stays', ALLOWED), state: 'active', moved_to: null },
      { ...item('goes', ALLOWED), state: 'held', moved_to: null },
      { ...item('gone', null), state: 'moved', moved_to: to },
      { ...item('lost', null), state: 'moved', moved_to: null },
    ];
    await running((_, response) => json(response, { items, next_cursor: null }));
    const { out } = await svc('list --no-color', true);
    const [, ...lines] = out.trimEnd().split('\n');
    expect(lines.slice(0, 4).map((line) => line.split(/\s+/).slice(0, 4))).toEqual([
      ['stays', 'Shop', 'allowed', '12'],
      ['goes', 'Shop', 'held', '12'],
      ['gone', 'Shop', 'moved', '–'],
      ['lost', 'Shop', 'moved', '–'],
    ]);
    expect(lines.slice(4)).toEqual([
      '',
      'goes: on hold, to be moved',
      expect.stringMatching(/^gone: moved to https:\/\/svc\.example\.com/),
      'lost: moved',
    ]);
    expect(out).not.toContain('\u001b');
  });

  it('exits with 3 where there are none', async () => {
    await running((_, response) => json(response, { items: [], next_cursor: null }));
    const { code, out } = await svc('list', true);
    expect([code, out]).toEqual([
      3,
      'No projects yet. Create the first with: svc login --gateway URL\n',
    ]);
  });

  it('refuses what is no list', async () => {
    await running((_, response) => json(response, { items: 1 }));
    const { code, err } = await svc('list');
    expect(code).toBe(1);
    expect(err).toContain("ANSWER_INVALID: The answer isn't a list.");
  });
});

describe('svc gateway project block', () => {
  it('sends the reason without the spaces around it', async () => {
    await running(obeyed(true));
    const { code, out } = await svc(['block', 'shop/1', '--reason', ' Unpaid ']);
    expect([code, JSON.parse(out)]).toMatchObject([0, { changed: true }]);
    const [seen] = gateway.seen;
    expect(`${seen?.method} ${seen?.url}`).toBe('POST /projects/shop%2F1/block');
    expect(JSON.parse(seen?.body ?? '')).toEqual({ reason: 'Unpaid' });
  });

  it.each([
    [true, "Blocked shop: it can't send mail, and queued messages fail. To unblock:\n"],
    [false, 'shop was already blocked for this reason.'],
  ])('says what came of it (changed: %s)', async (changed, text) => {
    await running(obeyed(changed));
    expect((await svc('block shop --reason Unpaid', true)).out).toContain(text);
  });

  it.each([
    ['block shop', '--reason is missing.'],
    ['block shop --reason=', '--reason is missing.'],
    ['block --reason Unpaid', '<name> is missing.'],
    ['block a b --reason Unpaid', 'Unexpected argument "b".'],
    ['hold', '<name> is missing.'],
    ['release shop --to https://a.example', '--to'],
    ['moved shop --to', '--to'],
    ['unblock', '<name> is missing.'],
    ['unblock shop --reason Unpaid', '--reason'],
    ['list shop', 'Unexpected argument "shop".'],
  ])('%s is a usage error', async (line, text) => {
    await running(obeyed(true));
    const { code, err } = await svc(line);
    expect([code, err]).toEqual([2, expect.stringContaining(text)]);
    expect(gateway.seen).toEqual([]);
  });
});

describe('svc gateway project unblock', () => {
  it.each([
    [true, 'shop can send again. Earlier bounces and complaints no longer count.\n'],
    [false, "shop wasn't blocked.\n"],
  ])('says what came of it (changed: %s)', async (changed, text) => {
    await running(obeyed(changed));
    expect(await svc('unblock shop', true)).toEqual({ code: 0, out: text, err: '' });
    expect(gateway.seen[0]).toMatchObject({ method: 'POST', url: '/projects/shop/unblock' });
  });

  it('shows a refusal of the gateway', async () => {
    const error = { code: 'NOT_FOUND', message: 'Not found.', hint: 'See the list.' };
    await running((_, response) => json(response, { error }, 404));
    expect(await svc('unblock nobody')).toEqual({
      code: 3,
      out: '',
      err: 'NOT_FOUND: Not found.\nSee the list.\n',
    });
  });

  it('says that what came of it is not known where the answer is lost', async () => {
    await running((_, response) => response.destroy());
    const { code, err } = await svc('unblock shop');
    expect(code).toBe(7);
    expect(err).toContain('The connection to the gateway broke (ECONNRESET).');
    expect(err).toContain('Check the current state: svc gateway project list');
    expect(gateway.seen).toHaveLength(1);
  });
});

describe('svc gateway project hold, release and moved', () => {
  const TO = 'https://svc.example.com';

  it.each([
    ['hold shop', true, 'shop is on hold: read-only. To end the hold: '],
    ['hold shop', false, 'shop was already on hold.\n'],
    ['release shop', true, 'shop is active again.\n'],
    ['release shop', false, "shop wasn't on hold.\n"],
    [
      `moved shop --to ${TO} --unchecked`,
      true,
      `callers are told it moved to ${TO}. Its data stays`,
    ],
    [
      'moved shop --unchecked',
      true,
      'callers are told it moved to another gateway. Its data stays',
    ],
    [
      'moved shop --unchecked',
      true,
      'projects/prj_0000000000000000 in the data folder, or its database on the server.\n',
    ],
    ['moved shop --unchecked', false, 'shop was already closed.\n'],
  ])('%s says what came of it (changed: %s)', async (line, changed, text) => {
    await running(obeyed(changed));
    const { code, out } = await svc(line, true);
    expect([code, out]).toEqual([0, expect.stringContaining(text)]);
  });

  it('sends where the project is now', async () => {
    await running(obeyed(true));
    await svc(`moved shop --to ${TO} --receipt imp_5d41402abc4b2a76b9719d9110`);
    await svc('moved shop --unchecked');
    expect(gateway.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /projects/shop/moved',
      'POST /projects/shop/moved',
    ]);
    expect(gateway.seen.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { to: TO, receipt: 'imp_5d41402abc4b2a76b9719d9110' },
      { to: null, receipt: null },
    ]);
  });

  it('asks for the receipt of the import before it closes a project', async () => {
    await running(obeyed(true));
    const { code, err } = await svc(`moved shop --to ${TO}`, true);
    expect([code, err, gateway.seen]).toEqual([2, expect.stringContaining('--receipt'), []]);
  });
});

describe('where the data are', () => {
  it('what is typed wins over the environment, and that over the settings file', async () => {
    await running(obeyed(true));
    const { folder } = gateway;
    const file = join(folder, 'gateway.env');
    writeFileSync(file, `SVC_DATA=${join(folder, 'of-file')}\n`);
    const around = async (env: Record<string, string>, ...args: string[]): Promise<string> => {
      const stderr = new TextSink();
      const { signal } = new AbortController();
      const argv = ['gateway', 'project', 'list', ...args];
      await run(argv, {
        env: { SVC_HOME: folder, ...env },
        stdout: new TextSink(),
        stderr,
        signal,
      });
      return /data in (\S+)\.\n/.exec(stderr.text)?.[1] ?? stderr.text;
    };
    const typed = ['--data', join(folder, 'typed')];
    const config = { SVC_CONFIG: file };
    const both = { ...config, SVC_DATA: join(folder, 'of-env') };
    expect(await around(both, ...typed)).toBe(join(folder, 'typed'));
    expect(await around(both)).toBe(join(folder, 'of-env'));
    expect(await around(config)).toBe(join(folder, 'of-file'));
    expect(await around({}, '--config', file)).toBe(join(folder, 'of-file'));
    expect(await around({}, '--config', join(folder, 'nothing'))).toContain(
      'USAGE: The settings file ',
    );
  });

  it('says that the user may not look there', async () => {
    await running(obeyed(true));
    chmodSync(gateway.folder, 0o755);
    const closed = join(gateway.folder, 'closed');
    mkdirSync(closed);
    chmodSync(closed, 0);
    const { code, err } = await asNobody([], () => svc(['list', '--data', closed]));
    expect(code).toBe(7);
    expect(err).toContain(`UNREACHABLE: This user isn't allowed to open ${closed}/operator.sock.`);
    expect(err).toContain("Run the command as the gateway's user");
  });
});
