import { createHash, randomBytes } from 'node:crypto';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import type { TestGateway } from '../../../helpers/gateway.ts';
import type { Browser } from './browser.ts';

export const ANA = 'ana@example.com';
export const CALLBACK = 'http://127.0.0.1:9/callback';

/** An MCP client as the official SDK sees it: it keeps what the SDK gives it. */
export class App implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata = {
    client_name: 'Trip Planner',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  info: OAuthClientInformationMixed | undefined;
  kept: OAuthTokens | undefined;
  /** The page that a person must see. */
  page = '';
  #verifier = '';

  state(): string {
    return 'st&te';
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.info;
  }

  saveClientInformation(info: OAuthClientInformationMixed): void {
    this.info = info;
  }

  tokens(): OAuthTokens | undefined {
    return this.kept;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.kept = tokens;
  }

  invalidateCredentials(): void {
    this.kept = undefined;
  }

  redirectToAuthorization(url: URL): void {
    this.page = url.href;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }
}

type Fields = Readonly<Record<string, string>>;
type Json = Record<string, unknown>;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

/** A client that speaks OAuth by hand, to send what no library would. */
export class RawApp {
  readonly gateway: TestGateway;
  readonly verifier = randomBytes(32).toString('base64url');
  clientId = '';

  constructor(gateway: TestGateway) {
    this.gateway = gateway;
  }

  static async registered(gateway: TestGateway, metadata: Json = {}): Promise<RawApp> {
    const app = new RawApp(gateway);
    const { body } = await app.register({
      client_name: 'Raw',
      redirect_uris: [CALLBACK],
      ...metadata,
    });
    app.clientId = String(body['client_id']);
    return app;
  }

  register(metadata: unknown): Promise<Answer> {
    return this.#post('/oauth/register', JSON.stringify(metadata), 'application/json');
  }

  /** The address of a request for access. */
  url(fields: Fields = {}): string {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: this.clientId,
      redirect_uri: CALLBACK,
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state: 'xyz',
      ...fields,
    });
    return `/ui/authorize?${query.toString()}`;
  }

  /** Lets a person allow access, who signs in again if the session is over, and returns the code. */
  async code(browser: Browser, fields: Fields = {}): Promise<string> {
    const { status } = await browser.openFromApp(this.url(fields));
    if (status === 401) {
      await browser.signIn(ANA);
      await browser.open(browser.page.next ?? '');
    }
    const { next } = await browser.send({ verb: 'allow', lifetime: '30' });
    if (next === null) throw new Error(browser.text);
    return new URL(next).searchParams.get('code') ?? '';
  }

  exchange(code: string, fields: Fields = {}): Promise<Answer> {
    return this.token({
      grant_type: 'authorization_code',
      code,
      redirect_uri: CALLBACK,
      code_verifier: this.verifier,
      ...fields,
    });
  }

  refresh(refreshToken: unknown, fields: Fields = {}): Promise<Answer> {
    const refresh_token = String(refreshToken);
    return this.token({ grant_type: 'refresh_token', refresh_token, ...fields });
  }

  token(fields: Fields): Promise<Answer> {
    return this.#form('/oauth/token', fields);
  }

  revoke(token: unknown, fields: Fields = {}): Promise<Answer> {
    return this.#form('/oauth/revoke', { token: String(token), ...fields });
  }

  /** Whether a token opens the tools. */
  async works(token: unknown): Promise<boolean> {
    return (await this.call(token)).status === 200;
  }

  call(token: unknown, path = '/mcp'): Promise<Answer> {
    return this.message(token, path, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
  }

  message(token: unknown, path: string, body: string): Promise<Answer> {
    const headers = typeof token === 'string' && { authorization: `Bearer ${token}` };
    return this.#post(path, body, 'application/json', { ...headers });
  }

  #form(path: string, fields: Fields): Promise<Answer> {
    const body = new URLSearchParams({ client_id: this.clientId, ...fields }).toString();
    return this.#post(path, body, 'application/x-www-form-urlencoded');
  }

  async #post(path: string, body: string, type: string, headers = {}): Promise<Answer> {
    const response = await fetch(this.gateway.url + path, {
      method: 'POST',
      body,
      headers: { 'content-type': type, ...headers },
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? {} : JSON.parse(text)) as Json,
    };
  }
}
