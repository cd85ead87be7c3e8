import { afterEach, describe, expect, it } from 'vitest';
import { WEB_PAGES } from '../../cli/commands/open.ts';
import { run } from '../../cli/run.ts';
import { UI_PAGES } from '../../gateway/web/inbox/pages.ts';
import { FakeDaemon, json } from './fake-daemon.ts';
import { TextSink } from './fake-output.ts';

const LINK = { url: 'http://127.0.0.1:4780/ui/open/abc', expires_at: '2026-01-01T00:00:00.000Z' };

const daemons: FakeDaemon[] = [];
afterEach(() => {
  for (const daemon of daemons.splice(0)) daemon.close();
});

/** What `svc open` asks for, and how it ends. */
async function open(page: string) {
  const daemon = new FakeDaemon((_, response) => json(response, LINK, 201));
  daemons.push(daemon);
  await daemon.listen();
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const around = { env: daemon.env, stdout, stderr, signal: new AbortController().signal };
  const code = await run(['open', page, '--print'], around);
  const asked = daemon.seen.map(({ body }) => body).filter((body) => body !== '');
  return { code, out: stdout.text, err: stderr.text, asked };
}

describe('svc open', () => {
  it('knows every page of the web inbox', () => {
    const paths = UI_PAGES.map(({ path }) => path);
    expect(WEB_PAGES.toSorted()).toEqual(paths.toSorted());
  });

  it.each([
    ['usage', 'usage'],
    ['sources/github', 'sources/github'],
    ['req_01j9', 'requests/req_01j9'],
    ['evt_01j9', 'events/evt_01j9'],
    ['bat_01j9', 'mail/bat_01j9'],
    ['rte_01j9', 'routes/rte_01j9'],
    ['chn_01j9', 'channels/chn_01j9'],
    ['key_01j9', 'keys/key_01j9'],
  ])('%s leads to %s', async (typed, page) => {
    const { code, asked } = await open(typed);
    expect([code, asked]).toEqual([0, [JSON.stringify({ page })]]);
  });

  it.each([
    ['nonsense', 'No page "nonsense".\n'],
    ['request', 'No page "request". Did you mean "requests"?\n'],
    ['evens', 'No page "evens". Did you mean "events"?\n'],
    ['msg_01j9', 'No page "msg_01j9".\n'],
    ['constructor_x', 'No page "constructor_x".\n'],
    ['../v1', 'No page "../v1".\n'],
    ['events/a/b', 'No page "events/a/b".'],
    ['', 'No page "".\n'],
  ])('%j is refused, and no link is made', async (typed, message) => {
    const { code, out, err, asked } = await open(typed);
    expect([code, out, asked]).toEqual([2, '', []]);
    expect(err).toContain(`USAGE: ${message}`);
    expect(err).toContain('Pages: overview, requests, events, disk,');
  });
});
