import type { JSX } from 'hono/jsx/jsx-runtime';
import { memberInvite } from '../../../../shared/operations/member/invite.ts';
import { Choice, Field } from '../fields.tsx';
import { sealFlash } from '../flash.ts';
import { ROLE_CHOICES, type Member } from '../member-queries.ts';
import { Form, Heading, Problem, UpLink } from '../parts.tsx';
import { NO_REFUSAL, fieldsOf, refusalOf, type Refusal } from '../refusal.ts';
import type { ActionResult, PageContext, PageResult } from '../page-context.ts';

const FIELDS = ['email', 'role'] as const;

type Written = Readonly<Partial<Record<(typeof FIELDS)[number], string>>>;

const ADDRESS_MAX_CHARS = 320;

/** The form of an invitation, with the earlier input. */
export function showInvite(
  context: PageContext,
  written: Written = {},
  { status, text, fields }: Refusal = NO_REFUSAL,
): PageResult {
  const title = 'Invite a person';
  const content = (
    <div class="narrow stack">
      <UpLink href={context.at('members')}>All members</UpLink>
      <Heading title={title} />
      <Problem text={text} />
      <Form context={context} class="card stack">
        <Field
          name="email"
          label="Email address"
          value={written.email}
          maxlength={ADDRESS_MAX_CHARS}
          placeholder="ben@example.com"
          problem={fields['email']}
        />
        <Choice
          name="role"
          label="Role"
          value={written.role ?? 'member'}
          choices={ROLE_CHOICES}
          problem={fields['role']}
        />
        <button class="btn yes">Email them an invitation</button>
      </Form>
      <WhatFollows />
    </div>
  );
  return { title, content, status };
}

function WhatFollows(): JSX.Element {
  return (
    <section aria-labelledby="next">
      <h2 id="next">What happens next</h2>
      <ol class="steps">
        <li>If the role decides anything and you aren’t an owner, an owner is asked first.</li>
        <li>We email a link to this address. It works once, for 7 days.</li>
        <li>The person accepts, is signed in, and gets a key with svc login on their machine.</li>
      </ol>
    </section>
  );
}

/** Invites, and shows the new member. */
export async function invite(context: PageContext, body: string): Promise<ActionResult> {
  const written = fieldsOf(body, FIELDS);
  if (!written) {
    const text = 'We couldn’t read the form. Nobody was invited.';
    return showInvite(context, {}, { status: 400, text, fields: {} });
  }
  const input = { email: written.email?.trim() ?? '', role: written.role ?? '' };
  try {
    const answer = (await context.call(memberInvite, input)) as {
      member: Member;
      request_id: string | null;
    };
    const { id } = answer.member;
    const told = sealFlash(context, id, answer.request_id === null ? 'sent' : 'asked');
    return { to: `${context.at('members', id)}?told=${told}` };
  } catch (error) {
    const fieldOf = { CHANNEL_ADDRESS_REJECTED: 'email' } as const;
    return showInvite(context, written, refusalOf(error, FIELDS, fieldOf));
  }
}
