import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { actOnItem, showItem } from '../../../ui/item.tsx';
import type { ActionResult, PageContext, PageResult, UiPage } from '../../page-context.ts';
import { fileItem } from './file.tsx';
import { keyItem } from './key.tsx';
import { showFiles, showKeys, showStates } from './levels.tsx';
import { actOnLink, showLinks } from './links.tsx';
import { showState } from './state.tsx';

/** Keys, task states, files and the public links to files. */
export const diskPage: UiPage = {
  path: 'disk',
  title: 'Disk',
  group: 'disk',
  scope: 'disk',
  topics: ['any'],
  show,
  act,
};

async function show(context: PageContext): Promise<PageResult> {
  const { id } = context;
  const [key, task, path] = ['key', 'task', 'path'].map((name) => context.query(name));
  if (id === null) return key === undefined ? showKeys(context) : showItem(keyItem, context, key);
  if (id === 'states') return task === undefined ? showStates(context) : showState(context, task);
  if (id === 'files')
    return path === undefined ? showFiles(context) : showItem(fileItem, context, path);
  if (id === 'links') return showLinks(context);
  throw new ServiceError('NOT_FOUND');
}

async function act(context: PageContext, body: string): Promise<ActionResult> {
  const { id } = context;
  const [key, path] = ['key', 'path'].map((name) => context.query(name));
  if (id === null && key !== undefined) return actOnItem(keyItem, context, { id: key, body });
  if (id === 'files' && path !== undefined) return actOnItem(fileItem, context, { id: path, body });
  if (id === 'links') return actOnLink(context, body);
  throw new ServiceError('NOT_FOUND');
}
