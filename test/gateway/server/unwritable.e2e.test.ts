import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { BOUND_UID, giveToBound, setWritable } from '../../helpers/other-user.ts';
import { Hosted } from './hosted.ts';

let folder: ReturnType<typeof temporaryFolder>;
let data: string;
let running: Hosted | null = null;
beforeEach(() => {
  folder = temporaryFolder();
  giveToBound(folder.path);
  data = join(folder.path, 'data');
});
afterEach(async () => {
  await running?.end('SIGKILL');
  running = null;
  setWritable(folder.path, true);
  folder.remove();
});

const settings = () => ({ SVC_DATA: data, SVC_LISTEN: '127.0.0.1:0' });

async function start() {
  const hosted = await Hosted.start(settings(), BOUND_UID);
  running = hosted;
  return hosted;
}

describe('a gateway whose data folder cannot be written', () => {
  it('does not start, and says what to do', async () => {
    await (await start()).end();
    setWritable(data, false);
    const { code, err } = await Hosted.refused(settings(), undefined, BOUND_UID);
    expect(code).toBe(1);
    expect(err).toContain(
      `SVC_DATA: ${data} can't be written: this user may only read it (EACCES).`,
    );
    expect(err).toContain(`chmod -R u+w ${data}`);
    setWritable(data, true);
    await start();
  });

  it('is not ready, and names the place', async () => {
    const { status } = await start();
    setWritable(data, false);
    const answer = await fetch(`${status.base_url}/readyz`);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({
      status: 'not_ready',
      checks: {
        stores: 'open',
        disk: `not writable: EACCES: ${data} can't be written: this user may only read it`,
      },
    });
  });
});
