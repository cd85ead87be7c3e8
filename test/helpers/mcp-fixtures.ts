import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  MissingRequiredClientCapabilityError,
  type CallToolResult,
} from '@modelcontextprotocol/server';
import type {
  CallableTool,
  CallSite,
  McpTables,
  Task,
  TaskAccess,
  TaskTable,
  Prompt,
  PromptTable,
  ResourceContents,
  ResourcePage,
  ResourceTable,
  ToolTable,
} from '../../shared/api/mcp/tables.ts';
import type { Change } from '../../shared/kernel/context.ts';
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

type Fields = Readonly<Record<string, unknown>>;

/** A task of the suite, and what is to come of it. */
interface FixtureTask {
  readonly task: Task;
  readonly endsAt: number;
  readonly end: Pick<Task, 'status' | 'result' | 'error'>;
  readonly questions: Map<string, unknown>;
}

const STARTED = new Map<string, FixtureTask>();
const QUESTION = {
  method: 'elicitation/create',
  params: { message: 'Really?', requestedSchema: { type: 'object', properties: {} } },
};

function start(
  seconds: number,
  end: FixtureTask['end'],
  questions: readonly string[] = [],
): { readonly waitsFor: string } {
  const now = new Date();
  const at = now.toISOString();
  const taskId = randomUUID();
  const task = { taskId, createdAt: at, lastUpdatedAt: at, ttlMs: 60_000, pollIntervalMs: 200 };
  STARTED.set(taskId, {
    task: { ...task, status: 'working' },
    endsAt: now.getTime() + seconds * 1000,
    end,
    questions: new Map(questions.map((name) => [name, QUESTION])),
  });
  return { waitsFor: taskId };
}

const completed = (value: string, isError = false): FixtureTask['end'] => ({
  status: 'completed',
  result: { content: [text(value)], isError },
});

/** A tool that answers with a task; `needsTasks`: it has no other answer. */
function starting(
  begin: (input: Fields) => { readonly waitsFor: string },
  needsTasks = false,
): CallableTool {
  return {
    inputOf: (given) => given,
    pace: () => 'moment',
    async run(): Promise<CallToolResult> {
      const requiredCapabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
      if (needsTasks) throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
      return { content: [text('Done.')] };
    },
    start: async (input) => begin(input),
    outlook: () => ({ message: 'on its way', total: undefined }),
  };
}

class FixtureTasks implements TaskTable {
  readonly #product: TaskTable;

  constructor(product: TaskTable) {
    this.#product = product;
  }

  async get(id: string, access: TaskAccess): Promise<Task | null> {
    const started = STARTED.get(id);
    if (!started) return this.#product.get(id, access);
    const { task, endsAt, end, questions } = started;
    if (questions.size > 0 && task.status === 'working') {
      return { ...task, status: 'input_required', inputRequests: Object.fromEntries(questions) };
    }
    return task.status === 'working' && Date.now() >= endsAt ? { ...task, ...end } : task;
  }

  news(id: string, access: Omit<TaskAccess, 'holdMs'>): Promise<Task | null> {
    return STARTED.has(id)
      ? this.get(id, { ...access, holdMs: 0 })
      : this.#product.news(id, access);
  }

  concerns(id: string, change: Change | null): boolean {
    return STARTED.has(id) || this.#product.concerns(id, change);
  }

  async cancel(id: string, access: TaskAccess): Promise<boolean> {
    const started = STARTED.get(id);
    if (!started) return this.#product.cancel(id, access);
    if (Date.now() < started.endsAt || started.questions.size > 0) {
      STARTED.set(id, { ...started, task: { ...started.task, status: 'cancelled' } });
    }
    return true;
  }

  async update(id: string, answers: unknown, access: TaskAccess): Promise<boolean> {
    const started = STARTED.get(id);
    if (!started) return this.#product.update(id, answers, access);
    for (const name of Object.keys(answers ?? {})) started.questions.delete(name);
    return true;
  }
}

const TOOLS: ReadonlyMap<string, CallableTool> = new Map([
  [
    'greet',
    {
      ...answering([]),
      run: async ({ name }) => ({ content: [text(`Hello, ${String(name)}!`)] }),
    } satisfies CallableTool,
  ],
  ['slow_compute', starting(({ seconds }) => start(Number(seconds), completed('Computed.')))],
  ['failing_job', starting(() => start(1, completed('It failed.', true)), true)],
  [
    'protocol_error_job',
    starting(() => start(0, { status: 'failed', error: { code: -32603, message: 'Broken.' } })),
  ],
  ['confirm_delete', starting(() => start(0, completed('Deleted.'), ['confirm']))],
  ['multi_input', starting(() => start(0, completed('Both said.'), ['first', 'second']))],
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
export function conformanceTables({ tools, resources, prompts, tasks }: McpTables): McpTables {
  return {
    tools: new FixtureTools(tools),
    resources: withFixtures(resources),
    prompts: withPrompts(prompts),
    tasks: new FixtureTasks(tasks),
  };
}
