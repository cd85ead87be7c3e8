import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { tokensOf } from '../helpers/outbox.ts';
import { isTold } from './deciding.ts';
import type { World } from './scenario.ts';

/** The owner approves a request by the link of a letter, as a browser does; `folder` has the gateway's data below it. */
export async function approve(world: World, folder: string, requestId: string): Promise<void> {
  await world.until('request_status', { request_id: requestId }, isTold);
  for (const token of tokensBelow(folder).toReversed()) {
    const path = `/a/${token}`;
    const csrf = /name="csrf" value="([^"]*)"/.exec(await (await world.page(path)).text())?.[1];
    if (csrf === undefined) continue;
    await world.page(path, new URLSearchParams({ csrf, verb: 'approve' }));
    // The newest letter that can still be answered is ours; a copy hears of it a moment later.
    await world.until('request_status', { request_id: requestId }, isApproved);
    return;
  }
  throw new Error(`No letter asks about ${requestId}.`);
}

function isApproved({ status }: Readonly<Record<string, unknown>>): boolean {
  return status === 'approved';
}

/** Of the outboxes of several gateways, the one that was written last comes last. */
function tokensBelow(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  const found = entries.filter((entry) => entry.isDirectory() && entry.name === 'outbox');
  return found
    .map(({ parentPath, name }) => ({ parentPath, at: statSync(join(parentPath, name)).mtimeMs }))
    .toSorted((one, other) => one.at - other.at)
    .flatMap(({ parentPath }) => tokensOf(parentPath, 'a'));
}
