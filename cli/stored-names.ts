/** Names that completion offers, by what they are of, with the call that lists them and the field that is typed. */
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

/** Where completion finds the values of an argument: at this machine, at the daemon, or (`paths`) in the folders of the shell. */
export type Stored = 'profiles' | 'paths' | keyof typeof STORED;

/** What `svc completion --values` lists. */
export const STORED_NAMES: readonly string[] = ['profiles', ...Object.keys(STORED)];

/** Of which stored names the value of a field is one, in any operation. */
export const STORED_BY_FIELD: Readonly<Record<string, Stored>> = {
  source: 'sources',
  match_source: 'sources',
  route_id: 'routes',
  request_id: 'requests',
  channel_id: 'channels',
  approvers: 'channels',
  key_id: 'keys',
  // Of operations that name what is there; those that make it take any other name, too.
  key: 'values',
  path: 'files',
};
