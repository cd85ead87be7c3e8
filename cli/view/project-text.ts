import type { CommandContext } from '../command.ts';
import { storedProfiles } from '../signin/profiles.ts';

type ProjectTextContext = Pick<CommandContext, 'client' | 'home' | 'signal'>;

const WITHIN_MS = 2000;

/** A project as people know it: `Web shop (prj_…)`, or the id alone if the name isn't known. */
export async function projectText(context: ProjectTextContext, id: string | null): Promise<string> {
  if (id === null) return '–';
  const name = (await nameNow(context, id)) ?? storedName(context, id);
  return name === null ? id : `${name} (${id})`;
}

/** Null if the commands' own project is another one, or nothing answers. */
async function nameNow({ client, signal }: ProjectTextContext, id: string): Promise<string | null> {
  try {
    const { project } = await client().call('whoami', {}, { signal, timeoutMs: WITHIN_MS });
    return project.id === id ? project.name || null : null;
  } catch {
    return null;
  }
}

/** The name at the sign-in. */
function storedName({ home }: ProjectTextContext, id: string): string | null {
  try {
    const { profiles } = storedProfiles(home.credentialsFile);
    return Object.values(profiles).find(({ project }) => project === id)?.name || null;
  } catch {
    return null;
  }
}
