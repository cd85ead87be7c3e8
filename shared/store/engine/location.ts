/** Where a database is. */
export type DatabaseLocation = { readonly kind: 'file'; readonly path: string } | RemoteLocation;

/** The file on this machine from which the database is read. */
export function fileOf(location: DatabaseLocation): string {
  return location.kind === 'file' ? location.path : location.mirror;
}

/** A database on a libSQL server, reached by Hrana over HTTP, and its mirror on this machine. */
export interface RemoteLocation {
  readonly kind: 'remote';
  /** `libsql:`, `https:` or `http:`. */
  readonly url: string;
  /** Sent as a bearer token; null sends none. */
  readonly token: string | null;
  /** The path of the mirror: a file with the same rows, from which everything is read. */
  readonly mirror: string;
}
