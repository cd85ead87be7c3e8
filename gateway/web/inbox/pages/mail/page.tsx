import { ServiceError } from '../../../../../shared/lib/errors.ts';
import type { PageContext, PageResult, UiPage } from '../../page-context.ts';
import { showMails } from './list.tsx';
import { showSentMail } from './sent.tsx';
import { showThread } from './thread.tsx';

/** The mails that came in and those that agents sent, by thread. */
export const mailPage: UiPage = {
  path: 'mail',
  title: 'Mail',
  group: 'mail',
  scope: 'inbox:read',
  topics: ['any'],
  show,
};

async function show(context: PageContext): Promise<PageResult> {
  const { id } = context;
  if (id === null) return showMails(context);
  if (id.startsWith('bat_')) return showSentMail(context, id);
  if (id.startsWith('thr_')) return showThread(context, id);
  throw new ServiceError('NOT_FOUND');
}
