import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ProjectCopy } from '../../../gateway/admin/backup/project-copy.ts';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';

it('a ledger that grows while it is checked is not damaged', async () => {
  const root = temporaryFolder();
  const gateway = await TestGateway.start({ folder: root.path });
  const { projectId: id } = gateway;
  const copy = ProjectCopy.ofFile(join(root.path, 'projects', id, 'project.db'), id);
  const { ledger } = await copy.position();
  await gateway.call('PUT', '/v1/kv/a', { body: 1 });
  expect(await copy.chainProblem(ledger)).toBeNull();
  expect(await copy.ledgerProblem(ledger)).toBe(`its ledger goes on after seq ${ledger?.seq}`);
  await copy.close();
  await gateway.stop({ keepFolder: true });
  root.remove();
});
