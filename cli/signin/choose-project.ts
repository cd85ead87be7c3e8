import { didYouMean } from '../../shared/lib/suggest.ts';
import { CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { padToWidth, textWidth } from '../view/terminal-text.ts';
import type { Asker } from '../input/asker.ts';
import type { ProjectRef } from './calls.ts';

/** The project that the command line asks for: an existing one, a new one, or any. */
export type Wish =
  | { readonly project: string }
  | { readonly create: string }
  | { readonly anything: true };

/** What a sign-in will do. */
export type Choice =
  | { readonly kind: 'join'; readonly project: ProjectRef }
  | { readonly kind: 'create'; readonly name: string };

interface Situation {
  readonly projects: readonly ProjectRef[];
  readonly asker: Asker | null;
  /** The default name for a new project. */
  readonly folderName: string;
}

const NEW = 'n';
const OF_OTHERS =
  "To join someone else's project, accept an invitation first. Its owner sends one: svc member invite EMAIL --role member";

/** Takes the only project, asks if there are several, and creates one if there are none. */
export async function chooseProject(wish: Wish, situation: Situation): Promise<Choice> {
  if ('create' in wish) return { kind: 'create', name: wish.create };
  const { projects, asker, folderName } = situation;
  if ('project' in wish) return { kind: 'join', project: wanted(wish.project, projects) };
  const [only, ...more] = projects;
  if (!only) {
    return { kind: 'create', name: asker ? await askName(asker, folderName) : folderName };
  }
  if (more.length === 0) return { kind: 'join', project: only };
  if (asker) return askWhich(asker, situation);
  throw usageError(
    `This account has ${projects.length} projects: ${slugsOf(projects)}.`,
    "Run the command again with --project SLUG, or with --create NAME for a new one. It won't send another mail.",
  );
}

function wanted(text: string, projects: readonly ProjectRef[]): ProjectRef {
  const found = named(text, projects);
  if (found) return found;
  const slugs = projects.map(({ slug }) => slug);
  throw new CliError({
    code: 'NO_SUCH_PROJECT',
    message: `This account has no project "${text}".${didYouMean(text, slugs)}`,
    hint:
      projects.length > 0
        ? `It has: ${slugsOf(projects)}. Run the command again with one of those; it won't send another mail. ${OF_OTHERS}`
        : `It has no projects yet. Run the command again with --create NAME; it won't send another mail. ${OF_OTHERS}`,
    exit: EXIT.refused,
  });
}

function named(text: string, projects: readonly ProjectRef[]): ProjectRef | undefined {
  return projects.find(({ id, slug }) => id === text || slug === text.toLowerCase());
}

function slugsOf(projects: readonly ProjectRef[]): string {
  return projects.map(({ slug }) => slug).join(', ');
}

async function askWhich(asker: Asker, { projects, folderName }: Situation): Promise<Choice> {
  const width = Math.max(...projects.map(({ slug }) => textWidth(slug)));
  asker.show([
    'Your projects:',
    ...projects.map(({ slug, name }, at) => `  ${at + 1}  ${padToWidth(slug, width)}  ${name}`),
    `  ${NEW}  a new project`,
  ]);
  for (;;) {
    const text = await asker.ask('Which one?');
    if (text === NEW) return { kind: 'create', name: await askName(asker, folderName) };
    const project = named(text, projects) ?? (/^\d+$/.test(text) && projects[Number(text) - 1]);
    if (project) return { kind: 'join', project };
    asker.show([`Type a number from 1 to ${projects.length}, a name from the list, or ${NEW}.`]);
  }
}

async function askName(asker: Asker, folderName: string): Promise<string> {
  return (await asker.ask(`Name of the new project (${folderName}):`)) || folderName;
}
