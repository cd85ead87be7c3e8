import { randomUUID } from 'node:crypto';
import type { Stage } from './stage.ts';

/** Large enough that it isn't sent within an answer. */
export const BIG = 'x'.repeat(1_500_000);

interface Sent {
  readonly batch_id: string;
  readonly request_id: string;
}

export function sendMail(stage: Stage, key: string): Promise<Sent> {
  return stage.made<Sent>(key, 'POST', '/v1/emails', {
    to: ['victim@example.com'],
    subject: `Your invoice ${randomUUID()}`,
    text: 'Pay here.',
    reply_to_inbox: false,
    wait_seconds: 0,
  });
}

export async function isCancelled(stage: Stage, id: string): Promise<boolean> {
  const { status } = await stage.made<{ status: string }>(
    stage.ownerKey,
    'GET',
    `/v1/emails/${id}`,
  );
  return status === 'cancelled';
}

export async function put(stage: Stage, key: string, path: string, text: string): Promise<void> {
  await fetch(`${stage.gateway.url}/v1/files/${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'text/plain' },
    body: text,
  });
}

const UPLOAD_TYPE = 'application/vnd.service.upload+json';

export async function openUpload(stage: Stage, key: string, path: string) {
  const order = (body: unknown) =>
    fetch(`${stage.gateway.url}/v1/files/${path}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': UPLOAD_TYPE },
      body: JSON.stringify(body),
    });
  const answer = await order({ upload: { size: BIG.length, content_type: 'text/plain' } });
  const { upload_url: url, upload_id } = (await answer.json()) as Record<string, string>;
  if (!url) throw new Error('There is no upload.');
  return { url, complete: () => order({ complete: upload_id }) };
}

export function send(url: string): Promise<Response> {
  return fetch(url, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: BIG });
}

export async function upload(stage: Stage, key: string, path: string): Promise<void> {
  const { url, complete } = await openUpload(stage, key, path);
  await send(url);
  if ((await complete()).status !== 200) throw new Error('The upload failed.');
}
