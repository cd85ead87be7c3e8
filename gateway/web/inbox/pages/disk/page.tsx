import { ServiceError } from '../../../../../shared/lib/errors.ts';
import type { ActionResult, PageContext, PageResult, UiPage } from '../../page-context.ts';
import { actOnFile, showFile } from './file.tsx';
import { showFiles } from './files.tsx';
import { actOnKey, showKey } from './key.tsx';
import { showKeys } from './keys.tsx';
import { actOnLink, showLinks } from './links.tsx';
import { showState } from './state.tsx';
import { showStates } from './states.tsx';

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
  if (id === null) return key === undefined ? showKeys(context) : showKey(context, key);
  if (id === 'states') return task === undefined ? showStates(context) : showState(context, task);
  if (id === 'files') return path === undefined ? showFiles(context) : showFile(context, path);
  if (id === 'links') return showLinks(context);
  throw new ServiceError('NOT_FOUND');
}

async function act(context: PageContext, body: string): Promise<ActionResult> {
  const { id } = context;
  const [key, path] = ['key', 'path'].map((name) => context.query(name));
  if (id === null && key !== undefined) return actOnKey(context, key, body);
  if (id === 'files' && path !== undefined) return actOnFile(context, path, body);
  if (id === 'links') return actOnLink(context, body);
  throw new ServiceError('NOT_FOUND');
}
