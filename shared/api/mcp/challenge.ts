import {
  bearerAuthChallengeResponse,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
} from '@modelcontextprotocol/server';
import { AGENT_SCOPES, READING_SCOPES } from '../../lib/scopes.ts';

/**
 * The header of a 401 that tells a client where to sign a person in (RFC 9728, section 5.1). `target` is the path and
 * query of the request below `oauthUrl`, the address of MCP.
 */
export function challenge(oauthUrl: string, target: string): { 'WWW-Authenticate': string } {
  const { pathname, search } = new URL(target, oauthUrl);
  const tools = new URLSearchParams(search).get('tools');
  const readOnly = pathname.endsWith('/readonly');
  const resource = new URL(`${oauthUrl}${readOnly ? '/readonly' : ''}`);
  if (tools !== null) resource.searchParams.set('tools', tools);
  const { headers } = bearerAuthChallengeResponse(
    new OAuthError(OAuthErrorCode.InvalidToken, 'Missing or invalid access token.'),
    {
      requiredScopes: [...(readOnly ? READING_SCOPES : AGENT_SCOPES)],
      resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource),
    },
  );
  return { 'WWW-Authenticate': headers.get('WWW-Authenticate') ?? 'Bearer' };
}
