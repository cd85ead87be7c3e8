import { askStatus } from '../../daemon/probe.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { EXIT } from '../exit.ts';
import type { Look } from '../view/table.ts';
import { safeLine, wrapNote } from '../view/terminal-text.ts';
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

/** As wide as the longest name. */
const CHECK_WIDTH = 12;
const MARKS = { ok: '✓', warning: '!', error: '✗' } as const;

/** `svc doctor`: checks everything between this command and the data. Exit code 1 if something is broken. */
export async function run(context: CommandContext): Promise<number> {
  const { output } = context;
  const findings = await output.spin('Checking', lookAtAll(context));
  if (output.json) output.answer({ items: findings });
  else output.lines((look) => findings.flatMap((finding) => linesOf(finding, look)));
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

function linesOf({ check, status, detail, fix }: Finding, look: Look): string[] {
  const head = `${MARKS[status]} ${check.padEnd(CHECK_WIDTH)} `;
  const texts = [detail, ...(fix === null ? [] : [look.typed(fix)])];
  const lines = texts.flatMap((text) => wrapNote(safeLine(text), look.columns - head.length));
  return lines.map((line, at) => (at === 0 ? head : ' '.repeat(head.length)) + line);
}
