/** Links to the page with a request's whole text. */
export interface PageLink {
  readonly url: string;
  /** Telegram refuses a message with a link whose host has no dot. */
  readonly isTappable: boolean;
}

/** The page of a token at the public address. */
export function pageLink(publicUrl: string, token: string): PageLink {
  const base = new URL(publicUrl);
  // The same machine, under a name that Telegram accepts.
  if (base.hostname === 'localhost') base.hostname = '127.0.0.1';
  const url = `${base.href.replace(/\/+$/, '')}/a/${encodeURIComponent(token)}`;
  return { url, isTappable: base.hostname.includes('.') || base.hostname.startsWith('[') };
}
