import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';

interface Answered {
  readonly upload_id: string;
  readonly upload_url: string;
  readonly upload_headers: Record<string, string>;
  readonly version: number;
}

let clock: FakeClock;
let gateway: TestGateway;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
});
afterEach(() => gateway.stop());

const NOT_FOUND = { status: 404, body: { error: { code: 'NOT_FOUND' } } };

const putFields = (path: string, body: unknown) =>
  gateway.call<Answered>('PUT', `/v1/files/${path}`, {
    body,
    headers: { 'content-type': 'application/vnd.service.upload+json' },
  });

const save = (path: string, text: string) =>
  gateway.call('PUT', `/v1/files/${path}`, { body: text });

/** An upload whose bytes are there: its id. */
async function sent(path: string): Promise<string> {
  const { body } = await putFields(path, { upload: { size: 5 } });
  const { upload_id, upload_url, upload_headers: headers } = body;
  const answer = await fetch(upload_url, { method: 'PUT', headers, body: '"abc"' });
  expect(answer.status).toBe(200);
  return upload_id;
}

describe('an upload that was completed', () => {
  it('answers its file again, as long as that is what it brought', async () => {
    const complete = await sent('a');
    const saved = await putFields('a', { complete, if_version: 0 });
    expect(saved).toMatchObject({ status: 200, body: { version: 1 } });
    clock.advance(3_600_000);
    for (const more of [{}, { if_version: 0 }]) {
      const again = await putFields('a', { complete, ...more });
      expect(again).toMatchObject({ status: 200, body: saved.body });
      expect(again.headers.get('etag')).toBe('"1"');
    }
    expect(await putFields('b', { complete })).toMatchObject(NOT_FOUND);
  });

  it.each([
    ['replaced by the same bytes', () => save('a', 'abc')],
    ['replaced by another upload', async () => putFields('a', { complete: await sent('a') })],
    ['deleted', () => gateway.call('DELETE', '/v1/files/a')],
  ])('is not found once its file was %s', async (_how, change) => {
    const complete = await sent('a');
    expect((await putFields('a', { complete })).status).toBe(200);
    await change();
    expect(await putFields('a', { complete })).toMatchObject(NOT_FOUND);
  });
});
