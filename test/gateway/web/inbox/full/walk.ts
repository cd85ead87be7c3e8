import type { WebVisitor } from '../web-visitor.ts';

/** These say which page it is; any other value only filters. */
const TELLING = new Set(['step', 'add', 'view', 'invite', 'project']);
const ID = /^(?:([a-z]{2,4})_[0-9a-z]{26}|\d+)$/;

/**
 * Every page of a project that links lead to from these, one of each form. An address with another id of the
 * same kind has the same form, and so has one with another filter.
 */
export async function walk(
  visitor: WebVisitor,
  base: string,
  from: readonly string[],
): Promise<string[]> {
  const found = [...from];
  const forms = new Set(from.map((path) => formOf(path)));
  for (const path of found) {
    const { html } = await visitor.get(path);
    for (const link of linksIn(html, path)) {
      const form = formOf(link);
      if (!link.startsWith(base) || forms.has(form)) continue;
      forms.add(form);
      found.push(link);
    }
  }
  return found;
}

function linksIn(html: string, path: string): string[] {
  const at = new URL(path, 'http://svc.test');
  return [...html.matchAll(/<a\b[^>]* href="([^"]*)"/g)].map(([, href = '']) => {
    const { pathname, search } = new URL(href.replaceAll('&amp;', '&'), at);
    return pathname + search;
  });
}

function formOf(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://svc.test');
  const place = pathname.split('/').map((part) => part.replace(ID, ':id $1'));
  const query = [...searchParams].map(([name, value]) =>
    TELLING.has(name) ? `${name}=${value}` : name,
  );
  return `${place.join('/')}?${query.toSorted().join('&')}`;
}
