import type { TestGateway } from '../../../helpers/gateway.ts';
import { linkToken, tokensOf } from '../../../helpers/outbox.ts';
import { readPage } from '../../../helpers/reading.ts';

/** A page as it came. */
export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** Where the browser goes on its own, by a redirect or as the page says, or where its button to continue leads. */
  readonly next: string | null;
}

/** A browser without scripts that keeps cookies, and sends forms with what their pages carry. */
export class Browser {
  readonly #gateway: Pick<TestGateway, 'url' | 'folder'>;
  readonly cookies = new Map<string, string>();
  /** The page that is open. */
  page: Page = { status: 0, headers: new Headers(), html: '', next: null };
  #url = '';

  constructor(gateway: Pick<TestGateway, 'url' | 'folder'>) {
    this.#gateway = gateway;
  }

  /** One whose person has signed in to the web inbox. */
  static async signedIn(gateway: TestGateway, email: string): Promise<Browser> {
    const browser = new Browser(gateway);
    await browser.open('/ui/sign-in');
    await browser.signIn(email);
    return browser;
  }

  /** Asks for the mail on the page that is open, and follows the link in it. */
  async signIn(email: string): Promise<Page> {
    const before = tokensOf(this.#gateway.folder, 'ui/sign-in').length;
    await this.send({ email }, '/ui/sign-in');
    const token = await linkToken(this.#gateway.folder, 'ui/sign-in', before + 1);
    await this.open(`/ui/sign-in/${token}`, { 'sec-fetch-site': 'cross-site' });
    await this.send({});
    return this.page;
  }

  open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Page> {
    this.#url = new URL(url, this.#gateway.url).href;
    return this.#load({ headers });
  }

  /** Opens a request for access as an app does: from another site, and on by the button to continue. */
  async openFromApp(url: string): Promise<Page> {
    await this.open(url, { 'sec-fetch-site': 'cross-site' });
    const isOurs = this.page.next?.startsWith('/ui/authorize?') ?? false;
    return isOurs
      ? this.open(this.page.next ?? '', { 'sec-fetch-site': 'same-origin' })
      : this.page;
  }

  /** Reads the page that is open, and presses a button. A list is a set of boxes; without one, they stay as they are. */
  async send(
    fields: Readonly<Record<string, string | readonly string[]>>,
    to = this.#url,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Page> {
    await readPage(this.#gateway.url);
    return this.sendAtOnce(fields, to, headers);
  }

  sendAtOnce(
    fields: Readonly<Record<string, string | readonly string[]>>,
    to = this.#url,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Page> {
    const body = new URLSearchParams();
    for (const [, name = '', value = ''] of this.page.html.matchAll(
      /<input type="hidden" name="(\w+)" value="([^"]*)"/g,
    )) {
      if (!(name in fields)) body.append(name, value);
    }
    for (const scope of 'scopes' in fields ? [] : this.checked()) body.append('scopes', scope);
    for (const [name, value] of Object.entries(fields)) {
      for (const one of [value].flat()) body.append(name, one);
    }
    this.#url = new URL(to, this.#gateway.url).href;
    const own = { 'sec-fetch-site': 'same-origin', origin: 'null', ...headers };
    return this.#load({ method: 'POST', body, headers: own });
  }

  /** The scopes whose boxes are checked on the page that is open. */
  checked(): string[] {
    return this.boxes(/ checked=""/);
  }

  /** The scopes that the open page offers. */
  boxes(only = /./): string[] {
    return [...this.page.html.matchAll(/<input type="checkbox"[^>]*>/g)]
      .map(([tag]) => tag)
      .filter((tag) => only.test(tag))
      .map((tag) => /value="([^"]*)"/.exec(tag)?.[1] ?? '');
  }

  /** The words on the page. */
  get text(): string {
    return unescaped(this.page.html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '));
  }

  async #load(init: RequestInit): Promise<Page> {
    const cookie = [...this.cookies].map((pair) => pair.join('=')).join('; ');
    const isStrange = new Headers(init.headers).get('sec-fetch-site') === 'cross-site';
    const answer = await fetch(this.#url, {
      ...init,
      redirect: 'manual',
      // All our cookies are SameSite=Strict.
      headers: { ...(init.headers as Record<string, string>), ...(!isStrange && { cookie }) },
    });
    for (const set of answer.headers.getSetCookie()) {
      const [pair = ''] = set.split(';');
      const at = pair.indexOf('=');
      if (set.includes('Max-Age=0')) this.cookies.delete(pair.slice(0, at));
      else this.cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const html = await answer.text();
    const refresh = /<meta http-equiv="refresh" content="0; url=([^"]*)"/.exec(html)?.[1];
    const onward = refresh ?? /<a class="btn" href="([^"]*)" data-hold/.exec(html)?.[1];
    const next = answer.headers.get('location') ?? (onward ? unescaped(onward) : null);
    this.page = { status: answer.status, headers: answer.headers, html, next };
    return this.page;
  }
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
