const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

/** `host:port` of a URL that was checked before: one text for one place. */
export function destinationOf(callbackUrl: string): string {
  const { hostname, port, protocol } = new URL(callbackUrl);
  return `${hostname}:${port || (DEFAULT_PORTS[protocol] ?? '')}`;
}
