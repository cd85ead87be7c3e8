/** Whether a path is absolute and has no part that stands for another: `.`, `..`, nothing. */
export function isPlainPath(path: string): boolean {
  return path.startsWith('/') && normal(path) === path && !path.includes('\\');
}

/** Whether a path is surely in one of the folders. Links aren't followed. */
export function isSurelyUnder(path: string, folders: readonly string[]): boolean {
  return isPlainPath(path) && folders.some((folder) => isIn(folder, path));
}

/**
 * Whether a path may be in one of the folders, on a file system that knows no upper and lower case, too; null if that
 * depends on where the tool runs.
 */
export function mayBeUnder(path: string, folders: readonly string[]): boolean | null {
  if (!path.startsWith('/')) return null;
  const whole = comparable(normal(path));
  return folders.some((folder) => isIn(comparable(folder), whole));
}

/** An absolute path without the parts that stand for another. */
function normal(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

function isIn(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? folder : `${folder}/`);
}

function comparable(path: string): string {
  return path.normalize('NFC').toLowerCase();
}
