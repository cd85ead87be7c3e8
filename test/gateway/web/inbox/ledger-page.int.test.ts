import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVICE } from '../../../../shared/rules/actor.ts';
import type { Connection } from '../../../../shared/store/engine/connection.ts';
import { withRawDatabase } from '../../../helpers/database.ts';
import { FakeClock, temporaryFolder, TestGateway } from '../../../helpers/gateway.ts';
import { writerOf } from '../../../helpers/writers.ts';
import { escaped } from './hostile-words.ts';
import { placeOf } from './places.ts';
import { WebVisitor } from './web-visitor.ts';

const AGENT = `<script>document.title='owned'</script>`;

const clock = new FakeClock();
let gateway: TestGateway;
let visitor: WebVisitor;
let page: string;

beforeAll(async () => {
  gateway = await TestGateway.start({ clock });
  for (let at = 0; at < 55; at += 1) {
    const headers = { 'x-service-agent': at === 50 ? AGENT : 'bot' };
    await gateway.call('PUT', `/v1/kv/k${at}`, { body: at, headers });
  }
  const event_id = 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3';
  await gateway.call('POST', '/v1/inbox/ack', { body: { event_id } });
  visitor = await WebVisitor.withKey(gateway);
  page = await placeOf(gateway, 'ledger');
});
afterAll(() => gateway.stop());

async function head(of = gateway): Promise<{ seq: number; hash: string }> {
  const { body } = await of.call<{ head: { seq: number; hash: string } }>(
    'POST',
    '/v1/ledger/verify',
    { body: {} },
  );
  return body.head;
}

