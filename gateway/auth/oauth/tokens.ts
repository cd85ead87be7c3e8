import { hash } from 'node:crypto';
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import type { Clock } from '../../../shared/lib/clock.ts';
import {
  hashApiKey,
  last4,
  newApiKey,
  newRefreshToken,
  parseApiKey,
  parseRefreshToken,
  parseToken,
} from '../../../shared/lib/ids.ts';
import type { IssueOutcome } from '../../commit/commands/access/oauth.ts';
import type { Project } from '../../projects/project.ts';
import type { Projects } from '../../projects/projects.ts';
import type { Clients } from './clients.ts';
import { resourceOf } from './resource.ts';

interface TokensDeps {
  readonly projects: Projects;
  readonly clients: Clients;
  readonly clock: Clock;
  readonly mcpUrl: string;
}

const VERIFIER = /^[\w.~-]{43,128}$/;

/** The token endpoint and the revocation endpoint. Access tokens are secrets of keys. */
export class Tokens {
  readonly #deps: TokensDeps;

  constructor(deps: TokensDeps) {
    this.#deps = deps;
  }

  /** Answers a token request (RFC 6749, sections 4.1.3 and 6). Throws an OAuthError. */
  async issue(form: URLSearchParams): Promise<Readonly<Record<string, unknown>>> {
    try {
      return await this.#issue(form);
    } catch (error) {
      const isOver =
        error instanceof OAuthError && error.toResponseObject().error === 'invalid_grant';
      if (!isOver || !this.#deps.clients.mustRegister(required(form, 'client_id'))) throw error;
      // This makes the client register again. Otherwise it would keep sending people to us with an unknown id.
      throw new OAuthError(OAuthErrorCode.InvalidClient, 'Register the client again.');
    }
  }

  #issue(form: URLSearchParams): Promise<Readonly<Record<string, unknown>>> {
    const grantType = required(form, 'grant_type');
    if (grantType === 'authorization_code') return this.#exchange(form);
    if (grantType === 'refresh_token') return this.#refresh(form);
    throw new OAuthError(
      OAuthErrorCode.UnsupportedGrantType,
      'grant_type must be authorization_code or refresh_token.',
    );
  }

  /** Ends the access that a token gives (RFC 7009), and does nothing for an unknown one. Throws an OAuthError. */
  async revoke(form: URLSearchParams): Promise<void> {
    const token = required(form, 'token');
    const refresh = parseRefreshToken(token);
    const projectId = refresh?.projectId ?? parseApiKey(token)?.projectId;
    const project = projectId === undefined ? null : await this.#deps.projects.find(projectId);
    await project?.writes.run('oauthRevoke', {
      hash: refresh ? hash('sha256', refresh.family) : hashApiKey(token),
      clientId: optional(form, 'client_id'),
      now: this.#deps.clock.now(),
    });
  }

  async #exchange(form: URLSearchParams): Promise<Readonly<Record<string, unknown>>> {
    const code = required(form, 'code');
    const [clientId, redirectUri] = [required(form, 'client_id'), required(form, 'redirect_uri')];
    const verifier = required(form, 'code_verifier');
    const resource = this.#resource(form);
    const project = await this.#projectOf(parseToken(code), 'code');
    const challenge = VERIFIER.test(verifier) ? hash('sha256', verifier, 'base64url') : '';
    return this.#issued(project, newRefreshToken(project.info.id), (tokens, now) =>
      project.writes.run('oauthExchange', {
        codeHash: hash('sha256', code),
        clientId,
        redirectUri,
        resource,
        codeChallenge: challenge,
        tokens,
        now,
      }),
    );
  }

  async #refresh(form: URLSearchParams): Promise<Readonly<Record<string, unknown>>> {
    const token = required(form, 'refresh_token');
    const clientId = required(form, 'client_id');
    const resource = this.#resource(form);
    const parsed = parseRefreshToken(token);
    const project = await this.#projectOf(parsed, 'refresh token');
    const next = newRefreshToken(project.info.id, parsed?.family);
    return this.#issued(project, next, (tokens, now) =>
      project.writes.run('oauthRefresh', {
        familyHash: tokens.familyHash,
        refreshHash: hash('sha256', token),
        clientId,
        resource,
        tokens,
        now,
      }),
    );
  }

  async #issued(
    project: Project,
    refreshToken: string,
    issue: (tokens: ReturnType<typeof hashed>, now: number) => Promise<IssueOutcome>,
  ): Promise<Readonly<Record<string, unknown>>> {
    const accessToken = newApiKey(project.info.id);
    const now = this.#deps.clock.now();
    const issued = await issue(hashed(accessToken, refreshToken), now);
    if (issued.outcome !== 'issued') throw new OAuthError(issued.outcome, issued.reason);
    return {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: Math.floor((issued.expiresAt - now) / 1000),
      refresh_token: refreshToken,
      // Always all scopes of the grant, also if a renewal asks for fewer.
      scope: issued.scopes.join(' '),
    };
  }

  async #projectOf(named: { readonly projectId: string } | null, what: string): Promise<Project> {
    const project = named && (await this.#deps.projects.find(named.projectId));
    if (!project) throw new OAuthError(OAuthErrorCode.InvalidGrant, `The ${what} is unknown.`);
    return project;
  }

  /** Null if the client named none. */
  #resource(form: URLSearchParams): string | null {
    const text = optional(form, 'resource');
    if (text === null) return null;
    const resource = resourceOf(text, this.#deps.mcpUrl);
    if (resource) return resource.url;
    throw new OAuthError(OAuthErrorCode.InvalidTarget, 'The resource is not ours.');
  }
}

function hashed(accessToken: string, refreshToken: string) {
  const family = parseRefreshToken(refreshToken)?.family ?? '';
  return {
    hash: hashApiKey(accessToken),
    last4: last4(accessToken),
    familyHash: hash('sha256', family),
    refreshHash: hash('sha256', refreshToken),
  };
}

function optional(form: URLSearchParams, name: string): string | null {
  const [value = '', ...others] = form.getAll(name);
  if (others.length > 0) throw invalidRequest(`${name} is there twice.`);
  return value === '' ? null : value;
}

function required(form: URLSearchParams, name: string): string {
  const value = optional(form, name);
  if (value === null) throw invalidRequest(`${name} is missing.`);
  return value;
}

function invalidRequest(reason: string): OAuthError {
  return new OAuthError(OAuthErrorCode.InvalidRequest, reason);
}
