import { readFileSync } from 'node:fs';

/** What one line of a Dockerfile says. */
interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** One `FROM` with what follows it. */
export interface Stage {
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

export function readStages(path: string): Stage[] {
  const stages: { name: string; instructions: Instruction[] }[] = [];
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [, name = '', text = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (name === 'FROM')
      stages.push({ name: / AS (\S+)$/.exec(text)?.[1] ?? '', instructions: [] });
    else if (name !== '') stages.at(-1)?.instructions.push({ name, text });
  }
  return stages;
}

interface Places {
  /** What `COPY . .` takes. */
  readonly context: string;
  /** Where the stages get their root folders. */
  readonly folder: string;
}

/**
 * The steps of all stages as one shell script. Each stage runs in a root of its own that lies over this machine's, so it changes
 * nothing here; it begins with the user `node`, as the image does. Run it in a mount namespace of its own.
 */
export function buildScript(stages: readonly Stage[], places: Places): string {
  return ['set -eu', ...stages.flatMap((stage, number) => stageLines(stage, number, places))].join(
    '\n',
  );
}

export function rootOf(folder: string, number: number): string {
  return `${folder}/${number}/root`;
}

function stageLines(stage: Stage, number: number, places: Places): string[] {
  const at = `${places.folder}/${number}`;
  const root = rootOf(places.folder, number);
  const lines = [
    `mkdir -p ${at}/upper ${at}/work ${root}`,
    `mount -t overlay overlay -o lowerdir=/,upperdir=${at}/upper,workdir=${at}/work ${root}`,
    `mount --rbind /proc ${root}/proc && mount --rbind /dev ${root}/dev`,
    `chroot ${root} sh -c 'id node >/dev/null 2>&1 || useradd --create-home node'`,
  ];
  let folder = '/';
  for (const { name, text } of stage.instructions) {
    if (name === 'WORKDIR') {
      folder = text;
      lines.push(`mkdir -p ${root}${folder}`);
    } else if (name === 'RUN') {
      lines.push(`chroot ${root} sh -euc 'cd ${folder}; ${text}'`);
    } else if (name === 'COPY') {
      lines.push(copyLine(text, root + folder, places));
    } else if (!['USER', 'ENV', 'VOLUME', 'EXPOSE', 'HEALTHCHECK', 'CMD'].includes(name)) {
      throw new Error(`This test doesn't know the instruction ${name}.`);
    }
  }
  return lines;
}

function copyLine(text: string, there: string, { context, folder }: Places): string {
  const [, from, source = '', target = ''] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(text) ?? [];
  const here = from === undefined ? context : rootOf(folder, 0);
  const into = target.startsWith('/') ? there.replace(/\/[^/]*$/, '') + target : there;
  return source === '.' ? `cp -a ${here}/. ${into}/` : `cp -a ${here}${source} ${into}`;
}

/** The settings of the last stage, and what runs in it. */
export function runOf(stage: Stage): {
  readonly user: string;
  readonly env: readonly string[];
  readonly command: readonly string[];
  readonly health: readonly string[];
} {
  const text = (name: string): string =>
    stage.instructions.find((one) => one.name === name)?.text ?? '';
  return {
    user: text('USER'),
    env: text('ENV').split(' '),
    command: JSON.parse(text('CMD')) as string[],
    health: JSON.parse(text('HEALTHCHECK').replace(/^CMD /, '')) as string[],
  };
}