describe('the ledger', () => {
  it('is shown newest first, page by page', async () => {
    const { html } = await visitor.get(page);
    const seqs = [...html.matchAll(/class="seq soft">#(\d+)</g)].map(([, seq]) => Number(seq));
    const newest = (await head()).seq;
    expect(seqs).toEqual(Array.from({ length: 50 }, (_, at) => newest - at));
    expect(html).toContain('NOT_FOUND');
    expect(html).toContain(escaped(AGENT));
    const older = /href="([^"]*cursor[^"]*)"/.exec(html)?.[1] ?? '';
    expect((await visitor.get(page + older)).html).toContain(`#${newest - 50}<`);
    expect((await visitor.get(`${page}?cursor=junk`)).status).toBe(404);
  });

  it.each([
    ['op=inbox_ack', 1],
    ['op=+kv_set+&subject=k7', 1],
    ['agent=bot&subject=k50', 0],
    ['since=2026-01-02&until=2026-01-02&subject=k7', 1],
    ['since=2026-01-03', 0],
    ['until=2026-01-01', 0],
    ['op=', 50],
  ])('is narrowed down: %s', async (query, count) => {
    const { status, html } = await visitor.get(`${page}?${query}`);
    expect(status).toBe(200);
    expect(html.match(/data-row/g) ?? []).toHaveLength(count);
  });

  it.each([
    [`op=${'W'.repeat(3000)}`, 'op'],
    ['agent=a%07b', 'agent'],
    ['since=yesterday', 'since'],
    ['until=2026-13-01', 'until'],
  ])('says beside its field what cannot be looked for: %s', async (query, field) => {
    const { status, html } = await visitor.get(`${page}?${query}`);
    expect(status).toBe(400);
    expect(html).toMatch(new RegExp(`id="field-${field}"[^>]*aria-invalid="true"`));
  });

  it('has a page for each entry', async () => {
    const { seq, hash } = await head();
    const { html } = await visitor.get(`${page}/${seq}`);
    expect(html).toContain(hash);
    expect(html).toContain('inbox_ack');
    expect(html).toContain('Previous entry');
    expect(html).not.toContain('Next entry');
    expect((await visitor.get(`${page}/${seq - 1}`)).html).toContain('Next entry');
    for (const id of [String(seq + 1), '0', '-1', '1e3', 'nonsense', '9'.repeat(30)]) {
      expect([id, (await visitor.get(`${page}/${id}`)).status]).toEqual([id, 404]);
    }
  });

  it('is not for a key without its scope', async () => {
    const small = await WebVisitor.withKey(gateway, await gateway.key('disk'));
    expect((await small.get(page)).status).toBe(404);
    expect((await small.get(`${page}/1`)).status).toBe(404);
  });
});

describe('a look at the whole chain', () => {
  it('says that it holds, and what its head is', async () => {
    const { seq, hash } = await head();
    await visitor.get(page);
    const { status, location } = await visitor.post(page);
    expect([status, location?.startsWith(`${page}/verify?told=`)]).toEqual([303, true]);
    const { html } = await visitor.get(location ?? '');
    expect(html).toContain('Ledger intact');
    expect(html).toContain(`${seq} entries`);
    expect(html).toContain(`value="${hash}"`);
    expect(html).toContain('tamper-evident, not tamper-proof');
  });

  it('is made up by nobody', async () => {
    const { html } = await visitor.get(`${page}/verify?told=bm9uc2Vuc2U`);
    expect(html).toContain('Verify all entries');
    expect(html).not.toContain('Ledger intact');
  });

  const edit = "UPDATE ledger SET subject = 'k0' WHERE seq = 20";
  const remove = 'DELETE FROM ledger WHERE seq = 20';
  it.each([
    [edit, 'hash_mismatch', true],
    [remove, 'seq_gap', false],
  ])('says loudly where it does not: %s', async (sql, reason, isThere) => {
    const original = temporaryFolder();
    const folder = temporaryFolder();
    const before = await TestGateway.start({ clock, folder: original.path });
    const { apiKey, projectId } = before;
    for (let at = 0; at < 25; at += 1) await before.call('PUT', `/v1/kv/k${at}`, { body: at });
    await before.stop();
    cpSync(original.path, folder.path, { recursive: true });
    const file = join(folder.path, 'projects', projectId, 'project.db');
    withRawDatabase(file, (raw: Connection) => void raw.run(sql));
    const projectOf = { apiKey, projectId };
    const spoilt = await TestGateway.start({ clock, folder: folder.path, projectOf });
    const looking = await WebVisitor.withKey(spoilt);
    const path = await placeOf(spoilt, 'ledger');
    await looking.get(path);
    const { location } = await looking.post(path);
    const { html } = await looking.get(location ?? '');
    expect(html).toContain('The ledger was tampered with');
    expect(html).toContain('Entry 20 doesn’t match.');
    expect(html).toContain(reason);
    expect(html.includes(`${path}/20"`)).toBe(isThere);
    expect(html).not.toContain('Ledger intact');
    await spoilt.stop();
    original.remove();
    folder.remove();
  });

  it('goes on range by range where the ledger is long', async () => {
    const long = await TestGateway.start({ clock });
    const project = await long.gateway.projects.find(long.projectId);
    if (!project) throw new Error('no project');
    const ledgerWriter = await project.ledgerWriter();
    for (let round = 0; round < 21; round += 1) {
      await writerOf(project).write(async (store) => {
        for (let n = 0; n < 1000; n += 1) {
          await ledgerWriter.record(
            store,
            { actor: SERVICE, op: 'test.filled', subject: `n${n}` },
            clock.now(),
          );
        }
      });
    }
    const looking = await WebVisitor.withKey(long);
    const path = await placeOf(long, 'ledger');
    await looking.get(path);
    const { location } = await looking.post(path);
    const { html } = await looking.get(location ?? '');
    expect(html).toContain('data-send');
    expect(html).toMatch(/20\u202f000 of 21\u202f\d{3} entries checked so far/);
    const on = await looking.post(location ?? '');
    expect((await looking.get(on.location ?? '')).html).toContain('Ledger intact');
    await long.stop();
  });
});
