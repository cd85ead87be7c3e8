import { GUIDE_FOLDERS, TOP_PAGES } from '../../../shared/api/guide.ts';
import { COMMON_HEADERS, errorResponses, inPath } from '../../../shared/api/openapi/responses.ts';

type Json = Record<string, unknown>;

/** How to use the service, in Markdown. */
export function guidePaths(): Record<string, Json> {
  const top = TOP_PAGES.map((path) => [`/${path}`, { get: page(path) }]);
  const others = GUIDE_FOLDERS.map((folder) => [
    `/${folder}/{page}`,
    { get: { ...page(`${folder}/{page}`), parameters: inPath('page') } },
  ]);
  return Object.fromEntries([...top, ...others]);
}

function page(path: string): Json {
  const type = path.endsWith('.txt') ? 'text/plain' : 'text/markdown';
  return {
    operationId: `guide_${/(\w+)(?:\.\w+|\/\{page\})$/.exec(path)?.[1]?.toLowerCase() ?? ''}`,
    tags: ['guide'],
    summary: `Read ${path}.`,
    description: 'A page of the package, for agents and people. `/llms.txt` lists all of them.',
    security: [],
    responses: {
      200: {
        description: 'The page.',
        headers: COMMON_HEADERS,
        content: { [type]: { schema: { type: 'string' } } },
      },
      304: { description: 'If-None-Match names the ETag of the answer: nothing has changed.' },
      ...errorResponses(['NOT_FOUND', 'METHOD_NOT_ALLOWED', 'INTERNAL']),
    },
  };
}
