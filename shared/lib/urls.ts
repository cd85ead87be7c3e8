/**
 * A text as a URL, alone or relative to `base`; null if it's none. `URL.canParse` of Node 20 says no to letters such as ü
 * once V8 has compiled a program's calls of it.
 */
export function parsedUrl(text: string, base?: string | URL): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
