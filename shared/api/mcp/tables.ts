import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Caller, Change } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/executor.ts';
import type { McpAddress } from '../../kernel/mcp-address.ts';
import type { Scope } from '../../lib/scopes.ts';
import type { OnInternalError } from '../http.ts';
import type { ToolNames } from './tool-names.ts';

// The tables of everything that the MCP endpoint serves: the endpoint knows the protocol, the tables know the product.

/** The context of a call: who calls, through which executor, and until when. */
export interface CallSite {
  readonly executor: Executor;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly onInternal: OnInternalError;
}

/** What a held call reports while it has no result. */
export interface Outlook {
  readonly message: string;
  /** How many seconds the call may take in total. */
  readonly total: number | undefined;
}

export interface CallableTool {
  /** The arguments as the tool wants them: see `readArguments`. */
  inputOf(given: Record<string, unknown>): Record<string, unknown>;
  /**
   * `moment`: answered directly. `long`: may become a stream. `wait`: may become a stream, and doesn't count against
   * the rate limit.
   */
  pace(input: Record<string, unknown>): 'moment' | 'long' | 'wait';
  /** A failure is also a result, which the model reads. Rejects only with `ProtocolError`. */
  run(input: Record<string, unknown>, site: CallSite): Promise<CallToolResult>;
  /** The call of a client that takes tasks: doesn't wait, and says for which task the client may wait. */
  start?(input: Record<string, unknown>, site: CallSite): Promise<CallToolResult | WaitsFor>;
  outlook(input: Record<string, unknown>): Outlook;
}

export interface WaitsFor {
  readonly waitsFor: string;
  /** How long to look first whether the answer is there already. */
  readonly lookMs?: number;
}

/** A task as `tasks/get` shows it (SEP-2663). */
export interface Task {
  readonly taskId: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number | null;
  readonly pollIntervalMs?: number;
  /** For the client; no model reads it. */
  readonly statusMessage?: string;
  /** Once it's completed: what the tool answered. */
  readonly result?: CallToolResult;
  /** Once it has failed: the JSON-RPC error. */
  readonly error?: { readonly code: number; readonly message: string };
  /** While it asks its client something. */
  readonly inputRequests?: Readonly<Record<string, unknown>>;
}

export interface TaskAccess {
  readonly site: CallSite;
  /** The tools that the connection has: it sees their tasks only. */
  readonly tools: ToolTable;
  /** How long to wait for the end of the task. */
  readonly holdMs: number;
}

export interface TaskTable {
  /** Null for an unknown id, and for a task that the caller may not read. */
  get(id: string, access: TaskAccess): Promise<Task | null>;
  /** What to tell who follows a task: its end, or that a reading has the answer. Null if there's nothing to tell. */
  news(id: string, access: Omit<TaskAccess, 'holdMs'>): Promise<Task | null>;
  /** Whether a change may concern this task. `change` is null if nobody knows what has changed. */
  concerns(id: string, change: Change | null): boolean;
  /** Ends a task, unless it has ended; false for an unknown id. */
  cancel(id: string, access: TaskAccess): Promise<boolean>;
  /** Answers what a task asks its client; false for an unknown id. */
  update(id: string, answers: unknown, access: TaskAccess): Promise<boolean>;
}

export interface ToolTable {
  find(name: string): CallableTool | undefined;
  /** Why there is no such tool, as a sentence to follow `Unknown tool: x.`; empty if nothing is known. */
  whyMissing(name: string): string;
  /** The tools that these scopes may call. */
  list(scopes: readonly Scope[]): readonly { readonly name: string }[];
  /** The part that a client asked for. VALIDATION_FAILED if it named something unknown. */
  part?(address: McpAddress): ToolTable;
}

/** A resource as `resources/list` shows it. Outsiders wrote none of its text. */
export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType: string;
  /** In bytes. */
  readonly size?: number;
  readonly annotations?: { readonly lastModified: string };
}

export interface ResourceTemplate {
  /** A template as in RFC 6570. */
  readonly uriTemplate: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType?: string;
}

/** A text, or bytes as base64. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType: string;
  readonly text?: string;
  readonly blob?: string;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

export interface ResourcePage {
  readonly resources: readonly Resource[];
  /** Missing on the last page. */
  readonly nextCursor?: string;
}

/** At most a hundred values that start with the text typed so far. */
export interface Completion {
  readonly values: readonly string[];
  /** True if there are more values. */
  readonly hasMore: boolean;
}

/** The part of a project that a resource belongs to; change notices name a topic. */
export type Topic = 'disk' | 'inbox';

export interface ResourceTable {
  /** Lists only what the caller's scopes allow. VALIDATION_FAILED for a cursor that isn't from this list. */
  list(cursor: string | undefined, site: CallSite): Promise<ResourcePage>;
  templates(scopes: readonly Scope[]): readonly ResourceTemplate[];
  /** Null if nothing has this URI. SCOPE_MISSING; PAYLOAD_TOO_LARGE for a file that must be downloaded. */
  read(uri: string, site: CallSite): Promise<readonly ResourceContents[] | null>;
  /** The topic to follow for changes of this URI; null for an unknown kind, or if the scopes don't allow it. */
  topicOf(uri: string, scopes: readonly Scope[]): Topic | null;
  /** The topics whose changes affect the list. */
  listTopics(scopes: readonly Scope[]): readonly Topic[];
  /** A text that differs after the resource has changed; null while the resource doesn't exist. */
  mark(uri: string, site: CallSite): Promise<string | null>;
  /** Suggests values for a template's variable; null if the caller has no such template or variable. */
  complete(
    template: string,
    variable: string,
    value: string,
    site: CallSite,
  ): Promise<Completion | null>;
  /** The kinds of resources that one of these tools reads, too. */
  part?(tools: ToolTable): ResourceTable;
}

/** A prompt as `prompts/list` shows it. */
export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description: string;
    readonly required: boolean;
  }[];
}

export interface PromptTable {
  /** The prompts whose tools are all offered. */
  list(offered: ToolNames): readonly Prompt[];
  /** A prompt's messages as JSON values, for these tools; null if there's no such prompt. */
  messages(
    name: string,
    given: Readonly<Record<string, string>>,
    offered: ToolNames,
  ): readonly unknown[] | null;
  /** Suggests values for an argument; null if the caller has no such prompt or argument. */
  complete(
    name: string,
    argument: string,
    value: string,
    site: CallSite,
  ): Promise<Completion | null>;
}

export interface McpTables {
  readonly tools: ToolTable;
  readonly resources: ResourceTable;
  readonly prompts: PromptTable;
  readonly tasks: TaskTable;
}
