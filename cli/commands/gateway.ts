import type { CommandContext, Declaration } from '../command.ts';
import { becomeGateway } from '../gateway-process.ts';
import { switchOption, textOption } from '../input/option-values.ts';

export const declaration: Declaration = {
  summary: 'Run a gateway: the hosted process that a team shares.',
  description:
    'Stays in the foreground, logs JSON lines to standard output, and ends cleanly on SIGTERM or Ctrl-C. Settings come from environment variables, and from a file of NAME=value lines; the environment wins. What is wrong with them is told all at once. Without settings it listens on 127.0.0.1:4780, for trying it out.',
  args: [],
  options: [{ flag: 'config', value: 'FILE', summary: 'File with settings (SVC_CONFIG)' }],
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
