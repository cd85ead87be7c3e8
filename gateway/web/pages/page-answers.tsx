import type { Context } from 'hono';
import type { JSX } from 'hono/jsx/jsx-runtime';
import {
  logOf,
  reply,
  shownError,
  type HttpEnv,
  type OnInternalError,
} from '../../../shared/api/http.ts';
import { readBody, refuseEncoded } from '../../../shared/api/read-body.ts';
import type { Vault } from '../../../shared/kernel/context.ts';
import { render } from './document.tsx';
import type { Sender } from './csrf.ts';
import type { FormProofs } from './form-proofs.ts';
import { FORM_MAX_BYTES } from './form.ts';
import { MessagePage } from './message-page.tsx';
import { PAGE_HEADERS } from './style.ts';

export interface PagesOptions {
  /** The base URL of links; forms must come from its origin. */
  readonly publicUrl: string;
  /** Seals the choice between the first and the second step. */
  readonly vault: Vault;
  readonly forms: FormProofs;
  readonly onInternal: OnInternalError;
}

export type Ctx = Context<HttpEnv>;

const TOKEN = /^[0-9A-Za-z_-]{1,256}$/;

/** Null for tokens that none of our links can have, so that we needn't look them up. */
export function tokenOf(c: Ctx): string | null {
  const token = c.req.param('token') ?? '';
  return TOKEN.test(token) ? token : null;
}

export function isForm(c: Ctx): boolean {
  const [type = ''] = (c.req.header('content-type') ?? '').split(';');
  return type.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}

export async function bodyOf(c: Ctx, maxBytes = FORM_MAX_BYTES): Promise<string> {
  refuseEncoded(c.env.incoming);
  return (await readBody(c.env, maxBytes)).toString('utf8');
}

export function senderOf(c: Ctx): Sender {
  return {
    site: c.req.header('sec-fetch-site'),
    origin: c.req.header('origin'),
    host: c.req.header('host'),
  };
}

export function foreign(c: Ctx): Promise<Response> {
  return page(
    c,
    403,
    <MessagePage heading="Not decided">
      <p>
        This came from another website, so we ignored it. Open the link in your message and decide
        there.
      </p>
    </MessagePage>,
  );
}

export function notAllowed(c: Ctx): Promise<Response> {
  return page(
    c,
    405,
    <MessagePage heading="Nothing to do here">
      <p>Open the link in your message with a browser.</p>
    </MessagePage>,
    { Allow: 'GET, HEAD, POST' },
  );
}

/** After a failure we don't know whether the choice was recorded; the link's page does. */
export function failed(c: Ctx, cause: unknown, onInternal: OnInternalError): Promise<Response> {
  const error = shownError(cause, c.get('requestId'), logOf(c, onInternal));
  const tooLarge = error.code === 'PAYLOAD_TOO_LARGE';
  return page(
    c,
    error.status,
    <MessagePage heading={tooLarge ? 'That was too large' : 'Something went wrong on our side'}>
      <p>
        {tooLarge
          ? 'Nothing was decided. Go back, and write less.'
          : 'Please open the link in your message again in a minute. It shows the current state.'}
      </p>
      <p class="soft">
        Request <span class="exact mono">{c.get('requestId')}</span>
      </p>
    </MessagePage>,
    error.headers(),
  );
}

export async function page(
  c: Ctx,
  status: number,
  content: JSX.Element,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return reply(c, await render(content), status, { ...PAGE_HEADERS, ...headers });
}

/**
 * Redirects to a sibling page, by a relative URL that works behind any proxy, so that reloading never submits a form
 * again.
 */
export function seeOther(c: Ctx, location: string): Response {
  return reply(c, null, 303, { ...PAGE_HEADERS, Location: location });
}

/** What pages say about a form that they refuse. */
export const FORM_PROBLEMS = {
  noForm: 'That form isn’t from this page.',
  unclear: 'We couldn’t read your choice. Please choose again.',
  outdated: 'The page was out of date. Please look once more, then choose again.',
  early:
    'That came within a second of the page appearing, before anyone could read it. Please read it, then press again.',
} as const;

/** What a page says about a form of ours that doesn't count, and the status of the answer; null if it counts. */
export function formProblem(
  { forms }: Pick<PagesOptions, 'forms'>,
  text: string,
  proof: string | undefined,
): { readonly status: 403 | 409; readonly problem: string } | null {
  const judged = forms.judge(text, proof);
  if (judged === 'valid') return null;
  return judged === 'early'
    ? { status: 409, problem: FORM_PROBLEMS.early }
    : { status: 403, problem: FORM_PROBLEMS.outdated };
}
