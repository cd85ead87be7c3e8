import type { CommandContext } from '../command.ts';
import { McpBridge } from '../mcp/bridge.ts';
import { ensureDaemon } from './up.ts';

/** Speaks MCP on standard input and output, for clients that start their servers as a command. */
export async function run(context: CommandContext): Promise<void> {
  // Calls go past the daemon where a gateway is named.
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
