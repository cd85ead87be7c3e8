import type { CommandContext, Declaration } from '../command.ts';
import { becomeGateway } from '../gateway-process.ts';
import { switchOption, textOption } from '../input/option-values.ts';

export const declaration: Declaration = {
  summary: 'Run a gateway: the server a team shares.',
  description:
    'Runs in the foreground, logs JSON lines to standard output, and shuts down cleanly on SIGTERM or Ctrl-C. Reads settings from environment variables and from a file of NAME=value lines; the environment wins. Reports all invalid settings at once. Without settings it listens on 127.0.0.1:4780 so you can try it.',
  args: [],
  options: [{ flag: 'config', value: 'FILE', summary: 'Settings file (SVC_CONFIG)' }],
  examples: ['gateway', 'gateway --config /etc/svc/gateway.env'],
  seeAlso: ['gateway backup', 'gateway project list', 'help environment'],
};

/** `svc gateway`: this process becomes the gateway. */
export function run(context: CommandContext): Promise<never> {
  const config = textOption(context, 'config');
  const options = [
    ...(config === undefined ? [] : ['--config', config]),
    ...(switchOption(context, 'json') ? ['--json'] : []),
  ];
  return becomeGateway('gateway', options);
}
