/**
 * Whether a text is a URL, alone or relative to `base`. `URL.canParse` of Node 20 says no to letters such as ü once V8 has
 * compiled a program's calls of it.
 */
export function isUrl(text: string, base?: string | URL): boolean {
  try {
    return new URL(text, base).href !== '';
  } catch {
    return false;
  }
}
