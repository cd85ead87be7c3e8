import * as z from 'zod';
import { defineOperation } from '../kernel/operation.ts';
import { SCOPES } from '../lib/scopes.ts';

/** Addresses of a server. */
export const serverUrls = {
  api: z.string().describe('Base of REST.'),
  mcp: z.string().describe('The MCP endpoint.'),
  hooks: z.string().describe('Base of webhook addresses.'),
};

/** Whether a server sends mail. */
export const mailState = z
  .enum(['sent', 'kept'])
  .describe('`kept`: no mail server is set, so mail stays on this server.');

export const whoami = defineOperation({
  name: 'whoami',
  summary: "Show this call's project, key and agent.",
  description: "Includes the key's scopes and the public addresses.",
  scope: 'any',
  input: z.strictObject({}),
  output: z.object({
    project: z
      .object({
        id: z.string().describe('`prj_…`.'),
        slug: z.string().describe('Its name in addresses.'),
        name: z.string().describe('What people call it.'),
      })
      .describe('The project of the key.'),
    key: z
      .object({
        id: z.string().describe('`key_…`.'),
        name: z.string().describe('What people call it.'),
        scopes: z.array(z.enum(SCOPES)).describe('What it may do.'),
        disk_prefixes: z
          .array(z.string())
          .nullable()
          .describe('The only names on the disk that it may use start with these. Null: all.'),
        expires_at: z.string().nullable().describe('When it ends; null means never.'),
      })
      .describe('The key of this call.'),
    scopes: z.array(z.enum(SCOPES)).describe('What this call may do.'),
    agent: z
      .object({
        label: z.string().nullable().describe('As it calls itself; a claim, not proof.'),
        platform: z.string().describe("The agent's platform."),
        source: z
          .enum(['header', 'hello', 'mcp_client_info', 'user_agent', 'none'])
          .describe('Where the name comes from.'),
      })
      .describe('The agent of this call.'),
    urls: z.object(serverUrls).describe('Addresses of this server.'),
    server: z
      .object({
        version: z.string().describe('Its version.'),
        channels: z.array(z.string()).describe('How people can be reached.'),
        mail: mailState,
      })
      .describe('This server.'),
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
    server: {
      version: server.version,
      channels: [...server.channels],
      mail: server.mail.isKept ? 'kept' : 'sent',
    },
  };
});
