import { oauthMetadataResponse, type AuthMetadataOptions } from '@modelcontextprotocol/server';
import type { ServerInfo } from '../../../shared/kernel/context.ts';
import { SCOPES } from '../../../shared/lib/scopes.ts';
import { resourceOf } from './resource.ts';
import { parsedUrl } from '../../../shared/lib/urls.ts';

const RESOURCE_PATH = '/.well-known/oauth-protected-resource';

/**
 * The discovery documents: the gateway as a protected resource (RFC 9728), one for each address of MCP, and as an
 * authorization server (RFC 8414). Undefined for any other URL.
 */
export function metadataAt(
  target: string,
  { urls }: Pick<ServerInfo, 'urls'>,
): Response | undefined {
  const asked = parsedUrl(target, urls.api);
  if (!asked) return undefined;
  const { pathname, search } = asked;
  // Clients that don't know about paths ask at the root.
  const path = pathname === RESOURCE_PATH ? `${RESOURCE_PATH}/mcp` : pathname;
  const named = path.startsWith(RESOURCE_PATH) ? path.slice(RESOURCE_PATH.length) + search : '/mcp';
  const wanted = parsedUrl(named, urls.mcp);
  const resource = wanted && resourceOf(wanted.href, urls.mcp);
  if (resource === null) return undefined;
  return oauthMetadataResponse(new Request(new URL(path, urls.api)), {
    oauthMetadata: serverMetadata(urls.api),
    resourceServerUrl: new URL(resource.url),
    scopesSupported: [...resource.scopes],
    resourceName: 'svc',
  });
}

function serverMetadata(issuer: string): AuthMetadataOptions['oauthMetadata'] {
  return {
    issuer,
    // A page of the web inbox, whose session says who grants access.
    authorization_endpoint: `${issuer}/ui/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    scopes_supported: [...SCOPES],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  };
}
