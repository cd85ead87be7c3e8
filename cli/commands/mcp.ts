import type { Client } from '../call/client.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { usageError } from '../errors.ts';
import { switchOption, textOption } from '../input/option-values.ts';
import { McpBridge } from '../mcp/bridge.ts';
import { keyLabel } from '../mcp/key-holder.ts';
import { ownClient } from '../mcp/own-key.ts';
import { toolsPath } from '../mcp/tools-path.ts';
import { ensureDaemon } from './up.ts';

export const declaration: Declaration = {
  summary: 'Serve MCP on standard input and output.',
  description:
    "For MCP clients that launch servers as a command. Passes each message to the daemon, and starts the daemon if it isn't running. Supports the revisions 2026-07-28, 2025-11-25 and 2025-06-18, and resource subscriptions.",
  args: [],
  options: [
    {
      flag: 'tools',
      value: 'A,B,…',
      summary:
        'Only these tools or toolsets: inbox, ask, disk, source, policy, email, ledger, session.',
    },
    { flag: 'read-only', summary: 'Only tools that change nothing.' },
    {
      flag: 'client',
      value: 'NAME',
      summary:
        'Use an API key of this client alone, as svc mcp install does; the first start makes it. SVC_API_KEY comes first.',
    },
  ],
  examples: ['mcp', 'mcp --tools inbox,ask', 'mcp --read-only', 'mcp --client claude-desktop'],
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
    client: await clientOf(context),
    path: toolsPath({
      tools: textOption(context, 'tools'),
      readOnly: switchOption(context, 'read-only'),
    }),
    input: process.stdin,
    output: process.stdout,
    ensureDaemon: ready,
    signal: context.signal,
    note: (text) => context.output.note(text),
  });
  await bridge.run();
}

const CLIENT_NAME = /^[a-z][a-z0-9-]{0,31}$/;

function clientOf(context: CommandContext): Client | Promise<Client> {
  const name = textOption(context, 'client');
  if (name === undefined) return context.client();
  if (!CLIENT_NAME.test(name)) {
    throw usageError('--client takes 1 to 32 of a-z, 0-9 and -, and begins with a letter.');
  }
  const holder = { profile: `mcp-${name}`, label: keyLabel(`mcp: ${name}`, null) };
  const readOnly = switchOption(context, 'read-only');
  return ownClient(context, holder, { scopes: null, diskPrefixes: null, readOnly });
}
