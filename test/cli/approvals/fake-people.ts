import type { ServerResponse } from 'node:http';
import { run } from '../../../cli/run.ts';
import { FakeDaemon, json, refuse, type Seen } from '../fake-daemon.ts';
import { TextSink } from '../fake-output.ts';

export type Json = Record<string, unknown>;

export const ID = 'req_01j9z3k4m5n6p7q8r9s0t1v2w3';
export const OWNER = 'chn_01j9z3k4m5n6p7q8r9s0t1v2w3';

/** What the call that asked answers. */
export function answer(fields: Json = {}): Json {
  return {
    request_id: ID,
    status: 'pending',
    decision: null,
    comment: null,
    hint: null,
    reason: null,
    decided_by: null,
    state_ref: null,
    expires_at: '2999-01-01T00:00:00.000Z',
    poll_after_seconds: null,
    ...fields,
  };
}

/** The record of a request. */
export function record(fields: Json = {}): Json {
  return {
    request_id: ID,
    kind: 'approval',
    status: 'pending',
    action: 'deploy',
    summary: 'Deploy v2',
    details: null,
    risk: 'medium',
    amount: null,
    question: null,
    options: [],
    decision: null,
    comment: null,
    hint: null,
    reason: null,
    decided_by: null,
    decided_at: null,
    created_at: '2026-01-02T11:59:00.000Z',
    expires_at: '2999-01-01T00:00:00.000Z',
    requested_by: { key_id: 'key_1', agent: 'billing-bot', platform: 'claude-code' },
    approvers: [OWNER],
    notified: [{ channel_id: OWNER, kind: 'email', status: 'sent', at: null }],
    policy_version: 0,
    rule: null,
    state_ref: null,
    callback_url: null,
    ...fields,
  };
}

type Route = (seen: Seen, response: ServerResponse) => unknown;

/** What the fakes of a daemon answer, by `METHOD path` without the query; a function may answer by itself. */
export type Routes = Readonly<Record<string, Route | Json | null>>;

const CHANNELS = { items: [{ id: OWNER, label: 'owner' }], next_cursor: null };

/** A daemon that answers so, with its messages in the outbox unless told otherwise. */
export async function answering(
  routes: Routes,
  mail: 'outbox' | 'smtp' = 'outbox',
): Promise<FakeDaemon> {
  const all: Routes = {
    'GET /v1/channels': CHANNELS,
    'GET /_daemon/status': { pid: 1, instance: 'i', uptime_seconds: 1, people: { mail } },
    'GET /v1/requests': { items: [], next_cursor: null },
    ...routes,
  };
  const daemon = new FakeDaemon((seen, response) => {
    const route = all[`${seen.method} ${seen.url.split('?')[0]}`];
    if (route === undefined) return refuse(response, 404, 'NOT_FOUND');
    const body = typeof route === 'function' ? route(seen, response) : route;
    if (body !== undefined) json(response, body);
  });
  await daemon.listen();
  return daemon;
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command, on a terminal or in a pipe. */
export async function svc(
  line: readonly string[],
  { env }: Pick<FakeDaemon, 'env'>,
  how: {
    readonly terminal?: boolean;
    readonly signal?: AbortSignal;
    readonly columns?: number;
  } = {},
): Promise<Ran> {
  const { terminal = false, signal = new AbortController().signal, columns = 100 } = how;
  const [stdout, stderr] = [new TextSink(terminal, columns), new TextSink()];
  const around = { env: { ...env, NO_COLOR: '1' }, stdout, stderr, signal };
  return { code: await run(line, around), stdout: stdout.text, stderr: stderr.text };
}
