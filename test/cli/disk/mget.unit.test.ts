import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../../cli/run.ts';
import { FakeDaemon, json } from '../fake-daemon.ts';
import { TextSink } from '../fake-output.ts';

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

async function printed(isTTY: boolean, items: unknown): Promise<string> {
  daemon = new FakeDaemon((_, response) => json(response, { items }));
  await daemon.listen();
  const [stdout, stderr] = [new TextSink(isTTY, 120), new TextSink()];
  const around = { env: { ...daemon.env, NO_COLOR: '1' }, stdout, stderr };
  const line = ['kv', 'mget', 'config', 'a,b'];
  expect(await run(line, { ...around, signal: new AbortController().signal })).toBe(0);
  return stdout.text;
}

describe('svc kv mget', () => {
  const config = {
    key: 'config',
    value: { region: 'eu-west' },
    expires_at: null,
    updated_at: '2026-01-02T10:00:00.000Z',
    version: 7,
  };

  it('shows the value of each key, and the names of those that are missing', async () => {
    const lines = (await printed(true, [config, null])).trim().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^KEY +VALUE +UPDATED +EXPIRES +VERSION$/);
    expect(lines[1]).toMatch(/^config +\{"region":"eu-west"\} +.* +– +7$/);
    expect(lines[2]).toMatch(/^a,b +– +– +– +–$/);
  });

  it('gives scripts the answer as it is', async () => {
    expect(JSON.parse(await printed(false, [config, null]))).toEqual({ items: [config, null] });
  });
});
