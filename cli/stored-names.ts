/** Names that completion offers, by kind: the call that lists them and the field to type. */
export const STORED = {
  pending: { path: '/v1/inbox?status=pending&limit=50', field: 'id' },
  claimed: { path: '/v1/inbox?status=claimed&limit=50', field: 'id' },
  dead: { path: '/v1/inbox?status=dead&limit=50', field: 'id' },
  sources: { path: '/v1/sources', field: 'name' },
  routes: { path: '/v1/routes', field: 'id' },
  requests: { path: '/v1/requests?limit=50', field: 'request_id' },
  channels: { path: '/v1/channels', field: 'id' },
  keys: { path: '/v1/keys?limit=100', field: 'id' },
  values: { path: '/v1/kv?limit=100', field: 'key' },
  files: { path: '/v1/files?limit=100', field: 'path' },
} as const;

/** Where completion finds an argument's values: on this machine, from the server, or (`paths`) in the file system. */
export type Stored = 'profiles' | 'paths' | keyof typeof STORED;

/** The kinds that `svc completion --values` lists. */
export const STORED_NAMES: readonly string[] = ['profiles', ...Object.keys(STORED)];

/** Which kind of stored name a field holds, in every operation. */
export const STORED_BY_FIELD: Readonly<Record<string, Stored>> = {
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
