import { describe, expect, it } from 'vitest';
import { difference } from './likeness.ts';
import { stepsOf, withOutputs } from './page.ts';
import { Screen } from './screen.ts';

const PAGE = `# A page

\`\`\`console
$ svc kv set a 1
key  a
bob$ svc kv get a \\
> --json
{"value":1}
\`\`\`

<!-- docs: save policy.json -->

\`\`\`json
{ "rules": [] }
\`\`\`

<!-- docs: meanwhile press "Approve" -->

\`\`\`console
$ svc policy set @policy.json
\`\`\`

\`\`\`sh
svc down
\`\`\`

<!-- docs: runs -->

\`\`\`sh
npx svc up   # it starts
\`\`\`
`;

describe('a page', () => {
  it('has the commands of its blocks, with what is printed and what others do', () => {
    const steps = stepsOf(PAGE).map(({ machine, command, output, directives, silent }) => {
      return { machine, command, output, directives, silent };
    });
    const plain = { machine: '', output: [], directives: [], silent: false };
    expect(steps).toEqual([
      { ...plain, command: 'svc kv set a 1', output: ['key  a'] },
      { ...plain, machine: 'bob', command: 'svc kv get a \\\n--json', output: ['{"value":1}'] },
      {
        ...plain,
        command: 'svc policy set @policy.json',
        directives: ['file policy.json { "rules": [] }\\n', 'meanwhile press "Approve"'],
      },
      { ...plain, command: 'npx svc up   # it starts', silent: true },
    ]);
  });

  it('takes other outputs and is the same elsewhere', () => {
    const written = withOutputs(PAGE, [['key  b', 'more'], null, ['done'], ['not shown']]);
    expect(written).toBe(
      PAGE.replace('key  a', 'key  b\nmore').replace('@policy.json\n', '@policy.json\ndone\n'),
    );
  });

  it('has no line in a block that belongs to no command', () => {
    expect(() => stepsOf('```console\nnothing\n```\n')).toThrow('belongs to no command');
  });
});

describe('what is printed', () => {
  it.each([
    ['evt_01m80m9b2qchm1f1tc9sxezcv1  now', 'evt_01m80mazmawt9j1rp5pnnzvha7  3 s ago'],
    ['2026-11-22T03:21:01.108Z', '2027-01-01T00:00:00.000Z'],
    [
      'http://127.0.0.1:4780/w/…',
      'http://127.0.0.1:4780/w/ycgdw7vnw2fz6cq8qLAzBu8m2Ng12uMw9GrokXBb',
    ],
    ['done  49 ms', 'done  1.2 s'],
    ['ID      NAME', 'ID   NAME'],
    ['KEY     …    SCOPES', 'KEY  37pX  SCOPES'],
  ])('is alike where only ids, times and widths differ: %s', (page, printed) => {
    expect(difference([page], [printed])).toBe(null);
  });

  it.each([
    ['approved', 'denied'],
    ['3 entries', '4 entries'],
    ['evt_01m80m9b2qchm1f1tc9sxezcv1', 'key_01m80m9b2qchm1f1tc9sxezcv1'],
    ['version     1', 'version     2'],
  ])('is not alike otherwise: %s', (page, printed) => {
    expect(difference([page], [printed])).toContain(`It prints:\n${printed}`);
  });

  it('may have more lines where the page says so, and nowhere else', () => {
    expect(difference(['a', '…', 'd'], ['a', 'b', 'c', 'd'])).toBe(null);
    expect(difference(['a', '…'], ['a'])).toBe(null);
    expect(difference(['a', 'd'], ['a', 'b', 'd'])).not.toBe(null);
    expect(difference(['a', '…', 'd'], ['a', 'b'])).not.toBe(null);
    expect(difference([], ['a'])).not.toBe(null);
  });
});

it('a screen shows what is left when lines were cleared and written over', () => {
  const screen = new Screen().write(
    '\u001b[1mhead\u001b[0m\r\nspin\r\u001b[Kdone\r\nx\r\n\u001b[1A\u001b[Jy\r\n',
  );
  expect(screen.text()).toEqual(['head', 'done', 'y']);
  expect(screen.pieces()[0]).toEqual([{ text: 'head', style: { bold: true } }]);
});
