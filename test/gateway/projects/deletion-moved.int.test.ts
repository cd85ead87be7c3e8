import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';

let root: ReturnType<typeof temporaryFolder>;
let gateway: TestGateway;
let name: string;

/** Where all gateways of a team keep files. */
const shared = () => join(root.path, 'shared');
const folderIn = (folder: string) => join(folder, 'projects', name);

beforeEach(async () => {
  root = temporaryFolder();
  gateway = await TestGateway.start({
    folder: join(root.path, 'data'),
    blobs: { kind: 'file', folder: shared() },
  });
  name = gateway.projectId;
  await fetch(`${gateway.url}/v1/files/big`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'image/png' },
    body: Buffer.alloc(400_000, 1),
  });
});
afterEach(async () => {
  await gateway.stop();
  root.remove();
});

it.each([['https://svc.example.com'], [null]])(
  'a project that has moved to %s leaves its shared files to the gateway that has it now',
  async (to) => {
    const { operator } = gateway.gateway;
    expect(existsSync(folderIn(shared()))).toBe(true);
    await operator.moves.hold(name);
    await operator.moves.leave(name, { to, receipt: null });
    await operator.deleteProject(name);
    expect(existsSync(folderIn(gateway.folder))).toBe(false);
    expect(existsSync(folderIn(shared()))).toBe(true);
  },
);

it('a project that is here takes its shared files along', async () => {
  await gateway.gateway.operator.deleteProject(name);
  expect(existsSync(folderIn(shared()))).toBe(false);
});
