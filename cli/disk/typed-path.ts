import { pathOf, pathProblem } from '../../shared/rules/disk/disk-name.ts';
import { usageError } from '../errors.ts';

/** The path a user typed, which may be a `disk://` reference. */
export function typedPath(text: string): string {
  const path = pathOf(text);
  const problem = pathProblem(path);
  if (problem === null) return path;
  throw usageError(`"${text}" isn't a valid file path: ${problem}`, 'For example: reports/may.pdf');
}

/** The last segment. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** `reports` and `reports/` become `reports/`; `/` becomes the empty string, the whole disk. */
export function typedFolder(text: string): string {
  const path = pathOf(text).replace(/\/+$/, '');
  return path === '' ? '' : `${typedPath(path)}/`;
}
