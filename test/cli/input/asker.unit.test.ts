import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { LineAsker } from '../../../cli/input/asker.ts';
import { chooseProject } from '../../../cli/signin/choose-project.ts';
import { TextSink } from '../fake-output.ts';

const PROJECTS = [
  { id: 'prj_1', slug: 'acme', name: 'Acme \u001b[31mInc' },
  { id: 'prj_2', slug: 'web-shop', name: 'Web shop' },
];

/** A person who types these lines, and then ends the input where no more are wanted. */
function person(...lines: readonly string[]) {
  const [input, output] = [new PassThrough(), new TextSink(true)];
  const interruption = new AbortController();
  for (const line of lines) input.write(`${line}\n`);
  return { input, output, interruption, asker: new LineAsker(input, output, interruption.signal) };
}

describe('a question on the terminal', () => {
  it('is answered by a line, without the blanks around it', async () => {
    const { asker, output } = person('  ana@example.com ', 'second');
    expect(await asker.ask('Your email address:')).toBe('ana@example.com');
    expect(await asker.ask('And?')).toBe('second');
    expect(output.text).toBe('Your email address: And? ');
    asker.close();
  });

  it('is a wrong usage when nobody answers', async () => {
    const { asker, input } = person();
    input.end();
    await expect(asker.ask('Who?')).rejects.toMatchObject({ code: 'USAGE', exit: 2 });
  });

  it('ends with Ctrl-C', async () => {
    const { asker, interruption } = person();
    const asked = asker.ask('Who?');
    interruption.abort();
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a choice among projects', () => {
  const wish = { anything: true } as const;
  const choose = (asker: LineAsker, projects = PROJECTS) =>
    chooseProject(wish, { projects, asker, folderName: 'here' });

  it('is made by number', async () => {
    const { asker, output } = person('2');
    expect(await choose(asker)).toEqual({ kind: 'join', project: PROJECTS[1] });
    expect(output.text).toBe(
      'Your projects:\n' +
        '  1  acme      Acme Inc\n' +
        '  2  web-shop  Web shop\n' +
        '  n  a new project\n' +
        'Which one? ',
    );
  });

  it('is made by name, and asked for again until it is one', async () => {
    const { asker, output } = person('', '3', '0', 'acme');
    expect(await choose(asker)).toEqual({ kind: 'join', project: PROJECTS[0] });
    expect(output.text.match(/Type a number from 1 to 2/g)).toHaveLength(3);
  });

  it.each([
    ['Books', 'Books'],
    ['', 'here'],
  ])('may be a new one: %j', async (typed, name) => {
    const { asker, output } = person('n', typed);
    expect(await choose(asker)).toEqual({ kind: 'create', name });
    expect(output.text).toContain('Name of the new project (here): ');
  });

  it('is not asked about where there is one, and a name where there is none', async () => {
    const [first = PROJECTS[0]] = PROJECTS;
    const one = person();
    const only = first === undefined ? [] : [first];
    expect(await choose(one.asker, only)).toEqual({ kind: 'join', project: first });
    expect(one.output.text).toBe('');
    expect(await choose(person('Shop').asker, [])).toEqual({ kind: 'create', name: 'Shop' });
  });
});
