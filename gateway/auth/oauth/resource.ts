import { isWhole } from '../../../shared/kernel/mcp-address.ts';
import { READING_SCOPES, SCOPES, type Scope } from '../../../shared/lib/scopes.ts';
import { parsedUrl } from '../../../shared/lib/urls.ts';

const CHARS_MAX = 1000;

/** An MCP address of this gateway, for which a client wants tokens (RFC 8707). */
export interface Resource {
  /** In one canonical form. */
  readonly url: string;
  /** The scopes that make sense there. */
  readonly scopes: readonly Scope[];
  /** Its tokens are good everywhere; those of an address with fewer tools are good only there. */
  readonly isWhole: boolean;
}

/** Reads `/mcp`, `/mcp/readonly`, and either with `?tools=`. Null for any other address. */
export function resourceOf(text: string, mcpUrl: string): Resource | null {
  const asked = text.length > CHARS_MAX || text.includes('#') ? null : parsedUrl(text);
  if (!asked) return null;
  const own = new URL(mcpUrl);
  const path = asked.pathname.replace(/\/$/, '');
  const readOnly = path === `${own.pathname}/readonly`;
  const isOurs = asked.origin === own.origin && asked.username === '' && asked.password === '';
  if (!isOurs || !(readOnly || path === own.pathname)) return null;
  if ([...asked.searchParams.keys()].some((name) => name !== 'tools')) return null;
  const url = `${own.origin}${path}${asked.search}`;
  const address = { tools: asked.searchParams.get('tools') ?? undefined, readOnly };
  return { url, scopes: readOnly ? READING_SCOPES : SCOPES, isWhole: isWhole(address) };
}
