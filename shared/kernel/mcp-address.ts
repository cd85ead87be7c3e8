/** An address of MCP by what it offers: `/mcp?tools=inbox,ask` and `/mcp/readonly`. */
export interface McpAddress {
  /** Toolsets and tools, separated by commas; undefined for all. */
  readonly tools: string | undefined;
  readonly readOnly: boolean;
}

/** The address in the URL of a resource (RFC 8707). */
export function mcpAddressOf(resource: string): McpAddress {
  const { pathname, searchParams } = new URL(resource);
  const tools = searchParams.get('tools') ?? undefined;
  return { tools, readOnly: pathname.endsWith('/readonly') };
}

/** Whether it offers all tools. */
export function isWhole({ tools, readOnly }: McpAddress): boolean {
  return tools === undefined && !readOnly;
}

/** Whether all that `asked` offers is also offered by `granted`, as far as their names tell. */
export function isWithin(asked: McpAddress, granted: McpAddress): boolean {
  if (granted.readOnly && !asked.readOnly) return false;
  if (granted.tools === undefined) return true;
  const names = wordsOf(granted.tools);
  return asked.tools !== undefined && wordsOf(asked.tools).every((word) => names.includes(word));
}

function wordsOf(tools: string): string[] {
  return tools.split(',').map((word) => word.trim());
}
