import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newApiKey, newProjectId, parseApiKey } from '../../../shared/lib/ids.ts';
import { parseObject } from '../../../shared/lib/guards.ts';
import { VERSION } from '../../../shared/lib/version.ts';
import { json } from '../fake-daemon.ts';

interface FakeProject {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

interface FakeLogin {
  state: 'waiting' | 'confirmed' | 'expired' | 'used';
  /** What was answered to a use, by its Idempotency-Key and body. */
  readonly answers: Map<string, unknown>;
}

interface Call {
  readonly route: string;
  readonly body: Record<string, unknown>;
  readonly headers: IncomingHttpHeaders;
}

/** What a test may do to an answer. True means that it has answered itself, or cut the connection. */
type Meddle = (call: Call, response: ServerResponse) => boolean;

/** The routes of signing in as a gateway speaks them, with a person who confirms when a test says so. */
export class FakeGateway {
  readonly seen: Call[] = [];
  readonly logins = new Map<string, FakeLogin>();
  /** Projects of the one account there is. */
  readonly projects: FakeProject[] = [];
  /** Secrets of keys that work. */
  readonly keys = new Set<string>();
  /** Confirmed as soon as the mail is sent. */
  confirmsAtOnce = true;
  /** It has no mail server. */
  keepsMail = false;
  meddle: Meddle = () => false;
  /** Told when somebody asks whether it is confirmed. */
  onPoll: (login: FakeLogin) => void = () => undefined;
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const body = parseObject(Buffer.concat(chunks).toString('utf8')) ?? {};
      const call = { route: `${method} ${url}`, body, headers };
      this.seen.push(call);
      response.setHeader('x-service-version', VERSION);
      if (!this.meddle(call, response)) this.#answer(call, response);
    });
  });

  static async start(): Promise<FakeGateway> {
    const gateway = new FakeGateway();
    await new Promise<void>((resolve) => gateway.#server.listen(0, '127.0.0.1', resolve));
    return gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  addProject(slug: string): FakeProject {
    const project = { id: newProjectId(), slug, name: `The ${slug}` };
    this.projects.push(project);
    return project;
  }

  /** How often a route was called. */
  count(route: string): number {
    return this.seen.filter((call) => call.route === route).length;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(call: Call, response: ServerResponse): void {
    switch (call.route) {
      case 'POST /v1/auth/start':
        return this.#start(response);
      case 'POST /v1/auth/poll':
        return this.#poll(call, response);
      case 'POST /v1/projects':
      case 'POST /v1/auth/keys':
        return this.#use(call, response);
      case 'GET /v1/whoami':
        return this.#whoami(call, response);
      default:
        if (!call.route.startsWith('DELETE /v1/keys/')) return fail(response, 404, 'NOT_FOUND');
        this.keys.delete(bearer(call));
        return json(response, { id: 'key_1', revoked_at: '2026-01-02T03:04:05.678Z' });
    }
  }

  #start(response: ServerResponse): void {
    const id = `lgn_${crypto.randomUUID()}`;
    const state = this.confirmsAtOnce ? 'confirmed' : 'waiting';
    this.logins.set(id, { state, answers: new Map() });
    json(response, {
      login_id: id,
      user_code: `ENJOY-RIVER-${41 + this.logins.size}`,
      email_masked: 'a***@example.com',
      expires_in: 900,
      expires_at: '2026-01-02T03:19:05.678Z',
      interval: 0,
      mail: this.keepsMail ? 'kept' : 'sent',
    });
  }

  #poll({ body }: Call, response: ServerResponse): void {
    const login = this.logins.get(String(body['login_id']));
    if (login) this.onPoll(login);
    switch (login?.state) {
      case 'confirmed':
        return json(response, {
          status: 'confirmed',
          email_masked: 'a***@example.com',
          expires_at: '2026-01-02T03:19:05.678Z',
          projects: this.projects,
        });
      case 'waiting':
        return fail(response, 409, 'LOGIN_NOT_VERIFIED', { retry_after: 0.01 });
      case 'used':
        return fail(response, 409, 'LOGIN_CONSUMED');
      case 'expired':
      case undefined:
        return fail(response, 410, 'LOGIN_EXPIRED');
    }
  }

  #use({ route, body, headers }: Call, response: ServerResponse): void {
    const login = this.logins.get(String(body['login_id']));
    const repeat = `${String(headers['idempotency-key'])} ${JSON.stringify(body)}`;
    const before = login?.answers.get(repeat);
    if (before !== undefined) return json(response, before, 201);
    if (login?.state !== 'confirmed') {
      const isUsed = login?.state === 'used';
      return fail(response, isUsed ? 409 : 410, isUsed ? 'LOGIN_CONSUMED' : 'LOGIN_EXPIRED');
    }
    const name = String(body['name']);
    const project =
      route === 'POST /v1/projects'
        ? { ...this.addProject(name.toLowerCase().replaceAll(' ', '-')), name }
        : this.projects.find(({ id }) => id === body['project_id']);
    if (!project) return fail(response, 404, 'NOT_FOUND');
    const apiKey = newApiKey(project.id);
    this.keys.add(apiKey);
    const key = { id: 'key_1', name: body['key_name'], scopes: ['admin'] };
    const urls = { api: this.url, mcp: `${this.url}/mcp`, hooks: this.url };
    const answer = { project, key, api_key: apiKey, urls };
    login.state = 'used';
    login.answers.set(repeat, answer);
    json(response, answer, 201);
  }

  #whoami(call: Call, response: ServerResponse): void {
    if (!this.keys.has(bearer(call))) return fail(response, 401, 'UNAUTHENTICATED');
    const project = this.projects.find(({ id }) => id === parseApiKey(bearer(call))?.projectId);
    json(response, { key: { id: 'key_1' }, project });
  }
}

function bearer({ headers }: Call): string {
  return (headers.authorization ?? '').replace(/^Bearer /, '');
}

function fail(response: ServerResponse, status: number, code: string, details?: object): void {
  const error = { code, message: `${code}.`, hint: null, ...(details && { details }) };
  json(response, { error }, status);
}
