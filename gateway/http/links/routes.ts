import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono, type Context } from 'hono';
import { emptyApp } from '../../../shared/api/api.ts';
import {
  commonHeaders,
  methodNotAllowed,
  reply,
  type HttpEnv,
  type OnInternalError,
} from '../../../shared/api/http.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import type { ContentHost } from './content-host.ts';
import type { Downloads, FileAnswer, DownloadOptions } from './downloads.ts';
import type { KeptMail } from './kept-mail.ts';
import { FileBody, StreamBody } from '../../lib/file-body.ts';
import type { PayloadLinks } from './payload-links.ts';

interface ContentDeps {
  readonly payloadLinks: PayloadLinks;
  readonly downloads: Downloads;
  readonly keptMail: KeptMail;
  readonly onInternal: OnInternalError;
}

const PATHS = {
  payload: '/l/:project/:event/:expires/:signature',
  mailHtml: '/m/:project/:event/:expires/:signature',
  link: '/f/:token',
  download: '/d/:project/:path/:version/:expires/:signature',
} as const;

/** Serves strangers' content: payloads, the HTML of mails, and files. */
export function contentRoutes(deps: ContentDeps): Hono<HttpEnv> {
  const { payloadLinks, downloads, keptMail, onInternal } = deps;
  const app = new Hono<HttpEnv>();
  app.all(PATHS.payload, (c) => payload(payloadLinks, c));
  app.all(PATHS.mailHtml, (c) => mailHtml(deps, c));
  app.all(PATHS.link, (c) =>
    download(c, onInternal, (wanted) => downloads.byToken(c.req.param('token'), wanted)),
  );
  app.all(PATHS.download, (c) => {
    const { project, path, version, expires, signature } = c.req.param();
    const parts = [project, path, version, expires, signature];
    return download(
      c,
      onInternal,
      async (wanted) => keptMail.file(parts, wanted) ?? downloads.bySignature(parts, wanted),
    );
  });
  return app;
}

/**
 * Serves the content only on its own host, which serves nothing else. Older links on the main host redirect there.
 * Mount it before all other routes.
 */
export function contentElsewhere(
  app: Hono<HttpEnv>,
  deps: ContentDeps,
  { host }: { readonly host: ContentHost },
): void {
  const there = emptyApp(deps.onInternal).route('/', contentRoutes(deps));
  app.use(async (c, next) => {
    const asked = host.askedBy(c.env.incoming);
    if (asked === 'content') return there.fetch(c.req.raw, c.env);
    if (asked === 'both') throw new ServiceError('NOT_FOUND');
    return next();
  });
  for (const path of Object.values(PATHS)) app.all(path, (c) => leadTo(host, c));
}

/** Browsers must not cache the redirect, because the operator may remove the setting. */
function leadTo({ origin }: ContentHost, c: Context<HttpEnv>): Response {
  onlyReads(c);
  return reply(c, null, 308, {
    Location: `${origin}${new URL(c.req.url).pathname}`,
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  });
}

function onlyReads({ req }: Context<HttpEnv>): void {
  if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD']);
}

/** Returns the parts of a signed link to an event's content. */
function linkParts(c: Context<HttpEnv>): string[] {
  onlyReads(c);
  const { project, event, expires, signature } = c.req.param() as Record<string, string>;
  return [project, event, expires, signature].map((part) => part ?? '');
}

/** Shows a stranger's HTML without scripts, forms, frames or any request to the network. */
const MAIL_HTML_CSP =
  "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

async function mailHtml(
  { payloadLinks, keptMail }: ContentDeps,
  c: Context<HttpEnv>,
): Promise<Response> {
  const parts = linkParts(c);
  const bytes = keptMail.html(parts) ?? (await payloadLinks.openHtml(parts)).bytes;
  return reply(c, bytes as Uint8Array<ArrayBuffer>, 200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': MAIL_HTML_CSP,
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex',
    'Cache-Control': 'no-store',
  });
}

/** Sends a stranger's bytes as a download that no browser runs. */
async function payload(links: PayloadLinks, c: Context<HttpEnv>): Promise<Response> {
  const { bytes, eventId } = await links.open(linkParts(c));
  return reply(c, bytes as Uint8Array<ArrayBuffer>, 200, {
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': `attachment; filename="${eventId}"`,
    'Content-Security-Policy':
      "sandbox; default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  });
}

async function download(
  c: Context<HttpEnv>,
  onInternal: OnInternalError,
  open: (wanted: DownloadOptions) => Promise<FileAnswer>,
): Promise<Response> {
  onlyReads(c);
  const { status, headers, body } = await open({
    head: c.req.method === 'HEAD',
    range: c.req.header('range'),
    ifRange: c.req.header('if-range'),
  });
  if (!(body instanceof FileBody || body instanceof StreamBody))
    return reply(c, body, status, headers);
  // Writes straight to the connection, because a web stream in between takes longer than everything else here.
  try {
    await body.send(c.env, status, commonHeaders(c, headers));
  } catch (error) {
    // Nothing of a small file was sent before it failed its check.
    if (!c.env.outgoing.headersSent) throw error;
    onInternal(error, c.get('requestId'));
  }
  return RESPONSE_ALREADY_SENT;
}
