import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { label } from '../fields.ts';

const PLATFORMS = ['claude-code', 'codex', 'agentforce', 'polyant', 'custom', 'unknown'];

export const sessionHello = defineOperation({
  name: 'session_hello',
  summary: 'Name the agent using this key.',
  description:
    "Records the session in the ledger. For 12 hours, calls that don't name an agent count as this one's. Call it once per session, unless your client already sends the X-Service-Agent header or its name over MCP.",
  scope: 'any',
  input: z.strictObject({
    agent: label(100).describe("The agent's label, such as `billing-bot`."),
    platform: z
      .string()
      .transform((name) => (PLATFORMS.includes(name) ? name : 'custom'))
      .describe(
        `One of ${PLATFORMS.map((name) => `\`${name}\``).join(', ')}; anything else is stored as \`custom\`.`,
      ),
  }),
  output: z.object({
    agent: z.string().describe('As given.'),
    platform: z.string().describe('One of the known platforms, otherwise `custom`.'),
    started_at: z.string().describe('When the session began.'),
  }),
  errors: [],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/session/hello' },
  mcp: { title: 'Start a session', idempotent: true },
  cli: {
    usage: 'session hello',
    examples: ['session hello --agent billing-bot --platform claude-code'],
  },
  agent: ({ agent, platform }) => ({ agent, platform }),
  example: { agent: 'billing-bot', platform: 'claude-code' },
}).write({
  commit: async ({ caller, store, now, emit }, input) => {
    const { agent, platform } = input;
    const started_at = isoTime(now);
    await store.keys.hello(caller.keyId, { agent, platform, at: started_at });
    emit({ kind: 'keys_changed' });
    return { agent, platform, started_at };
  },
});
