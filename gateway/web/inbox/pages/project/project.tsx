import { projectDelete } from '../../../../../shared/operations/project/delete.ts';
import { projectRename } from '../../../../../shared/operations/project/rename.ts';
import { Field } from '../../../ui/fields.tsx';
import { Form, Heading, Problem, UpLink } from '../../../ui/parts.tsx';
import { NO_REFUSAL, fieldsOf, refusalOf, type Refusal } from '../../../ui/refusal.ts';
import type { ActionResult, PageContext, PageResult } from '../../page-context.ts';

const NAME_MAX_CHARS = 100;

/** Only an owner's own session changes the project; keys ask an owner. */
export function mayChangeProject({ access, inbox }: PageContext): boolean {
  return inbox.server.signsIn === true && access.member?.role === 'owner';
}

/** The forms that rename and delete the project. */
export function showProject(
  context: PageContext,
  { status, text, fields }: Refusal = NO_REFUSAL,
): Promise<PageResult> {
  const title = 'This project';
  const content = (
    <div class="narrow stack">
      <UpLink href={context.at('members')}>All members</UpLink>
      <Heading title={title} />
      <Problem text={text} />
      <Form context={context} class="card stack">
        <Field
          name="name"
          label="Name"
          value={context.project.name}
          maxlength={NAME_MAX_CHARS}
          hint="The slug stays, because mail addresses and links contain it."
          problem={fields['name']}
        />
        <button class="btn" name="act" value="rename">
          Rename
        </button>
      </Form>
      <Form context={context} class="card stack">
        <h2>Delete the project</h2>
        <p>
          Every key, session, wait and replica ends at once. Then events, files, mail and the ledger
          are erased for good. Backups that the gateway’s operator made keep their copy. To keep one
          yourself, ask the operator for an export first.
        </p>
        <Field
          name="typed"
          label="Type the project’s name"
          maxlength={NAME_MAX_CHARS}
          problem={fields['typed']}
        />
        <button class="btn no" name="act" value="delete">
          Delete for good
        </button>
      </Form>
    </div>
  );
  return Promise.resolve({ title, content, status });
}

/** Renames the project, or deletes it if its name was typed. */
export async function changeProject(context: PageContext, body: string): Promise<ActionResult> {
  const form = fieldsOf(body, ['act', 'name', 'typed']);
  const isDeletion = form?.act === 'delete';
  if (!isDeletion && form?.act !== 'rename') {
    const text = 'We couldn’t read the form. Nothing was done.';
    return showProject(context, { status: 400, text, fields: {} });
  }
  try {
    if (isDeletion) {
      await context.call(projectDelete, { name: form.typed ?? '' });
      return { to: context.root };
    }
    await context.call(projectRename, { name: form.name?.trim() ?? '' });
    return { to: context.at('members') };
  } catch (error) {
    const { fields, ...refusal } = refusalOf(error, ['name']);
    const { name } = fields;
    const shown = name === undefined ? {} : { [isDeletion ? 'typed' : 'name']: name };
    return showProject(context, { ...refusal, fields: shown });
  }
}
