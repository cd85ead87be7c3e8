import type { JSX } from 'hono/jsx/jsx-runtime';
import { Icon } from '../../../ui/icons.tsx';
import { line, time } from '../../../ui/text.tsx';
import { Form } from '../../../ui/parts.tsx';
import { fieldsOf } from '../../../ui/refusal.ts';
import type { ActionResult, PageContext } from '../../page-context.ts';

/** The keys that the visitor muted for their own channel. */
function mutedKeys({ access, inbox }: PageContext) {
  return inbox.requests.muted(access.project, access.channelId);
}

/** What is muted, each with a way back; nothing where nothing is. */
export async function mutedNotes(context: PageContext): Promise<JSX.Element[]> {
  const muted = await mutedKeys(context);
  return muted.map(({ keyId, name, until }) => (
    <div class="note">
      <Icon name="time" />
      <div>
        <p>
          Key {line(name, 'mono')} is muted until {time(context, until)}. Then you get one message
          about everything it asked.
        </p>
        <Form context={context}>
          <input type="hidden" name="key" value={keyId} />
          <button class="btn small" name="act" value="unmute">
            Unmute
          </button>
        </Form>
      </div>
    </div>
  ));
}

/** Ends a mute; null for a form that isn't about one. */
export async function unmute(context: PageContext, body: string): Promise<ActionResult | null> {
  const form = fieldsOf(body, ['act', 'key']);
  const { access, inbox } = context;
  const { channelId, project } = access;
  const muted = await mutedKeys(context);
  const isOne = form?.act === 'unmute' && muted.some(({ keyId }) => keyId === form.key);
  if (!isOne || channelId === null) return null;
  await inbox.requests.unmute(project, channelId, form.key ?? '');
  return { to: context.at('requests') };
}
