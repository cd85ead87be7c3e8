/** Where the whole text of a request can be read. */
export interface PageLink {
  readonly url: string;
  /** Telegram refuses a whole message for a link whose host has no dot. */
  readonly isTappable: boolean;
}

/** The page of a token under the public address. */
export function pageLink(publicUrl: string, token: string): PageLink {
  const base = new URL(publicUrl);
  // The same machine, by a name that Telegram takes.
  if (base.hostname === 'localhost') base.hostname = '127.0.0.1';
  const url = `${base.href.replace(/\/+$/, '')}/a/${encodeURIComponent(token)}`;
  return { url, isTappable: base.hostname.includes('.') || base.hostname.startsWith('[') };
}
