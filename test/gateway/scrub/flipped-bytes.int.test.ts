import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scrub } from '../../../gateway/scrub/scrub.ts';
import { readScrubState } from '../../../gateway/scrub/scrub-state.ts';
import { DamageRegister } from '../../../shared/store/sums/damage.ts';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import { withRawDatabase } from '../../helpers/database.ts';
import { FakeClock, TestGateway, temporaryFolder } from '../../helpers/gateway.ts';

/** Reading this file fails as on a bad disk: EIO. */
const UNREADABLE = '/proc/self/mem';

let folder: ReturnType<typeof temporaryFolder>;
let gateway: TestGateway;

beforeEach(async () => {
  folder = temporaryFolder();
  gateway = await TestGateway.start({ folder: folder.path });
});
afterEach(async () => {
  await gateway.stop();
  folder.remove();
});

async function restart(): Promise<void> {
  gateway = await TestGateway.start({ folder: folder.path, projectOf: gateway });
}

function databasePath(): string {
  return join(folder.path, 'projects', gateway.projectId, 'project.db');
}

/** Flips a bit of each place where a file has these bytes; returns how many there are. */
function flip(file: string, text: string): number {
  const bytes = readFileSync(file);
  let count = 0;
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    count += 1;
  }
  writeFileSync(file, bytes);
  return count;
}

function damage(): string[] {
  return new DamageRegister(folder.path).list().map(({ file, what }) => `${file} ${what}`);
}

async function scrubOnce() {
  return scrub({ dataFolder: folder.path, now: () => Date.now(), pace: async () => undefined });
}

async function bodyText(method: string, path: string, body?: unknown) {
  const answer = await gateway.call(method, path, body === undefined ? {} : { body });
  return { status: answer.status, text: JSON.stringify(answer.body), body: answer.body };
}

const INTERNAL = { status: 500, body: { error: { code: 'INTERNAL' } } };

/** What is stored, how it is read, and the text in it that a byte is flipped in. */
const KINDS = [
  {
    kind: 'a value',
    write: () => bodyText('PUT', '/v1/kv/answer', { is: 'forty-two-and-a-half' }),
    text: 'forty-two-and-a-half',
    path: () => '/v1/kv/answer',
    what: 'key answer',
  },
  {
    kind: "a task's state",
    write: () => bodyText('PUT', '/v1/state/job', { state: { step: 'seventeen-of-twenty' } }),
    text: 'seventeen-of-twenty',
    path: () => '/v1/state/job',
    what: /key .*job/,
  },
  {
    kind: "an earlier version of a task's state",
    write: async () => {
      const first = await bodyText('PUT', '/v1/state/old-job', {
        state: { step: 'the-very-first' },
      });
      const { version } = first.body as { version: number };
      version0 = version;
      return bodyText('PUT', '/v1/state/old-job', { state: { step: 'the-second' } });
    },
    text: 'the-very-first',
    path: () => `/v1/state/old-job?version=${version0}`,
    what: /key .*job, version/,
  },
  {
    kind: "an event's body",
    write: async () => {
      const url = await gateway.addSource({ name: 'shop' });
      const told = await gateway.deliver(url, '{"paid":"by-bank-transfer"}', {
        'content-type': 'application/json',
      });
      eventId = String(told.body['event_id']);
      return { status: told.status };
    },
    text: 'by-bank-transfer',
    path: () => `/v1/inbox/events/${eventId}`,
    what: /event evt_/,
  },
  {
    kind: "a file's digest",
    write: () =>
      fetch(`${gateway.url}/v1/files/notes/a.txt`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'text/strange' },
        body: 'hello',
      }),
    text: 'text/strange',
    path: () => '/v1/files/notes/a.txt',
    what: 'file notes/a.txt',
  },
] as const;
let eventId = '';
let version0 = 0;

