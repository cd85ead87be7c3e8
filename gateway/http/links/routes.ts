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
import type { Downloads, FileAnswer, Wanted } from './downloads.ts';
import { FileBody } from '../../lib/file-body.ts';
import type { PayloadLinks } from './payload-links.ts';

interface ContentDeps {
  readonly payloadLinks: PayloadLinks;
  readonly downloads: Downloads;
  readonly onInternal: OnInternalError;
}

const PATHS = {
  payload: '/l/:project/:event/:expires/:signature',
  mailHtml: '/m/:project/:event/:expires/:signature',
  link: '/f/:token',
  download: '/d/:project/:path/:version/:expires/:signature',
} as const;

/** What strangers wrote: payloads, the HTML of mails, and files. */
export function contentRoutes({ payloadLinks, downloads, onInternal }: ContentDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.all(PATHS.payload, (c) => payload(payloadLinks, c));
  app.all(PATHS.mailHtml, (c) => mailHtml(payloadLinks, c));
  app.all(PATHS.link, (c) =>
    download(c, onInternal, (wanted) => downloads.byToken(c.req.param('token'), wanted)),
  );
  app.all(PATHS.download, (c) => {
    const { project, path, version, expires, signature } = c.req.param();
    const parts = [project, path, version, expires, signature];
    return download(c, onInternal, (wanted) => downloads.bySignature(parts, wanted));
  });
  return app;
}

/**
 * The same on a host of its own: there is nothing else on that, and they are nowhere else. Links from before it had one lead
 * there. To be mounted first of all.
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

/** Kept by no browser: the setting may be taken back. */
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

/** The parts of a signed link to something of an event. */
function linkParts(c: Context<HttpEnv>): string[] {
  onlyReads(c);
  const { project, event, expires, signature } = c.req.param() as Record<string, string>;
  return [project, event, expires, signature].map((part) => part ?? '');
}

/** A stranger's HTML: shown as it looks, without scripts, forms, frames or a single request to anywhere. */
const MAIL_HTML_CSP =
  "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

async function mailHtml(links: PayloadLinks, c: Context<HttpEnv>): Promise<Response> {
  const { bytes } = await links.openHtml(linkParts(c));
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

/** Sent as a download that no browser will run: the bytes are a stranger's. */
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
  open: (wanted: Wanted) => Promise<FileAnswer>,
): Promise<Response> {
  onlyReads(c);
  const { status, headers, body } = await open({
    head: c.req.method === 'HEAD',
    range: c.req.header('range'),
    ifRange: c.req.header('if-range'),
  });
  if (!(body instanceof FileBody)) return reply(c, body, status, headers);
  // Straight to the connection: a stream of the web between them takes longer than all the rest.
  const sent = body.send(c.env, status, commonHeaders(c, headers));
  await sent.catch((error: unknown) => onInternal(error, c.get('requestId')));
  return RESPONSE_ALREADY_SENT;
}
