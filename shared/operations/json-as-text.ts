import * as z from 'zod';

/** Some clients send an object as its JSON text. It's kept as that text, because any JSON may be meant. */
export const asTextWarnings = z.array(z.string()).optional().describe('JSON kept as text.');

/** The warnings about fields, given as their JSON; none for undefined fields. */
export function warningsAsText(fields: Readonly<Record<string, string | undefined>>): {
  warnings?: string[];
} {
  const warnings = Object.entries(fields)
    .filter(([, json]) => json !== undefined && isJsonInText(json))
    .map(
      ([name]) =>
        `\`${name}\` is JSON written as text, and kept as text. If you mean the object or list in it, send that.`,
    );
  return warnings.length > 0 ? { warnings } : {};
}

/** Whether this JSON is a text that itself is an object or a list in JSON. */
function isJsonInText(json: string): boolean {
  if (!/^"(?:\s|\\[nrt])*[[{]/.test(json)) return false;
  try {
    JSON.parse(JSON.parse(json) as string);
    return true;
  } catch {
    return false;
  }
}
