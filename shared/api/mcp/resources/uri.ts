/** Longer than any of our names with every byte encoded as `%XX`. */
const URI_MAX_CHARS = 2000;
const SHAPE = /^([a-z]+):\/\/(.+)$/s;

/** The parts of a resource's URI. */
export interface ResourceName {
  readonly scheme: string;
  /** Decoded. */
  readonly name: string;
}

/** The URI of a resource: its name with each segment encoded (RFC 3986), which leaves most names unchanged. */
export function uriOf({ scheme, name }: ResourceName): string {
  return `${scheme}://${name.split('/').map(encodeURIComponent).join('/')}`;
}

/** Null if the text isn't one of our URIs. */
export function parseUri(uri: string): ResourceName | null {
  const [, scheme, encoded] = (uri.length <= URI_MAX_CHARS && SHAPE.exec(uri)) || [];
  if (scheme === undefined || encoded === undefined) return null;
  try {
    return { scheme, name: decodeURIComponent(encoded) };
  } catch {
    return null;
  }
}
