import type { CommandContext, Declaration } from '../command.ts';
import { McpBridge } from '../mcp/bridge.ts';
import { ensureDaemon } from './up.ts';

export const declaration: Declaration = {
  summary: 'Serve MCP on standard input and output.',
  description:
    "For MCP clients that launch servers as a command. Passes each message to the daemon, and starts the daemon if it isn't running. Supports the revisions 2026-07-28, 2025-11-25 and 2025-06-18, and resource subscriptions.",
  args: [],
  options: [],
  examples: ['mcp'],
  seeAlso: ['mcp install', 'help agents'],
};

/** Speaks MCP on standard input and output, for clients that launch servers as a command. */
export async function run(context: CommandContext): Promise<void> {
  // With SVC_GATEWAY set, calls don't go through the daemon.
  const isLocal = !context.env['SVC_GATEWAY'];
  const ready = async (): Promise<void> => {
    if (isLocal) await ensureDaemon(context);
  };
  await ready();
  const bridge = new McpBridge({
    client: context.client(),
    input: process.stdin,
    output: process.stdout,
    ensureDaemon: ready,
    signal: context.signal,
    note: (text) => context.output.note(text),
  });
  await bridge.run();
}
