import { isObject } from '../../../shared/lib/guards.ts';
import { isMailAddress } from '../../../shared/rules/mail/mail-address.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { badAnswer, usageError } from '../../errors.ts';
import { EXIT } from '../../exit.ts';
import { callOperator } from '../../gateway/call.ts';
import { DATA_OPTIONS } from '../../gateway/options.ts';
import { switchOption, textArgument } from '../../input/option-values.ts';
import { table } from '../../view/table.ts';
import { safeLine } from '../../view/terminal-text.ts';

export const declaration: Declaration = {
  order: 12,
  summary: 'Let a person sign up at the gateway running here, or list who is invited.',
  description:
    'Sign-up is closed unless SVC_SIGN_UP says otherwise: only invited people, and the first person of all, can create an account. The person gets a mail that says how to sign in. Without an address, lists the people who are invited and have not signed in yet.',
  args: [{ name: 'email', required: false, summary: "The person's email address" }],
  options: [
    { flag: 'revoke', summary: 'Take the invitation back. An account is not affected.' },
    ...DATA_OPTIONS,
  ],
  examples: [
    'gateway invite ana@example.com',
    'gateway invite',
    'gateway invite ana@example.com --revoke',
  ],
  seeAlso: ['gateway project list', 'login'],
};

/** `svc gateway invite`: exit code 3 if nobody is invited, or the invitation to take back isn't there. */
export async function run(context: CommandContext): Promise<number> {
  const email = textArgument(context, 'email');
  const revokes = switchOption(context, 'revoke');
  if (email === undefined) {
    if (revokes) throw usageError('Name the person whose invitation to take back.');
    return list(context);
  }
  if (!isMailAddress(email)) {
    throw usageError(
      `"${email}" isn't an email address.`,
      'For example: svc gateway invite ana@example.com',
    );
  }
  const path = revokes ? '/invitations/revoke' : '/invitations';
  const answer = await callOperator(context, { method: 'POST', path, body: { email } });
  if (!isObject(answer)) throw badAnswer("The answer isn't an invitation.");
  if (context.output.json) context.output.answer(answer);
  else context.output.advise(revokes ? revokedText(email, answer) : invitedText(email, answer));
  return revokes && answer['revoked'] !== true ? EXIT.nothing : EXIT.done;
}

async function list(context: CommandContext): Promise<number> {
  const answer = await callOperator(context, { method: 'GET', path: '/invitations' });
  const items: unknown = isObject(answer) ? answer['items'] : null;
  if (!isObject(answer) || !Array.isArray(items)) throw badAnswer("The answer isn't a list.");
  const people = items.filter(isObject);
  const rule = RULES[String(answer['sign_up'])] ?? '';
  context.output.answer(answer, {
    lines: (look) =>
      people.length === 0
        ? [`Nobody is invited. ${rule}`]
        : [...table(people, ['email', 'invited_at'], look), '', rule],
  });
  return people.length > 0 ? EXIT.done : EXIT.nothing;
}

const RULES: Readonly<Record<string, string>> = {
  closed: 'Sign-up is closed: invite people with svc gateway invite EMAIL.',
  listed: 'SVC_SIGN_UP also lets the addresses and domains it names sign up.',
  open: 'Sign-up is open (SVC_SIGN_UP=open), so nobody needs an invitation.',
};

type Fields = Readonly<Record<string, unknown>>;

function invitedText(email: string, { status, mailed }: Fields): string {
  if (status === 'has_account') return safeLine(`${email} has an account already.`);
  const how =
    mailed === true ? 'A mail says how to sign in.' : 'No mail went out: tell them yourself.';
  const again = status === 'invited_already' ? ' already' : '';
  return safeLine(`${email} is${again} invited. ${how}`);
}

function revokedText(email: string, { revoked }: Fields): string {
  const text = revoked === true ? 'is no longer invited.' : "wasn't invited.";
  return safeLine(`${email} ${text}`);
}
