import { allPages } from '../../cli/view/help/help.ts';
import { allCommands } from '../../cli/tree.ts';
import { toolList } from '../../shared/api/mcp/tools.ts';
import { atOnce } from '../../cli/shapes/at-once.ts';
import { openApiDocument } from '../../shared/api/openapi/document.ts';
import { operations } from '../../shared/operations/index.ts';
import { SCOPES } from '../../shared/lib/scopes.ts';
import { VERSION } from '../../shared/lib/version.ts';

/** A server as the pinned document names it. */
const SERVER = {
  version: VERSION,
  channels: [],
  telegramBot: null,
  mail: { domain: null, from: null },
  urls: {
    api: 'http://127.0.0.1:4780',
    mcp: 'http://127.0.0.1:4780/mcp',
    hooks: 'http://127.0.0.1:4780',
  },
};

/** Every help page, one after another. */
export function helpText(): string {
  return allPages(allCommands());
}

/** The OpenAPI document. */
export function openApiText(): string {
  return json(atOnce(openApiDocument(operations, SERVER, { signIn: true })));
}

/** The tools that a key with every scope sees. */
export function toolsText(): string {
  return json(toolList(operations, SCOPES));
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
