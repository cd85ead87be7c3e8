/** The part of the tools that a server offers. */
export interface WantedTools {
  /** Names of tools and toolsets, with commas; undefined means all. */
  readonly tools: string | undefined;
  readonly readOnly: boolean;
}

/** The address that offers the wanted tools. */
export function toolsPath({ tools, readOnly }: WantedTools): string {
  const path = readOnly ? '/mcp/readonly' : '/mcp';
  return tools === undefined ? path : `${path}?tools=${encodeURIComponent(tools)}`;
}
