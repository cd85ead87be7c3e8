import { expect, it } from 'vitest';
import type { WriteTx } from '../../shared/store/engine/driver.ts';
import { RemoteDatabase } from '../helpers/remote-database.ts';

it('a write does not wait for ever on a server that takes requests and says nothing', async () => {
  const remote = await RemoteDatabase.start();
  const writer = await remote.writer();
  remote.server.faults.pause();
  const write = writer.write((tx: WriteTx) => tx.put("INSERT INTO item VALUES ('a', 1)"));
  await expect(write).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    cause: { code: 'UND_ERR_HEADERS_TIMEOUT' },
  });
  await remote.remove();
});
