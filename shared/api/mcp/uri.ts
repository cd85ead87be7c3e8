/** Longer than any name of ours becomes with each of its bytes written as `%XX`. */
const URI_MAX_CHARS = 2000;
const SHAPE = /^([a-z]+):\/\/(.+)$/s;

/** What an address of a resource says. */
export interface ResourceName {
  readonly scheme: string;
  /** Decoded. */
  readonly name: string;
}

/** The address of a resource: the name with its segments encoded (RFC 3986), which leaves most as they are. */
export function uriOf({ scheme, name }: ResourceName): string {
  return `${scheme}://${name.split('/').map(encodeURIComponent).join('/')}`;
}

/** Null for what is no address of ours. */
export function parseUri(uri: string): ResourceName | null {
  const [, scheme, encoded] = (uri.length <= URI_MAX_CHARS && SHAPE.exec(uri)) || [];
  if (scheme === undefined || encoded === undefined) return null;
  try {
    return { scheme, name: decodeURIComponent(encoded) };
  } catch {
    return null;
  }
}
