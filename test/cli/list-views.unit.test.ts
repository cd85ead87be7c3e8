import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { FakeDaemon, json } from './fake-daemon.ts';
import { TextSink } from './fake-output.ts';

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

/** What a command prints on a terminal of 120 columns, for this answer. */
async function printed(answer: unknown, ...line: string[]): Promise<string> {
  daemon = new FakeDaemon((_, response) => json(response, answer));
  await daemon.listen();
  const [stdout, stderr] = [new TextSink(true, 120), new TextSink()];
  const around = { env: { ...daemon.env, NO_COLOR: '1' }, stdout, stderr };
  expect(await run(line, { ...around, signal: new AbortController().signal })).toBe(0);
  return stdout.text;
}

const KEY = {
  id: 'key_01m80n54e7y16h6v774pfg1nsd',
  name: 'admin',
  status: 'active',
  maker: 'this machine',
  last4: 'abcd',
  scopes: ['admin'],
  disk_prefixes: null,
  created_at: '2026-01-02T10:00:00.000Z',
  created_by: null,
  last_used_at: null,
  expires_at: null,
  revoked_at: null,
};
const LIMITED = { ...KEY, name: 'team', scopes: ['disk'], disk_prefixes: ['team-a/', 'x'] };

describe('svc key list', () => {
  it('has prefixes where a key is limited, and is as before where none is', async () => {
    const some = await printed({ items: [KEY, LIMITED], next_cursor: null }, 'key', 'list');
    expect(some).toMatch(/SCOPES +DISK PREFIXES +LAST USED/);
    expect(some).toMatch(/team +active +this machine +abcd +disk +team-a\/,x/);
    daemon?.close();
    const none = await printed({ items: [KEY], next_cursor: null }, 'key', 'list');
    expect(none).toMatch(/SCOPES +LAST USED/);
  });
});

const CHANNEL = {
  id: 'chn_01m80mvt21g5bsjgrwp0hm2b2w',
  kind: 'email',
  label: 'owner',
  address: 'o***@example.com',
  status: 'active',
  owner: true,
  maker: 'the owner',
  person_of: null as string | null,
};
const CHAT = { ...CHANNEL, kind: 'telegram', owner: false, maker: 'key admin', address: null };

const listed = (...items: unknown[]) => printed({ items, next_cursor: null }, 'channel', 'list');

describe('svc channel list', () => {
  it('says whose each channel is once one of them is a chat, or an owner said it', async () => {
    const some = await listed(
      CHANNEL,
      { ...CHAT, id: 'chn_2', label: 'phone', person_of: CHANNEL.id },
      { ...CHAT, id: 'chn_3', label: 'ben', person_of: 'chn_3' },
      { ...CHAT, id: 'chn_4', label: 'cleo' },
    );
    expect(some).toMatch(/STATUS +PERSON +OWNER +MAKER/);
    expect(some).toMatch(/owner +o\*\*\*@example.com +active +mailbox +yes/);
    expect(some).toMatch(/phone .* active +same as owner +no/);
    expect(some).toMatch(/ben .* active +no other channel +no/);
    expect(some).toMatch(/cleo .* active +not said +no/);
  });

  it('is as before where each is its own mailbox', async () => {
    expect(await listed(CHANNEL)).toMatch(/STATUS +OWNER +MAKER/);
  });
});

describe('svc whoami', () => {
  it('says what the key is limited to', async () => {
    const answer = {
      project: { id: 'prj_1', slug: 'shop', name: 'shop' },
      key: LIMITED,
      scopes: ['disk'],
      agent: { label: null, platform: 'unknown', source: 'none' },
      urls: { api: 'a', mcp: 'm', hooks: 'h' },
      server: { version: '1', channels: [] },
    };
    expect(await printed(answer, 'whoami')).toMatch(/^Disk +only team-a\/, x$/m);
  });
});
