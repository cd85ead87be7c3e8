import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
  type ServerOptions,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import * as z from 'zod';
import { ServiceError } from '../../lib/errors.ts';
import type { Answer } from '../../kernel/executor.ts';
import { withMcpClient } from '../../kernel/caller.ts';
import { isObject } from '../../lib/guards.ts';
import { markMeta } from '../answer-marks.ts';
import { argumentsOf } from './arguments.ts';
import { TASKS } from './body.ts';
import { instructionsWith } from './instructions.ts';
import { offeredNames, type ToolNames } from './tool-names.ts';
import { invalidParams, refusedInside } from './refusal.ts';
import type { CallableTool, CallSite, McpTables, TaskAccess } from './tables.ts';

type Fields = Record<string, unknown>;
type Era = 'modern' | 'legacy';

/** The revision whose requests carry their version and client, and the revisions that start with `initialize`. */
const MODERN_VERSION = '2026-07-28';
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];
export const SUPPORTED_VERSIONS: readonly string[] = [MODERN_VERSION, ...LEGACY_VERSIONS];

/** Lists and the self-description change only with a release; answers that depend on the key are private. */
const RELEASE = { ttlMs: 300_000, cacheScope: 'private' } as const;
/** Fresh only until a change is announced, or not at all. */
const FRESH = { ttlMs: 0, cacheScope: 'private' } as const;

const COMMON: ServerOptions = {
  supportedProtocolVersions: [...SUPPORTED_VERSIONS],
  // All servers share it, because building one takes half the time of a call.
  jsonSchemaValidator: new AjvJsonSchemaValidator(),
  cacheHints: {
    'tools/list': RELEASE,
    'prompts/list': RELEASE,
    'resources/templates/list': RELEASE,
    'server/discover': RELEASE,
    'resources/list': FRESH,
    'resources/read': FRESH,
  },
};

/** Subscriptions in older revisions need a separate stream and a server that remembers its clients. We have neither. */
const OPTIONS: Readonly<Record<Era, ServerOptions>> = {
  modern: withCapabilities({ subscribe: true, listChanged: true }, { extensions: { [TASKS]: {} } }),
  legacy: withCapabilities({}),
};

function withCapabilities(resources: object, more: object = {}): ServerOptions {
  const fixed = { listChanged: false };
  const capabilities = { tools: fixed, resources, prompts: fixed, completions: {}, ...more };
  return { ...COMMON, capabilities };
}

/** One request and its context. */
export interface Exchange {
  readonly era: Era;
  readonly tables: McpTables;
  readonly version: string;
  /** The client asks what this server is and how to use it. */
  readonly introduces: boolean;
  /** If the tool may be held, its signal is the call's. */
  readonly site: CallSite;
  /** The client takes a task for an answer. */
  readonly takesTasks: boolean;
  /** The client's own name. */
  readonly clientName: string | undefined;
  /** How often a held call reports progress; null for a client that doesn't read streams. */
  readonly progressMs: number | null;
  /** How long `tasks/get` waits for the end of a task, so that a decision is seen at once. */
  readonly taskHoldMs: number;
  /**
   * Reports an error that HTTP should express: a missing or exhausted key, or an outage, concerns the whole request and
   * not its content.
   */
  readonly failed: (error: unknown) => void;
}

/** The SDK takes every answer to `tools/call` for a tool's result, and gives it content; a task has none. */
class TaskServer extends Server {
  protected override _wrapHandler(...given: Parameters<Server['_wrapHandler']>) {
    // oxlint-disable-next-line no-underscore-dangle -- the SDK names it so
    const handler = super._wrapHandler(...given);
    return async (...call: Parameters<typeof handler>) => {
      const result = await handler(...call);
      if (result['resultType'] !== 'task') return result;
      const { content: _none, ...task } = result;
      return task;
    };
  }
}

const PARAMS = { params: z.custom<Fields>() };

/** A server for one request, so that no other caller sees its state. */
export function serverOf(exchange: Exchange): Server {
  const { era, version, failed, introduces } = exchange;
  const instructions = introduces ? instructionsWith(offeredTo(exchange), exchange) : undefined;
  const server = new TaskServer(
    { name: 'svc', version },
    { ...OPTIONS[era], ...(instructions !== undefined && { instructions }) },
  );
  for (const [method, answer] of era === 'modern' ? MODERN_METHODS : METHODS) {
    server.setRequestHandler(method, PARAMS, async (params, context) => {
      try {
        return await answer(params, exchange, context);
      } catch (error) {
        if (error instanceof ProtocolError) throw error;
        failed(error);
        throw new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
      }
    });
  }
  return server;
}

