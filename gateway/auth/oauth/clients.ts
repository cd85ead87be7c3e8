import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import type { Vault } from '../../../shared/kernel/context.ts';
import { isSigned } from '../../../shared/kernel/links.ts';
import type { ClientDocuments } from './client-documents.ts';
import {
  clientMetadata,
  jsonOf,
  nameOf,
  redirectUrisOf,
  type OAuthClient,
} from './client-metadata.ts';

const URIS_MAX = 10;
/** A registration is its client id, so it must fit into a URL. */
const REGISTRATION_MAX_BYTES = 1200;
/** The registration and its signature. */
const REGISTERED = /^svc\.([\w-]+)\.([\w-]+)$/;

/** Clients by their id: a registration, or the URL of a metadata document. */
export class Clients {
  readonly #vault: Vault;
  readonly #documents: ClientDocuments;

  constructor(vault: Vault, documents: ClientDocuments) {
    this.#vault = vault;
    this.#documents = documents;
  }

  /**
   * Registers a client (RFC 7591). Its id is the signed registration, so nothing is stored, and nobody can fill a table.
   * Throws an OAuthError.
   */
  register(body: string): Readonly<Record<string, unknown>> {
    const parsed = clientMetadata.safeParse(jsonOf(body));
    if (!parsed.success) {
      throw new OAuthError(
        OAuthErrorCode.InvalidClientMetadata,
        'Send a JSON object with redirect_uris, a list of URLs, and client_name, a text.',
      );
    }
    const [name, uris] = [nameOf(parsed.data), redirectUrisOf(parsed.data)];
    if (uris.length === 0) {
      throw new OAuthError(
        OAuthErrorCode.InvalidRedirectUri,
        'A redirect URI must begin with https://, or with http://127.0.0.1, http://[::1] or http://localhost.',
      );
    }
    const registration = JSON.stringify([name, ...uris]);
    if (uris.length > URIS_MAX || Buffer.byteLength(registration) > REGISTRATION_MAX_BYTES) {
      throw new OAuthError(
        OAuthErrorCode.InvalidClientMetadata,
        `At most ${URIS_MAX} redirect URIs, and ${REGISTRATION_MAX_BYTES} bytes with the name.`,
      );
    }
    const encoded = Buffer.from(registration).toString('base64url');
    return {
      client_id: `svc.${encoded}.${this.#vault.sign(signedText(encoded))}`,
      ...(name !== null && { client_name: name }),
      redirect_uris: uris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  /** Finds a client for a person; null if there is none with this id, or its document isn't right. UNAVAILABLE. */
  async find(id: string, person: string): Promise<OAuthClient | null> {
    const encoded = REGISTERED.exec(id)?.[1];
    if (encoded === undefined) return this.#documents.get(id, person);
    if (this.mustRegister(id)) return null;
    const registration = Buffer.from(encoded, 'base64url').toString('utf8');
    const [name, ...redirectUris] = JSON.parse(registration) as [string | null, ...string[]];
    return { id, name, redirectUris, host: null };
  }

  /** Whether this is a registration that isn't valid, because the master key has changed since. */
  mustRegister(id: string): boolean {
    const [, encoded, signature] = REGISTERED.exec(id) ?? [];
    if (encoded === undefined || signature === undefined) return false;
    return !isSigned(this.#vault, signedText(encoded), signature);
  }
}

function signedText(encoded: string): string {
  return `oauth|client|1|${encoded}`;
}
