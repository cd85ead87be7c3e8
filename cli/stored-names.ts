import type { Client } from './call/client.ts';

type NamesOf = (client: Client, signal: AbortSignal) => Promise<readonly string[]>;

/** Names that completion offers, by kind. */
export const STORED = {
  pending: eventsWith('pending'),
  claimed: eventsWith('claimed'),
  dead: eventsWith('dead'),
  sources: async ({ call }, signal) =>
    (await call('source_list', {}, { signal })).items.map(({ name }) => name),
  routes: async ({ call }, signal) =>
    (await call('route_list', {}, { signal })).items.map(({ id }) => id),
  requests: async ({ call }, signal) =>
    (await call('request_list', { limit: 50 }, { signal })).items.map((one) => one.request_id),
  channels: async ({ call }, signal) =>
    (await call('channel_list', {}, { signal })).items.map(({ id }) => id),
  keys: async ({ call }, signal) =>
    (await call('key_list', { limit: 100 }, { signal })).items.map(({ id }) => id),
  values: async ({ call }, signal) =>
    (await call('kv_list', { limit: 100 }, { signal })).items.map(({ key }) => key),
  files: async ({ call }, signal) =>
    (await call('file_list', { limit: 100 }, { signal })).items.map(({ path }) => path),
} as const satisfies Readonly<Record<string, NamesOf>>;

function eventsWith(status: 'pending' | 'claimed' | 'dead'): NamesOf {
  return async ({ call }, signal) =>
    (await call('inbox_list', { status, limit: 50 }, { signal })).items.map(({ id }) => id);
}

/** Where completion finds an argument's values: on this machine, from the server, or (`paths`) in the file system. */
export type CompletionSource = 'profiles' | 'paths' | keyof typeof STORED;

/** The kinds that `svc completion --values` lists. */
export const STORED_NAMES: readonly string[] = ['profiles', ...Object.keys(STORED)];

/** Which kind of stored name a field holds, in every operation. */
export const STORED_BY_FIELD: Readonly<Record<string, CompletionSource>> = {
  source: 'sources',
  match_source: 'sources',
  route_id: 'routes',
  request_id: 'requests',
  channel_id: 'channels',
  approvers: 'channels',
  key_id: 'keys',
  // Only useful for operations on existing ones; creating one takes any new name too.
  key: 'values',
  path: 'files',
};