function offeredTo({ tables, site }: Exchange): ToolNames {
  return offeredNames(tables.tools.list(site.caller.scopes));
}

type Method = (params: Fields, exchange: Exchange, context: ServerContext) => Promise<Fields>;

const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  [
    'tools/list',
    async (_params, { tables, site }) => ({ tools: tables.tools.list(site.caller.scopes) }),
  ],
  ['tools/call', callTool],
  ['resources/list', listResources],
  [
    'resources/templates/list',
    async (_params, { tables, site }) => ({
      resourceTemplates: tables.resources.templates(site.caller.scopes),
    }),
  ],
  ['resources/read', readResource],
  [
    'prompts/list',
    async (_params, exchange) => ({ prompts: exchange.tables.prompts.list(offeredTo(exchange)) }),
  ],
  ['prompts/get', getPrompt],
  ['completion/complete', complete],
]);

const MODERN_METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ...METHODS,
  ['tasks/get', getTask],
  ['tasks/update', updateTask],
  ['tasks/cancel', cancelTask],
]);

async function callTool(
  params: Fields,
  exchange: Exchange,
  context: ServerContext,
): Promise<Fields> {
  const { tables, site, clientName } = exchange;
  const name = String(params['name']);
  const tool = tables.tools.find(name);
  if (!tool) {
    const said = [`Unknown tool: ${name.slice(0, 100)}.`, tables.tools.whyMissing(name)];
    throw invalidParams([...said, 'See tools/list.'].filter(Boolean).join(' '));
  }
  const input = argumentsOf(params['arguments']);
  const key = context.mcpReq['_meta']?.['svc/idempotencyKey'];
  const caller = withMcpClient(site.caller, clientName, typeof key === 'string' ? key : undefined);
  const called = { ...site, caller };
  if (exchange.takesTasks && tool.start) return startTask(tool.start(input, called), exchange);
  const stop = tellProgress(tool, input, exchange, context);
  try {
    return await tool.run(input, called);
  } finally {
    stop();
  }
}

/** The answer if it's there at once, otherwise the task that the client waits for. */
async function startTask(
  starting: ReturnType<NonNullable<CallableTool['start']>>,
  { tables, site }: Exchange,
): Promise<Fields> {
  const started = await starting;
  const { waitsFor } = started;
  if (typeof waitsFor !== 'string') return { ...started };
  const holdMs = typeof started.lookMs === 'number' ? started.lookMs : 0;
  const task = await tables.tasks.get(waitsFor, { site, tools: tables.tools, holdMs });
  if (!task) throw new Error(`No task ${waitsFor}.`);
  // Somebody was quick, or nobody is to be asked.
  if (task.result) return { ...task.result };
  const { inputRequests: _asked, error: _why, ...created } = task;
  return { ...created, resultType: 'task' };
}

async function getTask(params: Fields, exchange: Exchange): Promise<Fields> {
  const [id, access] = taskIn(params, exchange, exchange.taskHoldMs);
  return { ...known(id, await exchange.tables.tasks.get(id, access)) };
}

async function updateTask(
  params: Fields,
  exchange: Exchange,
  { mcpReq }: ServerContext,
): Promise<Fields> {
  const [id, access] = taskIn(params, exchange);
  known(id, await exchange.tables.tasks.update(id, mcpReq.inputResponses, access));
  return {};
}

async function cancelTask(params: Fields, exchange: Exchange): Promise<Fields> {
  const [id, access] = taskIn(params, exchange);
  known(id, await refusals(exchange.tables.tasks.cancel(id, access)));
  return {};
}

function taskIn(
  { taskId }: Fields,
  { tables, site, takesTasks }: Exchange,
  holdMs = 0,
): [string, TaskAccess] {
  if (!takesTasks) {
    const requiredCapabilities = { extensions: { [TASKS]: {} } };
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
  }
  if (typeof taskId !== 'string') throw invalidParams('Invalid params: taskId must be a string');
  return [taskId, { site, tools: tables.tools, holdMs }];
}

function known<T>(id: string, found: T | null | false): T {
  if (found === null || found === false) {
    throw invalidParams(`Unknown task: ${id.slice(0, 100)}. A task is for keys of its project.`);
  }
  return found;
}

