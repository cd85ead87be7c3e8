import { shapeNamed } from '../../shapes/named.ts';
import { UNTIL_DECIDED } from '../../approvals/options.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { run as send } from './send.ts';

export const declaration: Declaration = {
  summary: 'Answer a mail in its thread.',
  description:
    "Goes to the mail's Reply-To or From, with its subject. The policy may ask a person first, as for svc email send.",
  args: [{ name: 'event_id', required: true, summary: 'The event of the mail' }],
  options: [
    { flag: 'text', value: 'TEXT', summary: 'Plain text (required; text, @file or -)' },
    { flag: 'html', value: 'TEXT', summary: 'HTML, sent as given (text, @file or -)' },
    { flag: 'reply-all', value: 'true|false', summary: 'Also to its To and Cc (default false)' },
    { flag: 'quote', value: 'true|false', summary: 'Quote it below the text (default true)' },
    { flag: 'to', value: 'A,B,…', repeatable: true, summary: 'Other addresses than its sender' },
    { flag: 'cc', value: 'A,B,…', repeatable: true, summary: 'More addresses that all see' },
    { flag: 'bcc', value: 'A,B,…', repeatable: true, summary: 'Addresses that nobody else sees' },
    { flag: 'subject', value: 'VALUE', summary: 'Another subject' },
    { flag: 'attachments', value: 'A,B,…', repeatable: true, summary: 'Paths on the disk' },
    {
      flag: 'reply-to-inbox',
      value: 'true|false',
      summary: 'Replies arrive in the inbox (default true)',
    },
    { flag: 'wait', value: 'DURATION', summary: 'How long to wait for a person' },
    UNTIL_DECIDED,
  ],
  writes: true,
  examples: [
    'email reply evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --text @answer.txt',
    'email reply evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --text "Thank you." --reply-all true --quote false',
  ],
  seeAlso: ['email send', 'inbox get'],
};

/** `svc email reply`: sends an answer, as `svc email send` sends a mail. */
export async function run(context: CommandContext): Promise<number> {
  const { args, options } = context;
  const answered = { ...options, 'reply-to-event': String(args['event_id']) };
  return send({ ...context, args: {}, options: answered }, shapeNamed('email_send'));
}
