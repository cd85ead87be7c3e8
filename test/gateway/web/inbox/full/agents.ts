import { webhookKinds } from '../../../../../shared/senders/samples.ts';
import type { TestGateway } from '../../../../helpers/gateway.ts';

/** A program with a key of its own. */
export interface Agent {
  readonly name: string;
  readonly id: string;
  readonly key: string;
}

export async function newAgent(
  gateway: TestGateway,
  name: string,
  scopes: readonly string[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<Agent> {
  const { body } = await gateway.call<{ id: string; api_key: string }>('POST', '/v1/keys', {
    body: { name, scopes, ...more },
  });
  return { name, id: body.id, key: body.api_key };
}

/** What an agent does, by its own key and under its own name. Throws if it's refused. */
export async function as<T = Record<string, unknown>>(
  gateway: TestGateway,
  { key, name }: Agent,
  [method, path]: readonly [method: string, path: string],
  body?: unknown,
): Promise<T> {
  const headers = { 'x-service-agent': name };
  const answer = await gateway.call<T>(method, path, {
    key,
    headers,
    ...(body !== undefined && { body }),
  });
  if (answer.status >= 400) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Sends a delivery to a source as its sender would, signed, and answers the id of the event. */
export async function deliverTo(
  gateway: TestGateway,
  source: string,
  kind: string,
  change: (payload: Record<string, unknown>) => void = () => undefined,
): Promise<string> {
  const built = webhookKinds.find((one) => one.kind === kind)?.build();
  if (!built) throw new Error(`There is no sample ${kind}.`);
  change(built.payload as Record<string, unknown>);
  const text = JSON.stringify(built.payload);
  const { body: signed } = await gateway.call<{ url: string; headers: Record<string, string> }>(
    'POST',
    `/v1/sources/${source}/sign`,
    { body: { body_base64: Buffer.from(text).toString('base64') } },
  );
  const answer = await gateway.deliver(signed.url, text, { ...built.headers, ...signed.headers });
  return String(answer.body['event_id']);
}

/** Asks people for something, and answers the id of the request. */
export async function asks(
  gateway: TestGateway,
  agent: Agent,
  wanted: Readonly<Record<string, unknown>>,
): Promise<string> {
  const answer = await as<{ request_id: string }>(gateway, agent, ['POST', '/v1/requests'], {
    wait_seconds: 0,
    ...wanted,
  });
  return answer.request_id;
}

export async function claims(gateway: TestGateway, agent: Agent, event_id: string): Promise<void> {
  await as(gateway, agent, ['POST', '/v1/inbox/claim'], { event_id });
}
