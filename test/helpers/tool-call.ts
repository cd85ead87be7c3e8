import type { TestGateway } from './gateway.ts';

/** What an MCP tool answers. */
export interface ToolAnswer {
  /** `CODE: message hint` of a refusal; otherwise null. */
  readonly refusal: string | null;
  /** The answer as JSON. */
  readonly value: Record<string, unknown>;
}

interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly text?: string }[];
  readonly structuredContent?: Record<string, unknown>;
}

/** Calls an MCP tool, as an agent's client does. */
export async function callTool(
  gateway: TestGateway,
  name: string,
  given: Record<string, unknown>,
): Promise<ToolAnswer> {
  const { body } = await gateway.call<{ result: ToolResult }>('POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } },
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
    },
  });
  const { isError = false, content, structuredContent = {} } = body.result;
  return { refusal: isError ? (content[0]?.text ?? '') : null, value: structuredContent };
}
