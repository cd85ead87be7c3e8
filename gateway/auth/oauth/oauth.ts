import { CallbackAllow } from '../../callbacks/callback-allow.ts';
import { RateLimiter } from '../rate-limiter.ts';
import { Authorization } from './authorization.ts';
import { ClientDocuments } from './client-documents.ts';
import { Clients } from './clients.ts';
import type { OAuthDeps } from './offer.ts';
import { Tokens } from './tokens.ts';

const PER_MINUTE = 60;

/** The authorization server for MCP clients. It loads with the first request that needs it. */
export class OAuth {
  readonly clients: Clients;
  readonly authorization: Authorization;
  readonly tokens: Tokens;
  /** Limits each network address, and each person over all their sessions. */
  readonly limiter = new RateLimiter(PER_MINUTE);

  constructor({ projects, clock, vault, server, allow }: OAuthDeps) {
    const { api: issuer, mcp: mcpUrl } = server.urls;
    const documents = new ClientDocuments(clock, { allow: allow ?? CallbackAllow.none });
    this.clients = new Clients(vault, documents);
    this.tokens = new Tokens({ projects, clients: this.clients, clock, mcpUrl });
    this.authorization = new Authorization({
      clients: this.clients,
      clock,
      issuer,
      mcpUrl,
    });
  }
}
