const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

/** Returns `host:port` of a checked URL, so that equal destinations have equal text. */
export function destinationOf(callbackUrl: string): string {
  const { hostname, port, protocol } = new URL(callbackUrl);
  return `${hostname}:${port || (DEFAULT_PORTS[protocol] ?? '')}`;
}
