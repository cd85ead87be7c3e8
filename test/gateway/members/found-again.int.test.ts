import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { Connection } from '../../../shared/store/engine/connection.ts';
import { SIGN_UP_OPEN } from '../../../gateway/auth/sign-up.ts';
import { Person } from '../auth/sign-in/person.ts';

it('a member finds their project again although the gateway died before it noted them', async () => {
  const folder = temporaryFolder();
  const options = { folder: folder.path, signIn: true, signUp: SIGN_UP_OPEN };
  const first = await TestGateway.start(options);
  const { api_key: key, project } = await new Person(first, 'ana@example.com').project();
  await first.call('GET', '/v1/whoami', { key });
  await first.stop();
  const control = new Connection(join(folder.path, 'control.db'));
  control.exec('DELETE FROM membership; UPDATE project SET account_id = NULL');
  control.close();
  const second = await TestGateway.start(options);
  try {
    await second.call('GET', '/v1/inbox', { key });
    const ana = new Person(second, 'ana@example.com');
    const login = await ana.confirmed();
    await expect
      .poll(async () => (await ana.projects(login)).map(({ id }) => id), {
        interval: 2_100,
        timeout: 60_000,
      })
      .toContain(project.id);
  } finally {
    await second.stop();
    folder.remove();
  }
});
