import { setTimeout as sleep } from 'node:timers/promises';
import {
  MissingRequiredClientCapabilityError,
  type CallToolResult,
} from '@modelcontextprotocol/server';
import type {
  CallableTool,
  CallSite,
  McpTables,
  Prompt,
  PromptTable,
  ResourceContents,
  ResourcePage,
  ResourceTable,
  ToolTable,
} from '../../shared/api/mcp/tables.ts';
import type { Scope } from '../../shared/lib/scopes.ts';

// The tools, resources and prompts that MCP's conformance suite calls by name, in addition to the product's.

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const text = (value: string) => ({ type: 'text', text: value }) as const;
const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const;
const embedded = (uri: string, value: string) =>
  ({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: value } }) as const;

function answering(
  content: CallToolResult['content'],
  options: { readonly isError?: boolean; readonly afterMs?: number } = {},
): CallableTool {
  const { isError = false, afterMs = 0 } = options;
  return {
    inputOf: (given) => given,
    pace: () => (afterMs > 0 ? 'long' : 'moment'),
    async run(): Promise<CallToolResult> {
      await sleep(afterMs);
      return { content, isError };
    },
    outlook: () => ({ message: 'on its way', total: afterMs / 1000 }),
  };
}

const refusing: CallableTool = {
  inputOf: (given) => given,
  pace: () => 'moment',
  async run(): Promise<CallToolResult> {
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
  },
  outlook: () => ({ message: 'never', total: undefined }),
};

const TOOLS: ReadonlyMap<string, CallableTool> = new Map([
  ['test_simple_text', answering([text('This is a simple text response for testing.')])],
  ['test_image_content', answering([image])],
  ['test_audio_content', answering([{ type: 'audio', data: WAV, mimeType: 'audio/wav' }])],
  ['test_embedded_resource', answering([embedded('test://embedded-resource', 'Embedded.')])],
  [
    'test_multiple_content_types',
    answering([text('Several:'), image, embedded('test://mixed-content-resource', '{}')]),
  ],
  [
    'test_error_handling',
    answering([text('This tool intentionally returns an error for testing')], { isError: true }),
  ],
  // It has to tell how it goes three times or more, on a machine that halts now and then, too.
  ['test_tool_with_progress', answering([text('Done.')], { afterMs: 1500 })],
  ['test_missing_capability', refusing],
  ['test_streaming_elicitation', answering([text('Nobody is asked.')], { afterMs: 50 })],
  ['test_logging_tool', answering([text('Nothing is logged.')], { afterMs: 50 })],
]);

class FixtureTools implements ToolTable {
  readonly #product: ToolTable;

  constructor(product: ToolTable) {
    this.#product = product;
  }

  find(name: string): CallableTool | undefined {
    return TOOLS.get(name) ?? this.#product.find(name);
  }

  whyMissing(name: string): string {
    return this.#product.whyMissing(name);
  }

  list(scopes: readonly Scope[]): readonly { readonly name: string }[] {
    const own = Array.from(TOOLS.keys(), (name) => ({
      name,
      description: 'Of the conformance suite.',
      inputSchema: { type: 'object', properties: {} },
    }));
    return [...own, ...this.#product.list(scopes)];
  }
}

const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/;

function fixtureContents(uri: string): ResourceContents | null {
  if (uri === 'test://static-text' || uri === 'test://watched-resource') {
    const value = 'This is the content of the static text resource.';
    return { uri, mimeType: 'text/plain', text: value };
  }
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: PNG };
  const id = TEMPLATE.exec(uri)?.[1];
  if (id === undefined) return null;
  return { uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true }) };
}

/** Reads more URIs; lists, templates and changes stay the product's. */
function withFixtures(product: ResourceTable): ResourceTable {
  return {
    list: async (cursor: string | undefined, site: CallSite): Promise<ResourcePage> => {
      const page = await product.list(cursor, site);
      const uri = 'test://static-text';
      return {
        ...page,
        resources: [{ uri, name: uri, mimeType: 'text/plain' }, ...page.resources],
      };
    },
    templates: (scopes) => product.templates(scopes),
    read: async (uri, site) => {
      const contents = fixtureContents(uri);
      return contents ? [contents] : product.read(uri, site);
    },
    topicOf: (uri, scopes) => product.topicOf(uri, scopes),
    listTopics: (scopes) => product.listTopics(scopes),
    mark: (uri, site) => product.mark(uri, site),
    complete: (template, variable, value, site) =>
      product.complete(template, variable, value, site),
  };
}

const user = (content: unknown) => ({ role: 'user', content });
const MESSAGES: Readonly<Record<string, (given: Readonly<Record<string, string>>) => unknown[]>> = {
  test_simple_prompt: () => [user(text('This is a simple prompt for testing.'))],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [
    user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  ],
  test_prompt_with_embedded_resource: ({ resourceUri = '' }) => [
    user(embedded(resourceUri, 'Embedded resource content for testing.')),
  ],
  test_prompt_with_image: () => [user(image)],
};

function withPrompts(product: PromptTable): PromptTable {
  const own: Prompt[] = Object.keys(MESSAGES).map((name) => ({
    name,
    title: name,
    description: 'Of the conformance suite.',
    arguments: [],
  }));
  return {
    list: (offered) => [...own, ...product.list(offered)],
    messages: (name, given, offered) =>
      MESSAGES[name]?.(given) ?? product.messages(name, given, offered),
    complete: async (name, argument, value, site) =>
      name in MESSAGES
        ? { values: ['test', 'tester'], hasMore: false }
        : product.complete(name, argument, value, site),
  };
}

/** The tables of the product with those fixtures in them. */
export function conformanceTables({ tools, resources, prompts }: McpTables): McpTables {
  return {
    tools: new FixtureTools(tools),
    resources: withFixtures(resources),
    prompts: withPrompts(prompts),
  };
}
