import type { Choice } from '../../shared/rules/requests/request-state.ts';
import type { TestGateway } from '../helpers/gateway.ts';
import { tokensOf } from '../helpers/outbox.ts';
import type { World } from './scenario.ts';

/** Whether the letters about a request have gone out. They go by themselves. */
export function isTold({ notified }: Readonly<Record<string, unknown>>): boolean {
  return (notified as { status: string }[]).every(({ status }) => status !== 'queued');
}

/** The token of the link that asks the owner. */
export async function askingToken(
  { gateway, folder }: TestGateway,
  world: World,
  request_id: string,
): Promise<string> {
  await world.until('request_status', { request_id }, isTold);
  for (const token of tokensOf(folder, 'a')) {
    const opened = await gateway.approvals.open(token);
    if (opened?.request.id === request_id) return token;
  }
  throw new Error(`No letter asks about ${request_id}.`);
}

/** The owner decides by the link of a letter. */
export async function decide(
  test: TestGateway,
  world: World,
  request_id: string,
  choice: Choice,
): Promise<void> {
  const token = await askingToken(test, world, request_id);
  const decided = await test.gateway.approvals.decide(token, choice);
  if (decided?.outcome !== 'taken') throw new Error(`Not taken: ${JSON.stringify(decided)}`);
}
