/** Where a database is. */
export type DatabaseLocation = { readonly kind: 'file'; readonly path: string } | RemoteLocation;

/** A database on a libSQL server, reached by Hrana over HTTP. */
export interface RemoteLocation {
  readonly kind: 'remote';
  /** `libsql:`, `https:` or `http:`. */
  readonly url: string;
  /** Sent as a bearer token; null sends none. */
  readonly token: string | null;
}
