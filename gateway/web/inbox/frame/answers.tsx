import { randomBytes } from 'node:crypto';
import { getCookie } from 'hono/cookie';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { reply, shownError, logOf, type OnInternalError } from '../../../../shared/api/http.ts';
import type { ServiceError } from '../../../../shared/lib/errors.ts';
import { UI_SESSION_MS } from '../../../../shared/lib/limits.ts';
import { render } from '../../pages/document.tsx';
import { Icon } from '../../ui/icons.tsx';
import type { Ctx } from '../../pages/page-answers.tsx';
import { PAGE_HEADERS } from '../../pages/style.ts';
import type { WebInbox } from '../inbox.ts';
import { PlainPage, type PageFrame } from './layout.tsx';
import type { Session } from '../session/sessions.ts';

/** The dependencies of all routes of the web inbox. */
export interface Ui {
  readonly inbox: WebInbox;
  /** The path of the web inbox, such as `/ui`. */
  readonly root: string;
  readonly ownOrigin: string;
  readonly cookie: Cookie;
  readonly onInternal: OnInternalError;
}

interface Cookie {
  readonly name: string;
  /** The attributes after the cookie's value. */
  readonly attributes: string;
}

/**
 * With TLS, the `__Host-` prefix makes browsers refuse the cookie from other hosts and without TLS; it requires the
 * path `/`.
 */
export function cookieFor(publicUrl: string, root: string): Cookie {
  const isSecure = new URL(publicUrl).protocol === 'https:';
  const common = 'HttpOnly; SameSite=Strict';
  return isSecure
    ? { name: '__Host-svc_ui', attributes: `Path=/; Secure; ${common}` }
    : { name: 'svc_ui', attributes: `Path=${root}; ${common}` };
}

function secretIn({ cookie }: Ui, c: Ctx): string | null {
  const secret = getCookie(c, cookie.name);
  return secret !== undefined && /^[\w-]{43}$/.test(secret) ? secret : null;
}

export async function sessionOf(ui: Ui, c: Ctx): Promise<Session | null> {
  const secret = secretIn(ui, c);
  return secret === null ? null : ui.inbox.sessions.find(secret);
}

export function setCookie({ cookie }: Ui, secret: string): string {
  return `${cookie.name}=${secret}; Max-Age=${UI_SESSION_MS / 1000}; ${cookie.attributes}`;
}

export function clearCookie({ cookie }: Ui): string {
  return `${cookie.name}=; Max-Age=0; ${cookie.attributes}`;
}

export function newFrame({ root, ownOrigin }: Ui): PageFrame {
  const iconUrl = `${ownOrigin}${root}/icon.png`;
  return { root, iconUrl, nonce: randomBytes(16).toString('base64') };
}

/**
 * Like the policy of the decision pages, but with our script and style; the script may only connect to us. A page may show
 * pictures from one place.
 */
function policy({ nonce, iconUrl, picturesFrom }: PageFrame): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    `img-src ${[iconUrl, ...(picturesFrom === undefined ? [] : [picturesFrom])].join(' ')}`,
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export async function html(
  c: Ctx,
  status: number,
  frame: PageFrame,
  content: JSX.Element,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return reply(c, await render(content), status, {
    ...PAGE_HEADERS,
    'Content-Security-Policy': policy(frame),
    ...headers,
  });
}

/** Redirects after a form, so that reloading the page never submits it again. */
export function goTo(
  c: Ctx,
  location: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return reply(c, null, 303, { ...PAGE_HEADERS, Location: location, ...headers });
}

/** A page with only a few sentences. */
export function message(
  ui: Ui,
  c: Ctx,
  { status, heading, text }: { status: number; heading: string; text: string },
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const frame = newFrame(ui);
  return html(
    c,
    status,
    frame,
    <PlainPage frame={frame} title={heading}>
      <div class="end">
        <Icon name="warn" />
        <div>
          <h1>{heading}</h1>
          <p>{text}</p>
        </div>
      </div>
      <p>
        <a class="btn" href={ui.root}>
          Go to the inbox
        </a>
      </p>
      <p class="soft">
        Request <span class="exact mono">{c.get('requestId')}</span>
      </p>
    </PlainPage>,
    headers,
  );
}

export function nothingHere(ui: Ui, c: Ctx): Promise<Response> {
  return message(ui, c, {
    status: 404,
    heading: 'Page not found',
    text: 'The address is wrong, or it belongs to a project that you can’t see.',
  });
}

/** The answer to a form that comes from another site. */
export function foreignForm(ui: Ui, c: Ctx): Promise<Response> {
  return message(ui, c, {
    status: 403,
    heading: 'Nothing was done',
    text: 'This came from another website, so we ignored it.',
  });
}

/** The answer to a form of another session, or to a request that isn't a form. */
export function outdatedForm(ui: Ui, c: Ctx): Promise<Response> {
  return message(ui, c, {
    status: 403,
    heading: 'Nothing was done',
    text: 'This page was out of date. Reload it and try again.',
  });
}

const HEADINGS: Readonly<Partial<Record<ServiceError['code'], string>>> = {
  RATE_LIMITED: 'Too many requests',
  PAYLOAD_TOO_LARGE: 'That was too large',
  SCOPE_MISSING: 'This key can’t see that',
  UNAVAILABLE: 'Not available right now',
};

export function failed(ui: Ui, c: Ctx, cause: unknown): Promise<Response> {
  const error = shownError(cause, c.get('requestId'), logOf(c, ui.onInternal));
  const { code, hint, status } = error;
  // The URL contains an invalid id or cursor.
  if (code === 'NOT_FOUND' || code === 'VALIDATION_FAILED') return nothingHere(ui, c);
  const heading = HEADINGS[code] ?? 'Something went wrong on our side';
  return message(
    ui,
    c,
    { status, heading, text: [error.message, hint].filter(Boolean).join(' ') },
    error.headers(),
  );
}
