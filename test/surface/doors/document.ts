import { openApiText } from '../files.ts';
import { guidePaths } from './guide.ts';
import { linkPaths } from './links.ts';
import { mcpPaths } from './mcp.ts';
import { oauthPaths } from './oauth.ts';
import { pagePaths } from './pages.ts';
import { replicaPaths } from './replica.ts';
import { signInPages } from './sign-in.ts';
import { uiPaths } from './ui.ts';

interface Document {
  readonly paths: Readonly<Record<string, object>>;
}

/**
 * The OpenAPI document with what the published one leaves out, because only programs of this service, browsers and MCP
 * clients call it: what is promised of their answers, and what a fuzzer may send them.
 */
export function wholeDocument(
  published: unknown = JSON.parse(openApiText()),
  { signsIn = true } = {},
): Document {
  const document = published as Document;
  return {
    ...document,
    paths: {
      ...document.paths,
      ...mcpPaths(),
      ...linkPaths(),
      ...pagePaths(),
      ...uiPaths(),
      ...replicaPaths(),
      ...guidePaths(),
      ...(signsIn && { ...oauthPaths(), ...signInPages() }),
    },
  };
}
