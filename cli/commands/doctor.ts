import { askStatus } from '../../daemon/probe.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { EXIT } from '../exit.ts';
import {
  checkCredentials,
  checkDaemon,
  checkDamage,
  checkDisk,
  checkIntegrity,
  checkNode,
  checkPermissions,
  checkPort,
  checkTelegram,
  type Finding,
} from '../doctor/checks.ts';
import { checkLocalProject } from '../doctor/clock.ts';
import { checkSignUp } from '../doctor/sign-up.ts';
import { checkGateway, checkReplica } from '../doctor/gateway.ts';

export const declaration: Declaration = {
  summary: 'Check this machine, the daemon and its files, and suggest fixes.',
  description:
    'If the daemon is stopped, also checks the databases. Exit code 1: something is broken.',
  args: [],
  options: [],
  examples: ['doctor', 'doctor --json'],
  seeAlso: ['status', 'logs'],
};

const MARKS = { ok: '✓', warning: '!', error: '✗' } as const;

/** `svc doctor`: checks everything between this command and the data. Exit code 1 if something is broken. */
export async function run(context: CommandContext): Promise<number> {
  const { output } = context;
  const findings = await output.spin('Checking', lookAtAll(context));
  if (output.json) output.answer({ items: findings });
  else for (const line of findings.flatMap(linesOf)) output.line(line);
  return findings.some(({ status }) => status === 'error') ? EXIT.refused : EXIT.done;
}

async function lookAtAll(context: CommandContext): Promise<Finding[]> {
  const { home, env } = context;
  const status = await askStatus(home.socketPath);
  return [
    checkNode(),
    checkPermissions(home),
    checkCredentials(home),
    checkDaemon(home, status),
    await checkPort(home, status),
    ...(status?.mode === 'local' ? await checkLocalProject(context) : []),
    ...(await checkGateway(context)),
    ...(await checkSignUp(context)),
    ...checkReplica(status),
    ...checkTelegram(status),
    await checkDisk(home, status),
    ...checkDamage(home, status),
    ...(status ? [] : [await checkIntegrity(home, env)]),
  ];
}

function linesOf({ check, status, detail, fix }: Finding): string[] {
  const line = `${MARKS[status]} ${check.padEnd(12)} ${detail}`;
  return fix === null ? [line] : [line, `  ${' '.repeat(12)} ${fix}`];
}
