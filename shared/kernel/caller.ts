import type { AgentIdentity, Caller } from './context.ts';
import { invalid } from '../lib/errors.ts';
import { IDEMPOTENCY_KEY_MAX_CHARS } from '../lib/limits.ts';
import { cutUtf8 } from '../lib/text.ts';

const AGENT_MAX_BYTES = 100;
const CONTROL = /\p{Cc}/gu;

/** What a call says about its agent. */
interface Claims {
  readonly agentHeader: string | undefined;
  readonly userAgent: string | undefined;
  readonly clientName?: string | undefined;
}

/**
 * Who the agent says it is. The call itself comes first: its header, then its MCP client. A key's session_hello may
 * have been another agent's, and the user agent often only names a library.
 */
export function identifyAgent(
  claims: Claims,
  session: { readonly agent: string; readonly platform: string } | null,
): AgentIdentity {
  if (claims.agentHeader) {
    return { label: label(claims.agentHeader), platform: 'unknown', source: 'header' };
  }
  if (claims.clientName) return mcpClient(claims.clientName);
  if (session) return { label: session.agent, platform: session.platform, source: 'hello' };
  const platform = platformOf(claims.userAgent ?? '');
  if (platform === 'unknown') return { label: null, platform, source: 'none' };
  return { label: platform, platform, source: 'user_agent' };
}

/** Adds what only MCP knows about a call: its client's name and an idempotency key. The call's headers win. */
export function withMcpClient<C extends Caller>(
  caller: C,
  clientName: string | undefined,
  idempotencyKey: string | undefined,
): C {
  const isNamed = caller.agent.source === 'header' || clientName === undefined;
  return {
    ...caller,
    ...(!isNamed && { agent: mcpClient(clientName) }),
    idempotencyKey: caller.idempotencyKey ?? checkedIdempotencyKey(idempotencyKey),
  };
}

function mcpClient(name: string): AgentIdentity {
  return { label: label(name), platform: platformOf(name), source: 'mcp_client_info' };
}

function platformOf(name: string): string {
  const lower = name.toLowerCase();
  if (lower.includes('claude')) return 'claude-code';
  if (lower.includes('codex')) return 'codex';
  return 'unknown';
}

/** A label as the ledger keeps it: short and on one line. */
function label(text: string): string {
  return cutUtf8(text.replaceAll(CONTROL, ' ').toWellFormed(), AGENT_MAX_BYTES);
}

/** Returns a valid Idempotency-Key; throws VALIDATION_FAILED otherwise. */
export function checkedIdempotencyKey(key: string | undefined): string | null {
  if (key === undefined) return null;
  if (key.length === 0 || key.length > IDEMPOTENCY_KEY_MAX_CHARS || /[^\x20-\x7e]/.test(key)) {
    throw invalid({
      path: 'Idempotency-Key',
      message: `Expected 1 to ${IDEMPOTENCY_KEY_MAX_CHARS} printable ASCII characters.`,
    });
  }
  return key;
}