/** Reports progress to a client that sent a token for it. */
function tellProgress(
  tool: CallableTool,
  input: Fields,
  { progressMs }: Exchange,
  { mcpReq }: ServerContext,
): () => void {
  const progressToken = mcpReq['_meta']?.progressToken;
  const isHeld = tool.pace(input) !== 'moment';
  if (!isHeld || progressToken === undefined || progressMs === null) return () => {};
  const { total, message } = tool.outlook(input);
  let ticks = 0;
  const ticker = setInterval(() => {
    ticks += 1;
    const progress = (ticks * progressMs) / 1000;
    const params = { progressToken, progress, ...(total !== undefined && { total }), message };
    // If the client has left, nobody gets the notification.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  }, progressMs);
  return () => clearInterval(ticker);
}

async function listResources({ cursor }: Fields, { tables, site }: Exchange): Promise<Fields> {
  if (cursor !== undefined && typeof cursor !== 'string') {
    throw invalidParams('Invalid params: cursor must be a string');
  }
  const ages = new Ages(site);
  const page = await refusals(tables.resources.list(cursor, ages.site));
  return { ...page, ...ages.meta() };
}

async function readResource({ uri }: Fields, { tables, site }: Exchange): Promise<Fields> {
  if (typeof uri !== 'string') throw invalidParams('Invalid params: uri must be a string');
  const ages = new Ages(site);
  const contents = await refusals(tables.resources.read(uri, ages.site));
  if (!contents) throw new ResourceNotFoundError(uri, 'Resource not found');
  return { contents, ...ages.meta() };
}

async function getPrompt(params: Fields, exchange: Exchange): Promise<Fields> {
  const { name } = params;
  const given = argumentsOf(params['arguments']);
  const { prompts } = exchange.tables;
  const offered = offeredTo(exchange);
  const prompt = prompts.list(offered).find((one) => one.name === name);
  if (!prompt) throw invalidParams(`Unknown prompt: ${String(name).slice(0, 100)}`);
  if (!areTexts(given)) throw invalidParams('Invalid params: arguments must be texts');
  const missing = prompt.arguments.find((one) => one.required && given[one.name] === undefined);
  if (missing) throw invalidParams(`Invalid params: arguments lack ${missing.name}`);
  return {
    description: prompt.description,
    messages: prompts.messages(prompt.name, given, offered),
  };
}

async function complete({ ref, argument }: Fields, exchange: Exchange): Promise<Fields> {
  const { name, value } = isObject(argument) ? argument : {};
  if (!isObject(ref) || typeof name !== 'string' || typeof value !== 'string') {
    throw invalidParams('Invalid params: expected ref, and argument with name and value');
  }
  const { tables, site } = exchange;
  const { prompts, resources } = tables;
  const found = await refusals(
    ref['type'] === 'ref/prompt'
      ? prompts.list(offeredTo(exchange)).some((one) => one.name === ref['name'])
        ? prompts.complete(String(ref['name']), name, value, site)
        : Promise.resolve(null)
      : resources.complete(String(ref['uri']), name, value, site),
  );
  if (!found) throw invalidParams('Invalid params: ref and argument name nothing that is known');
  return { completion: found };
}

/** Collects the ages of the answers behind a resource, if a replica gave them. */
class Ages {
  readonly site: CallSite;
  #replica: NonNullable<Answer['replica']> | null = null;

  constructor(site: CallSite) {
    const { executor } = site;
    this.site = {
      ...site,
      executor: {
        authenticate: (credentials) => executor.authenticate(credentials),
        meter: (caller) => executor.meter(caller),
        follow: (caller, follower) => executor.follow(caller, follower),
        execute: async (...call) => {
          const answer = await executor.execute(...call);
          this.#note(answer);
          return answer;
        },
      },
    };
  }

  /** The age of the oldest answer. */
  meta(): Fields {
    return this.#replica ? { _meta: markMeta({ value: null, replica: this.#replica }) } : {};
  }

  #note({ replica }: Answer): void {
    if (replica && replica.ageMs >= (this.#replica?.ageMs ?? 0)) this.#replica = replica;
  }
}

const OUTSIDE: ReadonlySet<number> = new Set([401, 429]);

async function refusals<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const isInside =
      error instanceof ServiceError && error.status < 500 && !OUTSIDE.has(error.status);
    throw isInside ? refusedInside(error) : error;
  }
}

function areTexts(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((one) => typeof one === 'string');
}
