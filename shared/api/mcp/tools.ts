import * as z from 'zod';
import { isWhole, type McpAddress } from '../../kernel/mcp-address.ts';
import type { McpShape, Operation } from '../../kernel/operation.ts';
import { mayCall, SCOPES, type Scope } from '../../lib/scopes.ts';
import { nearest } from '../../lib/suggest.ts';
import { inboxWait } from '../../operations/inbox/wait.ts';
import { OperationTool } from './call.ts';
import { amongOffered } from './tool-names.ts';
import { inputSchema, outputSchema, type ObjectSchema } from './schema.ts';
import type { CallableTool, ToolTable } from './tables.ts';
import { Toolset, toolsetsOf } from './toolsets.ts';
import { mayClaim, waitInput, WaitTool } from './tasks/wait-tool.ts';

/** A tool as `tools/list` shows it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  /** Missing if the answer may be null, because clients would insist on an object. */
  readonly outputSchema?: ObjectSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    /** Only tools that write have these two. */
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: true;
    readonly openWorldHint: boolean;
  };
}

/** The tools that these scopes may call, in the order of the operations. */
export function toolList(operations: readonly Operation[], scopes: readonly Scope[]): Tool[] {
  const tools = operations
    .filter((operation) => mayCall(scopes, operation.scope, operation.effect))
    .map((operation) => toolOf(operation, scopes))
    .filter((tool) => tool !== null);
  return amongOffered(tools);
}

function toolOf(operation: Operation, scopes: readonly Scope[]): Tool | null {
  const { name, summary, description, mcp, effect, output } = operation;
  if (mcp === false) return null;
  const isWait = operation === inboxWait;
  const isWrite = effect === 'write' || (isWait && mayClaim(scopes));
  return {
    name,
    title: mcp.title,
    description: `${summary} ${description}`,
    inputSchema: inputSchema(isWait ? waitInput(scopes) : shownInput(operation.input, mcp)),
    ...(!(output instanceof z.ZodNullable) && {
      outputSchema: outputSchema(output, mcp.untrusted !== undefined),
    }),
    annotations: {
      readOnlyHint: !isWrite,
      ...(isWrite && {
        destructiveHint: mcp.destructive ?? false,
        ...(mcp.idempotent && { idempotentHint: true }),
      }),
      openWorldHint: mcp.openWorld ?? false,
    },
  };
}

function shownInput(input: z.ZodObject, { without }: McpShape): z.ZodObject {
  if (!without) return input;
  const shown = Object.entries(input.shape).filter(([field]) => !without.includes(field));
  return z.strictObject(Object.fromEntries(shown));
}

/** No tool's name is longer. */
const NAME_MAX_CHARS = 40;

/** The operations that agents can call, by name, and their lists. */
export class ToolBook implements ToolTable {
  readonly #operations: readonly Operation[];
  readonly #byName: ReadonlyMap<string, CallableTool>;
  readonly #lists = new Map<string, readonly Tool[]>();
  /** The names of the tools by set. */
  readonly toolsets: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(operations: readonly Operation[]) {
    this.#operations = operations;
    const tools = operations.filter((operation) => operation.mcp !== false);
    this.toolsets = toolsetsOf(operations);
    this.#byName = new Map(
      tools.map((one) => [one.name, one === inboxWait ? new WaitTool() : new OperationTool(one)]),
    );
  }

  find(name: string): CallableTool | undefined {
    return this.#byName.get(name);
  }

  whyMissing(name: string): string {
    const meant = nearest(name.slice(0, NAME_MAX_CHARS), [...this.#byName.keys()]);
    return meant === null ? '' : `Did you mean ${meant}?`;
  }

  /** The part that a client asked for. VALIDATION_FAILED if it named something unknown. */
  part(address: McpAddress): ToolTable {
    return isWhole(address) ? this : new Toolset(this, address);
  }

  /** Whether a tool changes anything. */
  writes(name: string): boolean {
    return this.#operations.some((one) => one.name === name && one.effect === 'write');
  }

  /** Built once per set of scopes. */
  list(scopes: readonly Scope[]): readonly Tool[] {
    // Sorting by SCOPES keeps the number of sets small, in whatever order a key lists its scopes.
    const key = SCOPES.filter((scope) => scopes.includes(scope)).join(' ');
    let list = this.#lists.get(key);
    if (list === undefined) {
      list = toolList(this.#operations, scopes);
      this.#lists.set(key, list);
    }
    return list;
  }
}
