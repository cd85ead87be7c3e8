import * as z from 'zod';
import { isRedirectUri } from './redirect-uri.ts';

/** A program that asks for access. It says all of this itself; only a document's host is certain. */
export interface OAuthClient {
  readonly id: string;
  readonly name: string | null;
  readonly redirectUris: readonly string[];
  /** The host that serves the client's metadata document; null for a registered client. */
  readonly host: string | null;
}

const NAME_CHARS_MAX = 100;

/** What we use of RFC 7591; clients send more. */
export const clientMetadata = z.object({
  client_name: z.string().optional(),
  redirect_uris: z.array(z.string()).min(1),
  token_endpoint_auth_method: z.string().optional(),
});

/** The name on one line, without control characters; null if nothing is left. */
export function nameOf({ client_name: name = '' }: z.output<typeof clientMetadata>): string | null {
  const line = name
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
  return line === '' ? null : Array.from(line).slice(0, NAME_CHARS_MAX).join('');
}

/** The addresses that codes may go to. A client may list others too, such as `app://`. */
export function redirectUrisOf({
  redirect_uris: uris,
}: z.output<typeof clientMetadata>): readonly string[] {
  return [...new Set(uris)].filter(isRedirectUri);
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
