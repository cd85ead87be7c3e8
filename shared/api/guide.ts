import { readFile } from 'node:fs/promises';
import type { Context, Hono } from 'hono';
import { ServiceError } from '../lib/errors.ts';
import { once } from '../lib/once.ts';
import { methodNotAllowed, type HttpEnv } from './http.ts';
import { ReadyDocument } from './ready-document.ts';

/** https://llmstxt.org: where an agent begins to read. A page that it doesn't list isn't served. */
const INDEX = 'llms.txt';

/** The files of the guide at the top of the package. */
export const TOP_PAGES = [INDEX, 'README.md', 'SKILL.md', 'SECURITY.md', 'CHANGELOG.md'] as const;

/** Where its other pages are. */
export const GUIDE_FOLDERS = ['docs', 'docs/decisions'] as const;

/** Where the package is: one folder above the bundle, two above this file. */
const PACKAGE = new URL(import.meta.url.endsWith('.ts') ? '../../' : '../', import.meta.url);

/** Serves the pages of the package as they are, so that whoever has only an address can read how to use it. */
export function mountGuide(app: Hono<HttpEnv>): void {
  const pages = new Map<string, ReadyDocument>();
  const listed = once(async () => linksIn(await fileText(INDEX)));
  const answer = async (c: Context<HttpEnv>, path: string): Promise<Response> => {
    if (path !== INDEX && !(await listed()).has(path)) {
      throw new ServiceError('NOT_FOUND', { hint: `/${INDEX} lists the pages.` });
    }
    const page = pages.get(path) ?? new ReadyDocument(() => fileText(path), headersOf(path));
    pages.set(path, page);
    return page.answer(c);
  };
  for (const path of TOP_PAGES) serve(app, `/${path}`, (c) => answer(c, path));
  for (const folder of GUIDE_FOLDERS) {
    serve(app, `/${folder}/:page`, (c) => answer(c, `${folder}/${c.req.param('page')}`));
  }
}

function serve(
  app: Hono<HttpEnv>,
  path: string,
  answer: (c: Context<HttpEnv>) => Promise<Response>,
): void {
  app.get(path, answer);
  app.all(path, () => {
    throw methodNotAllowed(['GET']);
  });
}

function fileText(path: string): Promise<string> {
  return readFile(new URL(path, PACKAGE), 'utf8');
}

/** The pages that a text links to. */
function linksIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/\]\(([\w./-]+\.md)\)/g)].map(([, path = '']) => path));
}

function headersOf(path: string): Record<string, string> {
  const type = path === INDEX ? 'text/plain' : 'text/markdown';
  return { 'Content-Type': `${type}; charset=utf-8`, 'Cache-Control': 'no-cache' };
}
