import type { TestGateway } from '../../../helpers/gateway.ts';
import { readPage } from '../../../helpers/reading.ts';
import { linkToken, tokensOf } from '../../../helpers/outbox.ts';

/** A page as it came. */
export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** Where it leads on to. */
  readonly location: string | null;
}

interface Sent {
  readonly fields?: Readonly<Record<string, string>>;
  /** In place of fields: the form as it is sent. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the form carries what its page said. */
  readonly csrf?: boolean;
}

/** A browser without scripts: it keeps the cookie, and sends forms with what their pages carry. */
export class WebVisitor {
  readonly #gateway: Pick<TestGateway, 'url'>;
  cookie: string | null = null;
  /** Of the page that was looked at last. */
  csrf = '';

  constructor(gateway: Pick<TestGateway, 'url'>) {
    this.#gateway = gateway;
  }

  /** One who has come in with a key. */
  static async withKey(gateway: TestGateway, key = gateway.apiKey): Promise<WebVisitor> {
    const visitor = new WebVisitor(gateway);
    await visitor.enter(await linkFor(gateway, key));
    return visitor;
  }

  /** One who has come in by the mail to an address. */
  static async asOwner(gateway: TestGateway, email: string): Promise<WebVisitor> {
    const visitor = new WebVisitor(gateway);
    const before = tokensOf(gateway.folder, 'ui/sign-in').length;
    await visitor.get('/ui/sign-in');
    await visitor.post('/ui/sign-in', { fields: { email } });
    const token = await linkToken(gateway.folder, 'ui/sign-in', before + 1);
    await visitor.enter(`/ui/sign-in/${token}`);
    return visitor;
  }

  /** Looks at the page of a link, and presses its button. */
  async enter(link: string): Promise<Page> {
    const page = await this.get(link);
    return page.status === 200 ? this.post(link) : page;
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Page> {
    const page = await this.#send(path, { headers });
    this.csrf = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
    return page;
  }

  /** Reads the page, and presses a button. */
  async post(path: string, sent: Sent = {}): Promise<Page> {
    await readPage(this.#gateway.url);
    return this.postAtOnce(path, sent);
  }

  postAtOnce(
    path: string,
    { fields = {}, headers = {}, csrf = true, body: form }: Sent = {},
  ): Promise<Page> {
    const body = form === undefined ? { ...(csrf && { csrf: this.csrf }), ...fields } : form;
    const own = { 'sec-fetch-site': 'same-origin', origin: 'null', ...headers };
    return this.#send(path, { method: 'POST', body: new URLSearchParams(body), headers: own });
  }

  async #send(path: string, init: RequestInit): Promise<Page> {
    const answer = await fetch(new URL(path, this.#gateway.url), {
      ...init,
      redirect: 'manual',
      headers: {
        ...(init.headers as Record<string, string>),
        ...(this.cookie !== null && { cookie: this.cookie }),
      },
    });
    const [set] = answer.headers.getSetCookie();
    if (set !== undefined)
      this.cookie = set.includes('Max-Age=0') ? null : (set.split(';')[0] ?? null);
    const { status, headers } = answer;
    return { status, headers, html: await answer.text(), location: headers.get('location') };
  }
}

/** The path of a link that opens the web inbox as a key. */
export async function linkFor(gateway: TestGateway, key: string, page?: string): Promise<string> {
  const body = page === undefined ? {} : { page };
  const answer = await gateway.call<{ url: string }>('POST', '/v1/ui/links', { body, key });
  const { pathname, search } = new URL(answer.body.url);
  return pathname + search;
}

/** Asks for an approval, and answers its id. */
export async function ask(
  gateway: TestGateway,
  wanted: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const body = {
    ...(wanted['question'] === undefined && { action: 'refund.create', summary: 'Refund Jane' }),
    wait_seconds: 0,
    ...wanted,
  };
  const answer = await gateway.call<{ request_id?: string }>('POST', '/v1/requests', { body });
  if (answer.body.request_id === undefined) throw new Error(JSON.stringify(answer.body));
  return answer.body.request_id;
}

/** The path of the page of a request. */
export async function pathOf(gateway: TestGateway, requestId?: string): Promise<string> {
  const project = await gateway.gateway.projects.find(gateway.projectId);
  const base = `/ui/p/${project?.info.slug}/requests`;
  return requestId === undefined ? base : `${base}/${requestId}`;
}
