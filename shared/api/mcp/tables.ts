import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Caller } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/executor.ts';
import type { Scope } from '../../lib/scopes.ts';
import type { OnInternalError } from '../http.ts';

// What the endpoint serves, in three tables: it knows the protocol, and they know the product.

/** For whom something is done, where, and until when. */
export interface CallSite {
  readonly executor: Executor;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly onInternal: OnInternalError;
}

/** What a held call tells while nothing comes of it. */
export interface Outlook {
  readonly message: string;
  /** How many seconds it may take in all. */
  readonly total: number | undefined;
}

export interface CallableTool {
  /** A `moment` is answered as it is, what is `long` may become a stream, and a `wait` is not metered besides. */
  readonly pace: 'moment' | 'long' | 'wait';
  /** A failure is a result too, which the model reads. Rejects with `ProtocolError` alone. */
  run(input: Record<string, unknown>, site: CallSite): Promise<CallToolResult>;
  outlook(input: Record<string, unknown>): Outlook;
}

export interface ToolTable {
  find(name: string): CallableTool | undefined;
  /** The tools that these scopes may call. */
  list(scopes: readonly Scope[]): readonly object[];
}

/** A resource as `resources/list` shows it. Nothing in it was written by outsiders. */
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
  /** RFC 6570. */
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
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/** At most a hundred values that begin with what was typed so far. */
export interface Completion {
  readonly values: readonly string[];
  /** There are others. */
  readonly hasMore: boolean;
}

/** Which part of a project a resource is of: its changes are told apart by that. */
export type Topic = 'disk' | 'inbox';

export interface ResourceTable {
  /** Only what the scopes of the caller allow. VALIDATION_FAILED for a cursor that is none of this list. */
  list(cursor: string | undefined, site: CallSite): Promise<ResourcePage>;
  templates(scopes: readonly Scope[]): readonly ResourceTemplate[];
  /** Null where there is nothing by this address. SCOPE_MISSING; PAYLOAD_TOO_LARGE for what is to be downloaded. */
  read(uri: string, site: CallSite): Promise<readonly ResourceContents[] | null>;
  /** Of what it can be heard that it changed; null for an address of no kind, or of one beyond these scopes. */
  topicOf(uri: string, scopes: readonly Scope[]): Topic | null;
  /** The topics whose changes change the list. */
  listTopics(scopes: readonly Scope[]): readonly Topic[];
  /** A text that is another one after the resource has changed; null while there is none. */
  mark(uri: string, site: CallSite): Promise<string | null>;
  /** Values for a variable of a template; null where there is none of this name for the caller. */
  complete(
    template: string,
    variable: string,
    value: string,
    site: CallSite,
  ): Promise<Completion | null>;
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
  list(scopes: readonly Scope[]): readonly Prompt[];
  /** The messages of a prompt as JSON values; null where there is none of this name for these scopes. */
  messages(
    name: string,
    given: Readonly<Record<string, string>>,
    scopes: readonly Scope[],
  ): readonly unknown[] | null;
  /** Values for an argument; null where there is none of this name for the caller. */
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
}
