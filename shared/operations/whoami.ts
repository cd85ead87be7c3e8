import * as z from 'zod';
import { defineOperation } from '../kernel/operation.ts';
import { SCOPES } from '../lib/scopes.ts';

export const whoami = defineOperation({
  name: 'whoami',
  summary: "Show this call's project, key and agent.",
  description: "Includes the key's scopes and the public addresses.",
  scope: 'any',
  input: z.strictObject({}),
  output: z.object({
    project: z.object({ id: z.string(), slug: z.string(), name: z.string() }),
    key: z.object({
      id: z.string(),
      name: z.string(),
      scopes: z.array(z.enum(SCOPES)),
      disk_prefixes: z.array(z.string()).nullable(),
      expires_at: z.string().nullable(),
    }),
    scopes: z.array(z.enum(SCOPES)),
    agent: z.object({
      label: z.string().nullable(),
      platform: z.string(),
      source: z.enum(['header', 'hello', 'mcp_client_info', 'user_agent', 'none']),
    }),
    urls: z.object({ api: z.string(), mcp: z.string(), hooks: z.string() }),
    server: z.object({ version: z.string(), channels: z.array(z.string()) }),
  }),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/whoami' },
  mcp: { title: 'Who am I' },
  cli: { usage: 'whoami', examples: ['whoami', 'whoami --json'] },
  example: {},
}).read(async ({ caller, project, server, store }) => {
  const key = await store.keys.find(caller.keyId);
  return {
    project,
    key: {
      id: caller.keyId,
      name: key?.name ?? '',
      scopes: [...caller.scopes],
      disk_prefixes: caller.diskPrefixes && [...caller.diskPrefixes],
      expires_at: key?.expires_at ?? null,
    },
    scopes: [...caller.scopes],
    agent: caller.agent,
    urls: server.urls,
    server: { version: server.version, channels: [...server.channels] },
  };
});
