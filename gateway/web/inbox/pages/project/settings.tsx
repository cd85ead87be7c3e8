import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { settingsOf } from '../../frame/navigation.tsx';
import { ListSection } from '../../../ui/list.tsx';
import { Heading } from '../../../ui/parts.tsx';
import type { PageContext, PageResult, UiPage } from '../../page-context.ts';

/** What the session may set up, by section. */
export const settingsPage: UiPage = {
  path: 'settings',
  title: 'Settings',
  group: 'settings',
  scope: 'any',
  topics: [],
  show,
};

function show(context: PageContext): Promise<PageResult> {
  if (context.id !== null) throw new ServiceError('NOT_FOUND');
  const content = (
    <>
      <Heading title="Settings" />
      <div class="sections">
        {settingsOf(context.pages).map(([section, pages]) => (
          <ListSection
            title={section}
            rows={pages.map(({ path, title, setting }) => ({
              href: context.at(path),
              what: title,
              meta: [setting?.about],
            }))}
          />
        ))}
      </div>
    </>
  );
  return Promise.resolve({ title: 'Settings', content });
}
