import type { TestGateway } from '../../../helpers/gateway.ts';

type PageName =
  | 'browsers'
  | 'channels'
  | 'disk'
  | 'events'
  | 'keys'
  | 'ledger'
  | 'mail'
  | 'outbox'
  | 'overview'
  | 'policy'
  | 'requests'
  | 'routes'
  | 'sessions'
  | 'settings'
  | 'sources'
  | 'usage';

/** The path of a page of the web inbox, or of one thing on it. */
export async function placeOf(gateway: TestGateway, page: PageName, id?: string): Promise<string> {
  const project = await gateway.gateway.projects.find(gateway.projectId);
  const base = `/ui/p/${project?.info.slug}/${page}`;
  return id === undefined ? base : `${base}/${id}`;
}

/** Claims an event, and answers its lease. */
export async function claim(gateway: TestGateway, event_id: string): Promise<string> {
  const { body } = await gateway.call<{ lease_id: string }>('POST', '/v1/inbox/claim', {
    body: { event_id },
  });
  return body.lease_id;
}

/** Gives an event up, as an agent does that cannot do it. */
export async function giveUp(
  gateway: TestGateway,
  event_id: string,
  reason: string,
): Promise<void> {
  await claim(gateway, event_id);
  await gateway.call('POST', '/v1/inbox/nack', { body: { event_id, reason, retry: false } });
}
