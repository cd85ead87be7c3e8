import { hostname } from 'node:os';
import { parseApiKey } from '../../shared/lib/ids.ts';
import type {
  AuthKeyCreateAnswer,
  AuthPollAnswer,
  AuthStartAnswer,
  ProjectCreateAnswer,
} from '../../clients/typescript/generated/types.ts';
import { VERSION } from '../../shared/lib/version.ts';
import type { Client } from '../call/client.ts';
import { badAnswer, CallError, CliError, unreachable } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { addressText } from './gateway-address.ts';
import { parsedUrl } from '../../shared/lib/urls.ts';

/** One of the account's projects. */
export interface ProjectRef {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

/** A sign-in that has begun. */
export interface BegunLogin {
  /** A secret: anyone who has it can take part in the sign-in. */
  readonly loginId: string;
  readonly userCode: string;
  readonly emailMasked: string;
  readonly expiresInSeconds: number;
  readonly intervalSeconds: number;
  /** The gateway has no mail server: its operator reads the mail there. */
  readonly isKept: boolean;
}

/** A sign-in's state: not confirmed yet, or confirmed with the account's projects. */
export type PollResult =
  | { readonly status: 'waiting'; readonly waitSeconds: number }
  | { readonly status: 'confirmed'; readonly projects: readonly ProjectRef[] };

/** The one action that a confirmed sign-in allows. */
export interface LoginUse {
  readonly path: '/v1/projects' | '/v1/auth/keys';
  readonly body: Readonly<Record<string, string>>;
  /** The same for every try, so that a retry gets a lost answer. */
  readonly idempotency_key: string;
}

export interface ProjectGrant {
  readonly project: ProjectRef;
  readonly apiKey: string;
}

const CHECK_MS = 10_000;
const LONGEST_WAIT_SECONDS = 60;
/** A key's name may have 100 characters, and a few words come first. */
const NAME_MAX_CHARS = 80;

/** The sign-in routes. None needs a key. */
export class SignInCalls {
  readonly #client: Client;
  readonly #gateway: URL;
  readonly #signal: AbortSignal;

  constructor(client: Client, gateway: URL, signal: AbortSignal) {
    this.#client = client;
    this.#gateway = gateway;
    this.#signal = signal;
  }

  /** Throws if the address isn't an svc gateway: every answer from one names its version. */
  async check(): Promise<void> {
    const signal = this.#signal;
    const response = await this.#client.raw('GET', '/v1/whoami', { signal, timeoutMs: CHECK_MS });
    response.resume();
    const { statusCode: status = 0, headers } = response;
    if (typeof headers['x-service-version'] === 'string') return;
    const address = addressText(this.#gateway);
    if (status >= 500) {
      throw unreachable(`${address} answers HTTP ${status}: the gateway behind it is down.`);
    }
    const { location } = headers;
    const target = location === undefined ? null : parsedUrl(location);
    throw notGateway(
      `${address} answers, but it isn't an svc gateway.`,
      target ? `It redirects elsewhere: --gateway ${target.origin}` : 'Check --gateway.',
    );
  }

  async start(email: string): Promise<BegunLogin> {
    const client = { name: 'svc', version: VERSION, host: machineName() };
    const body = { email, client };
    const answer = await this.#post<AuthStartAnswer>('/v1/auth/start', body).catch(toldApart);
    return {
      loginId: answer.login_id,
      userCode: answer.user_code,
      emailMasked: answer.email_masked,
      expiresInSeconds: answer.expires_in,
      intervalSeconds: answer.interval,
      isKept: answer.mail === 'kept',
    };
  }

  /** Throws errors that end a sign-in: LOGIN_EXPIRED, LOGIN_CONSUMED, NOT_FOUND. */
  async poll(loginId: string, intervalSeconds: number): Promise<PollResult> {
    try {
      const body = { login_id: loginId };
      const { projects } = await this.#post<AuthPollAnswer>('/v1/auth/poll', body);
      return { status: 'confirmed', projects };
    } catch (error) {
      if (!(error instanceof CallError) || error.code !== 'LOGIN_NOT_VERIFIED') throw error;
      const asked = error.details?.['retry_after'];
      const seconds = typeof asked === 'number' ? asked : intervalSeconds;
      return {
        status: 'waiting',
        waitSeconds: Math.min(LONGEST_WAIT_SECONDS, Math.max(0, seconds)),
      };
    }
  }

  /** Creates a project, or a key for an existing one. */
  async use({ path, body, idempotency_key }: LoginUse): Promise<ProjectGrant> {
    const headers = { 'idempotency-key': idempotency_key };
    type Answer = AuthKeyCreateAnswer | ProjectCreateAnswer;
    const { project, api_key: apiKey } = await this.#post<Answer>(path, body, headers);
    const { id, slug, name } = project;
    if (parseApiKey(apiKey)?.projectId !== project.id) {
      throw badAnswer('The gateway answered with a key for another project.');
    }
    return { project: { id, slug, name }, apiKey };
  }

  async #post<T>(path: string, body: object, headers: Record<string, string> = {}): Promise<T> {
    const signal = this.#signal;
    return (await this.#client.send('POST', path, { body, headers, signal })) as T;
  }
}

/** This machine's name, shown when confirming a sign-in and in key lists. */
export function machineName(): string {
  return hostname().slice(0, NAME_MAX_CHARS).trim() || 'a machine';
}

/** A machine's daemon answers like a gateway but has no sign-in. */
function toldApart(error: unknown): never {
  if (!(error instanceof CallError) || error.status !== 404) throw error;
  throw notGateway(
    "You can't sign in at this address: it's a machine's daemon or an older gateway.",
    "Use a gateway's address. To run your own: svc gateway --help",
  );
}

function notGateway(message: string, hint: string): CliError {
  return new CliError({ code: 'NOT_A_GATEWAY', message, hint, exit: EXIT.refused });
}
