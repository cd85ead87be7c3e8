import { rm } from 'node:fs/promises';
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readIfThere } from '../../daemon/files.ts';
import { removeEmpty } from './empty-folders.ts';
import { replaceFile } from './replace-file.ts';

const MODE = 0o644;
/** How our skill starts, in any release. */
const OURS = /^---\r?\nname: svc\r?\ndescription: Work with svc,/;

/** Writes the skill where the client looks for it. False if the file is there already, or isn't ours. */
export async function writeSkill(path: string): Promise<boolean> {
  const script = realpathSync(process.argv[1] ?? '.');
  const text = readIfThere(join(dirname(script), '..', 'SKILL.md'));
  const before = readIfThere(path);
  if (text === null || before === text) return false;
  if (before !== null && !OURS.test(before)) return false;
  await replaceFile(path, text, { newMode: MODE });
  return true;
}

/** Removes our skill, and the folders that are empty then. */
export async function removeSkill(path: string): Promise<boolean> {
  const before = readIfThere(path);
  if (before === null || !OURS.test(before)) return false;
  await rm(path);
  const own = dirname(path);
  const skills = dirname(own);
  await removeEmpty([own, skills, dirname(skills)]);
  return true;
}