describe.each(KINDS)('a flipped byte in $kind', ({ write, text, path, what }) => {
  const isNamed = expect.stringMatching(what);

  it('is not served by the start that follows, before anything was scrubbed', async () => {
    expect((await write()).status).toBeLessThan(300);
    expect((await bodyText('GET', path())).text).toContain(text);
    await bodyText('PUT', '/v1/kv/other', { is: 'fine' });
    await gateway.stop({ keepFolder: true });
    expect(flip(databasePath(), text)).toBeGreaterThan(0);
    await restart();
    expect(await bodyText('GET', path())).toMatchObject(INTERNAL);
    expect(damage()).toEqual([isNamed]);
    expect((await bodyText('GET', '/v1/kv/other')).status).toBe(200);
    expect((await bodyText('PUT', '/v1/kv/other', { is: 'new' })).status).toBe(200);
  });

  it('is not served while it goes on', async () => {
    await write();
    expect(flip(`${databasePath()}-wal`, text)).toBeGreaterThan(0);
    const answer = await bodyText('GET', path());
    // The page may still be in memory, as it was.
    const asWritten = { status: 200, text: expect.stringContaining(text) as string };
    expect(answer).toMatchObject(answer.status === 200 ? asWritten : INTERNAL);
  });

  it('is found by one scrub', async () => {
    await write();
    await gateway.stop({ keepFolder: true });
    flip(databasePath(), text);
    await restart();
    await scrubOnce();
    expect(damage()).toEqual([expect.stringMatching(/project\.db page \d+$/)]);
  });
});

function sumOf(table: string): string {
  return table === 'event' ? 'head_sum' : 'sum';
}

describe('rows of an earlier release', () => {
  const TABLES = ['event', 'file', 'kv', 'park', 'state_version'];

  it('are served as they are, and get the sums that they would have had', async () => {
    for (const { write } of KINDS) await write();
    await bodyText('POST', '/v1/inbox/claim', { event_id: eventId });
    const parked = { event_id: eventId, until: ['+2h'], state: { step: 'waits-for-morning' } };
    expect((await bodyText('POST', '/v1/inbox/nack', parked)).status).toBe(200);
    await gateway.stop({ keepFolder: true });
    const stored = TABLES.map((table) => `SELECT ${sumOf(table)} AS sum FROM ${table}`);
    const sums = withRawDatabase(databasePath(), (raw) => {
      const before = stored.map((sql) => raw.all(sql));
      for (const table of TABLES) raw.exec(`UPDATE ${table} SET ${sumOf(table)} = NULL`);
      raw.exec('UPDATE event SET body_sum = NULL');
      return before;
    });
    expect(sums.flat().length).toBeGreaterThan(TABLES.length);
    await restart();
    for (const { path, text } of KINDS) {
      expect((await bodyText('GET', path())).text).toContain(text);
    }
    const project = await gateway.gateway.projects.find(gateway.projectId);
    if (!project) throw new Error('There is no project.');
    await maintain(project, new FakeClock(Date.now()));
    expect(withRawDatabase(databasePath(), (raw) => stored.map((sql) => raw.all(sql)))).toEqual(
      sums,
    );
  });
});

describe('an event whose content is damaged', () => {
  it('leaves the others of a list readable, and has no content there', async () => {
    const url = await gateway.addSource({ name: 'shop' });
    const json = { 'content-type': 'application/json' };
    await gateway.deliver(url, '{"paid":"first-bank-transfer"}', json);
    await gateway.deliver(url, '{"paid":"second-bank-transfer"}', json);
    await gateway.stop({ keepFolder: true });
    flip(databasePath(), 'first-bank-transfer');
    await restart();
    const { body } = await bodyText('GET', '/v1/inbox');
    expect(body).toMatchObject({
      items: [
        { payload: null, payload_truncated: true, payload_purged: false },
        { payload: { paid: 'second-bank-transfer' } },
      ],
    });
  });
});

