import { existsSync } from 'node:fs';
import { defaultDataFolder, operatorSocketPath } from '../../shared/host/gateway-data.ts';
import { isObject } from '../../shared/lib/guards.ts';
import type { CommandContext } from '../command.ts';
import { callOperator } from '../gateway/call.ts';
import { warning, type Finding } from './checks.ts';

/** Warns if a gateway on this machine lets anyone sign up and send mail. No finding without such a gateway. */
export async function checkSignUp(context: CommandContext): Promise<Finding[]> {
  const { env } = context;
  if (!existsSync(operatorSocketPath(env['SVC_DATA'] || defaultDataFolder(env)))) return [];
  const answer = await callOperator(context, { method: 'GET', path: '/invitations' }).catch(
    () => null,
  );
  if (!isObject(answer) || answer['sign_up'] !== 'open' || answer['sends_mail'] !== true) return [];
  const detail = 'anyone can create a project on the gateway here and send mail from your domain';
  return [
    warning('sign-up', detail, 'Set SVC_SIGN_UP=closed and invite people: svc gateway invite'),
  ];
}
