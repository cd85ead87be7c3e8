import { ServiceError } from '../../../../shared/lib/errors.ts';
import { settingsOf } from '../navigation.tsx';
import { Heading, Row, Rows } from '../parts.tsx';
import type { PageContext, PageResult, UiPage } from '../page-context.ts';

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
      {settingsOf(context.pages).map(([section, pages]) => (
        <section aria-label={section}>
          <h2>{section}</h2>
          <Rows label={section}>
            {pages.map(({ path, title, setting }) => (
              <Row href={context.at(path)}>
                <span class="what">{title}</span>
                <span class="meta">{setting?.about}</span>
              </Row>
            ))}
          </Rows>
        </section>
      ))}
    </>
  );
  return Promise.resolve({ title: 'Settings', content });
}