describe('a scrub', () => {
  it('finds nothing in good data, says what it looked at, and begins anew the next time', async () => {
    await bodyText('PUT', '/v1/kv/a', { is: 'fine' });
    await KINDS[4].write();
    const looked = await scrubOnce();
    expect(looked).toMatchObject({ databases: 2, blobs: 1 });
    expect(await scrubOnce()).toEqual(looked);
    expect(damage()).toEqual([]);
  });

  it('forgets damage that it finds no more', async () => {
    await bodyText('PUT', '/v1/kv/a', { is: 'quite-special' });
    await gateway.stop({ keepFolder: true });
    flip(databasePath(), 'quite-special');
    await scrubOnce();
    expect(damage()).toHaveLength(1);
    flip(databasePath(), 'puite-special');
    flip(databasePath(), 'qtite-special');
    const bytes = readFileSync(databasePath(), 'latin1');
    expect(bytes).toContain('quite-special');
    await scrubOnce();
    expect(damage()).toEqual([]);
    await restart();
  });

  it('goes on in the file where it was cut short', async () => {
    await KINDS[4].write();
    await gateway.stop({ keepFolder: true });
    writeFileSync(
      join(folder.path, 'scrub.json'),
      JSON.stringify({
        started_at: '2026-01-02T03:04:05.000Z',
        finished_at: null,
        file: `projects/${gateway.projectId}/project.db`,
        done_bytes: 8192,
      }),
    );
    const { size } = statSync(databasePath());
    expect(await scrubOnce()).toEqual({ databases: 1, blobs: 1, bytes: size - 8192 + 5 });
    await restart();
  });

  it('finds a damaged blob', async () => {
    await KINDS[4].write();
    const before = damage();
    expect(before).toEqual([]);
    const digest = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
    const blob = `projects/${gateway.projectId}/blobs/2c/${digest}`;
    flip(join(folder.path, blob), 'hello');
    await scrubOnce();
    expect(damage()).toEqual([`${blob} blob`]);
  });

  it('names what the disk can’t read, and looks at everything after it', async () => {
    await KINDS[4].write();
    await gateway.stop({ keepFolder: true });
    const [first, last] = ['0'.repeat(64), 'f'.repeat(64)] as const;
    const place = (digest: string): string =>
      `projects/${gateway.projectId}/blobs/${digest.slice(0, 2)}/${digest}`;
    for (const digest of [first, last]) mkdirSync(dirname(join(folder.path, place(digest))));
    symlinkSync(UNREADABLE, join(folder.path, place(first)));
    writeFileSync(join(folder.path, place(last)), 'something else');
    const database = databasePath();
    renameSync(database, `${database}.good`);
    symlinkSync(UNREADABLE, database);
    await scrubOnce();
    const [page] = damage();
    expect(page).toMatch(/project\.db /);
    expect(damage().slice(-2)).toEqual([`${place(first)} blob`, `${place(last)} blob`]);
    rmSync(database);
    renameSync(`${database}.good`, database);
    for (const digest of [first, last]) rmSync(join(folder.path, place(digest)));
    await restart();
  });

  it('looks at everything after a file that it can’t open, and says so at the end', async () => {
    await gateway.stop({ keepFolder: true });
    const blobs = join(folder.path, 'projects', gateway.projectId, 'blobs');
    mkdirSync(join(blobs, '00', '0'.repeat(64)), { recursive: true });
    mkdirSync(join(blobs, 'ff'));
    writeFileSync(join(blobs, 'ff', 'f'.repeat(64)), 'something else');
    await expect(scrubOnce()).rejects.toThrow('EISDIR');
    expect(damage()).toHaveLength(1);
    expect(readScrubState(folder.path)?.finishedAt).toBeGreaterThan(0);
    await restart();
  });
});

describe('a database file that was cut', () => {
  it('is named by whoever needs it, and is not made anew', async () => {
    await bodyText('PUT', '/v1/kv/a', { is: 'fine' });
    await gateway.stop({ keepFolder: true });
    const { size } = statSync(databasePath());
    truncateSync(databasePath(), size - 8192);
    await restart();
    expect(await bodyText('GET', '/v1/kv/a')).toMatchObject(INTERNAL);
    expect(damage()).toEqual([`projects/${gateway.projectId}/project.db its length`]);
    expect(statSync(databasePath()).size).toBe(size - 8192);
  });

  it('keeps a gateway from starting, if it is the one of the gateway itself', async () => {
    await gateway.stop({ keepFolder: true });
    truncateSync(join(folder.path, 'control.db'), 0);
    await expect(restart()).rejects.toThrow(/control\.db is damaged.*svc gateway check/s);
    gateway = await TestGateway.start();
  });
});
