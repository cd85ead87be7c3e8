import { hash } from 'node:crypto';
import { OAuthErrorCode } from '@modelcontextprotocol/server';
import type { Clock } from '../../../shared/lib/clock.ts';
import { newId, newSecret, newToken } from '../../../shared/lib/ids.ts';
import { SCOPES, type Scope } from '../../../shared/lib/scopes.ts';
import type { ConsentOutcome } from '../../commit/commands/access/oauth.ts';
import type { Project } from '../../projects/project.ts';
import type { OAuthClient } from './client-metadata.ts';
import type { Clients } from './clients.ts';
import { isRegistered, withParameters } from './redirect-uri.ts';
import { resourceOf, type Resource } from './resource.ts';

/** A request for access that a person may grant. */
export interface AuthorizationRequest {
  readonly client: OAuthClient;
  /** Where the code goes. */
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly resource: Resource;
  /** The scopes that the client may get. */
  readonly scopes: readonly Scope[];
  readonly codeChallenge: string;
}

/** What to do with a request: ask the person, or tell them what's wrong, perhaps with the address that tells the client. */
export type AuthorizationVerdict =
  | { readonly kind: 'ask'; readonly asked: AuthorizationRequest }
  | { readonly kind: 'back'; readonly to: string; readonly reason: string }
  | { readonly kind: 'stop'; readonly reason: string };

/** What the person granted. */
export interface AccessGrant {
  readonly project: Project;
  readonly scopes: readonly Scope[];
  /** From now. */
  readonly lifetimeMs: number;
  /** The person, as the project's member. */
  readonly memberId: string;
}

type Back = Pick<AuthorizationRequest, 'redirectUri' | 'state'>;

interface AuthorizationDeps {
  readonly clients: Clients;
  readonly clock: Clock;
  readonly issuer: string;
  readonly mcpUrl: string;
}

const STATE_CHARS_MAX = 2000;
const CHALLENGE = /^[\w-]{43}$/;

/** The authorization endpoint (RFC 6749, section 4.1, with PKCE, RFC 8707 and RFC 9207), without its pages. */
export class Authorization {
  readonly #deps: AuthorizationDeps;

  constructor(deps: AuthorizationDeps) {
    this.#deps = deps;
  }

  /**
   * Call it only for a person who has signed in and has a project, because it may read a document at an address that the
   * client chose. UNAVAILABLE if too many documents are being read.
   */
  async judge(query: URLSearchParams, person: string): Promise<AuthorizationVerdict> {
    const client = await this.#deps.clients.find(only(query, 'client_id') ?? '', person);
    if (client === null) {
      const reason =
        'The app’s client_id is unknown, or we couldn’t read the document that it leads to.';
      return { kind: 'stop', reason };
    }
    const redirectUri = only(query, 'redirect_uri');
    if (redirectUri === undefined || !isRegistered(client.redirectUris, redirectUri)) {
      return {
        kind: 'stop',
        reason: 'The app’s redirect_uri is missing, or isn’t one of its own.',
      };
    }
    const state = only(query, 'state')?.slice(0, STATE_CHARS_MAX);
    const back = { client, redirectUri, state };
    const problem = problemOf(query);
    if (problem !== null) return this.#back(back, ...problem);
    const resource = this.#resourceOf(query);
    if (resource === null) {
      const reason = `The resource must be ${this.#deps.mcpUrl}.`;
      return this.#back(back, OAuthErrorCode.InvalidTarget, reason);
    }
    const asked = (only(query, 'scope') ?? '').split(' ').filter((scope) => scope !== '');
    const scopes = resource.scopes.filter((one) => asked.length === 0 || asked.includes(one));
    if (scopes.length === 0) {
      const reason = `Scopes: ${resource.scopes.join(' ')}`;
      return this.#back(back, OAuthErrorCode.InvalidScope, reason);
    }
    const codeChallenge = only(query, 'code_challenge') ?? '';
    return { kind: 'ask', asked: { ...back, resource, scopes, codeChallenge } };
  }

  /** The address that tells the client that the person refused. */
  denied(asked: AuthorizationRequest): string {
    return this.#error(asked, OAuthErrorCode.AccessDenied, 'The person refused.');
  }

  /** Grants access and returns the address with the code, or why there is none. */
  async grant(
    asked: AuthorizationRequest,
    granted: AccessGrant,
  ): Promise<{ readonly to: string } | Exclude<ConsentOutcome, 'granted'>> {
    const { clock, issuer } = this.#deps;
    const { client, redirectUri, state } = asked;
    const { project, scopes, memberId, lifetimeMs } = granted;
    const now = clock.now();
    const code = newToken(project.info.id);
    const host = hostOf(asked);
    const outcome = await project.writes.run('oauthConsent', {
      keyId: newId('key', now),
      name: client.name ?? host,
      client: host,
      clientId: client.id,
      scopes: SCOPES.filter((scope) => scopes.includes(scope)),
      memberId,
      redirectUri,
      resource: asked.resource.url,
      codeHash: hash('sha256', code),
      codeChallenge: asked.codeChallenge,
      emptyHash: hash('sha256', newSecret()),
      endsAt: now + lifetimeMs,
      now,
    });
    if (outcome !== 'granted') return outcome;
    return { to: withParameters(redirectUri, { code, state, iss: issuer }) };
  }

  /** Older clients name no resource; there is only one. */
  #resourceOf(query: URLSearchParams): Resource | null {
    const { mcpUrl } = this.#deps;
    if (!query.has('resource')) return resourceOf(mcpUrl, mcpUrl);
    const text = only(query, 'resource');
    return text === undefined ? null : resourceOf(text, mcpUrl);
  }

  #back(from: Back, error: OAuthErrorCode, reason: string): AuthorizationVerdict {
    return { kind: 'back', to: this.#error(from, error, reason), reason };
  }

  #error({ redirectUri, state }: Back, error: OAuthErrorCode, description: string): string {
    const { issuer } = this.#deps;
    return withParameters(redirectUri, {
      error,
      error_description: description,
      state,
      iss: issuer,
    });
  }
}

/** The host that a person can check: the document's, or where the code goes. */
export function hostOf({
  client,
  redirectUri,
}: Pick<AuthorizationRequest, 'client' | 'redirectUri'>): string {
  return client.host ?? new URL(redirectUri).host;
}

/** A parameter; undefined if it is missing or there are several. */
function only(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

function problemOf(query: URLSearchParams): [OAuthErrorCode, string] | null {
  if (only(query, 'response_type') !== 'code') {
    return [OAuthErrorCode.UnsupportedResponseType, 'response_type must be code.'];
  }
  if (only(query, 'code_challenge_method') !== 'S256') {
    return [OAuthErrorCode.InvalidRequest, 'PKCE is required: code_challenge_method must be S256.'];
  }
  if (!CHALLENGE.test(only(query, 'code_challenge') ?? '')) {
    return [OAuthErrorCode.InvalidRequest, 'code_challenge must be 43 characters of base64url.'];
  }
  const isRepeated = ['state', 'scope'].some((name) => query.getAll(name).length > 1);
  return isRepeated ? [OAuthErrorCode.InvalidRequest, 'A parameter is there twice.'] : null;
}
