import type { JSX } from 'hono/jsx/jsx-runtime';
import type { AnswerOf } from '../../../../../shared/kernel/operation.ts';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { stringifyExact } from '../../../../../shared/lib/json/exact-json.ts';
import { kvDelete } from '../../../../../shared/operations/kv/delete.ts';
import { kvGet } from '../../../../../shared/operations/kv/get.ts';
import { isStateKey, STATE_PREFIX } from '../../../../../shared/rules/disk/disk-name.ts';
import { digitsOf } from '../../../ui/number.ts';
import { Facts } from '../../../ui/detail.tsx';
import type { Item } from '../../../ui/item.tsx';
import { ago, due, exact } from '../../../ui/text.tsx';
import type { PageContext } from '../../page-context.ts';
import { StoredValue } from './json-value.tsx';
import { diskUrl, folderUrl, named } from './parts.tsx';

type KeyEntry = NonNullable<AnswerOf<typeof kvGet>>;

/** One key with its value. */
export const keyItem: Item<KeyEntry> = {
  urlOf: (context, key) => diskUrl(context, undefined, { key }),
  up: (context, key) => [folderUrl(context, undefined, key), 'Keys'],
  find: async (context, key) => {
    const stored = await context.call(kvGet, { key });
    if (stored === null) throw new ServiceError('NOT_FOUND');
    return stored;
  },
  detail: (context, stored) => ({
    title: 'Key',
    heading: exact(stored.key),
    main: <StoredValue context={context} value={stored.value} noun="value" />,
    side: { title: 'About this key', lines: about(context, stored) },
  }),
  acts: [
    {
      name: 'delete',
      text: 'Delete',
      needs: kvDelete,
      asks: (_context, { key, version }) => ({
        heading: 'Delete this key?',
        consequences: named(
          key,
          `Its value is gone at once${isStateKey(key) ? ', with all its versions' : ''}. An agent that reads it finds nothing.`,
        ),
        hidden: [['version', version.toString()]],
        yes: 'Yes, delete it',
      }),
      // Unless somebody wrote it since the visitor saw it.
      run: async (context, { key }, { value }) => {
        await context.call(kvDelete, { key, if_version: Number(value('version')) });
        return null;
      },
    },
  ],
};

function about(context: PageContext, stored: KeyEntry): JSX.Element {
  const { key, value, expires_at: expires, updated_at: updated, version } = stored;
  return (
    <>
      <Facts
        facts={[
          ['Written', ago(context, updated)],
          ['Expires', due(context, expires)],
          ['Version', version.toString()],
          ['Size', `${digitsOf(Buffer.byteLength(stringifyExact(value)))} bytes`],
        ]}
      />
      {isStateKey(key) && (
        <a
          class="btn small"
          href={diskUrl(context, 'states', { task: key.slice(STATE_PREFIX.length) })}
        >
          Versions of this state
        </a>
      )}
    </>
  );
}
