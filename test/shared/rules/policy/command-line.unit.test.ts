import { describe, expect, it } from 'vitest';
import { commandsIn, runsAny, runsOnly } from '../../../../shared/rules/policy/command-line.ts';
import { compilePolicy, decidePolicy } from '../../../../shared/rules/policy/decide.ts';
import { parsePolicy } from '../../../../shared/rules/policy/document.ts';
import { explainPolicy } from '../../../../shared/rules/policy/explain.ts';
import { shadowedRules } from '../../../../shared/rules/policy/shadowed.ts';
import type { PolicySubject } from '../../../../shared/rules/policy/subject.ts';

const ALLOWED = ['git status', 'npm test'];

function bash(input: unknown): PolicySubject {
  const call = { tool: 'ask_approval', amount: null, risk: 'medium' } as const;
  return { ...call, action: 'tool.Bash', bind: input, recipientDomains: null };
}

function decision(rules: readonly object[], input: unknown): string {
  return decidePolicy(compilePolicy(parsePolicy({ rules })), bash(input)).effect;
}

const ALLOW = {
  effect: 'auto_approve',
  action: 'tool.Bash',
  bind: { '/command': { command: ALLOWED } },
};

/** What runs beside, instead of or within the two commands. */
const EVIL = 'touch /tmp/owned';
const AROUND = ALLOWED.flatMap((command) => [
  `${command}; ${EVIL}`,
  `${command};${EVIL}`,
  `${EVIL};${command}`,
  `${command} && ${EVIL}`,
  `${command}&&${EVIL}`,
  `${command} || ${EVIL}`,
  `${command} | sh`,
  `${command}|sh`,
  `${command} |& sh`,
  `${command} & ${EVIL}`,
  `${command} &`,
  `${command}&${EVIL}`,
  `${command}\n${EVIL}`,
  `${command}\r\n${EVIL}`,
  `${command}\r${EVIL}`,
  `${EVIL}\n${command}`,
  `${command} \\\n; ${EVIL}`,
  `${command}\v${EVIL}`,
  `${command}\f; ${EVIL}`,
  `${command}\0; ${EVIL}`,
  `${command}\u2028${EVIL}`,
  `${command}\u0085${EVIL}`,
  `${command} $(${EVIL})`,
  `${command} "$(${EVIL})"`,
  `${command} \`${EVIL}\``,
  `${command} "\`${EVIL}\`"`,
  `${command} <(${EVIL})`,
  `${command} >(${EVIL})`,
  `${command} > ~/.bashrc`,
  `${command} >> ~/.bashrc`,
  `${command} >| /etc/passwd`,
  `${command} 2> /tmp/x`,
  `${command} >/dev/null/../x`,
  `${command} >/dev/nullx`,
  `${command} >&3`,
  `${command} < /etc/shadow`,
  `${command} << X\n${EVIL}\nX`,
  `${command} <<< "x"`,
  `${command} $HOME`,
  `${command} \${x:=$(${EVIL})}`,
  `${command} $((1))`,
  `${command} $'\\x3b'`,
  `${command} {a,b}`,
  `${command} *`,
  `${command} ?`,
  `${command} [a]`,
  `${command} ~`,
  `${command} # ${EVIL}`,
  `${command} !!`,
  `${command} --x=/tmp/evil.sh`,
  `${command} --script-shell=/tmp/evil.sh`,
  `${command} -- ${EVIL}`,
  `(${command}; ${EVIL})`,
  `(${command})`,
  `{ ${command}; ${EVIL}; }`,
  `{ ${command}; }`,
  `! ${command}`,
  `if ${command}; then ${EVIL}; fi`,
  `while ${command}; do ${EVIL}; done`,
  `for x in 1; do ${command}; done`,
  `case x in x) ${command};; esac`,
  `f() { ${EVIL}; }; f; ${command}`,
  `function git { ${EVIL}; }; ${command}`,
  `git() { ${EVIL}; }; ${command}`,
  `npm() ${EVIL}; ${command}`,
  `alias git=touch; ${command}`,
  `export PATH=/tmp:$PATH; ${command}`,
  `PATH=/tmp ${command}`,
  `LD_PRELOAD=/tmp/x.so ${command}`,
  `GIT_PAGER=${EVIL} ${command}`,
  `GIT_SSH_COMMAND='${EVIL}' ${command}`,
  `NODE_OPTIONS=--require=/tmp/x.js ${command}`,
  `A=1 B=2 ${command}`,
  `A+=1 ${command}`,
  `env ${command}`,
  `env A=b ${command}`,
  `/usr/bin/env ${command}`,
  `sudo ${command}`,
  `time ${command}`,
  `nohup ${command}`,
  `exec ${command}`,
  `eval ${command}`,
  `eval "${command}"`,
  `command ${command}`,
  `builtin ${command}`,
  `xargs ${command}`,
  `echo x | xargs ${command}`,
  `sh -c "${command}"`,
  `sh -c '${command}; ${EVIL}'`,
  `bash -c ${command}`,
  `sh ${command}`,
  `source ${command}`,
  `. ${command}`,
  `cd /tmp && ${command}`,
  `cd /tmp; ${command}`,
  `/tmp/${command}`,
  `./${command}`,
  `${command}x`,
  command.toUpperCase(),
  command.replace(' ', '\u00a0'),
  command.replace(' ', '\u2003'),
  command.replace(' ', ''),
  command.replace(' ', '\\ '),
  `"${command}"`,
  `'${command}'`,
  `${command} ''`,
  `${command} '`,
  `${command} "`,
  `${command} ;`,
  `; ${command}`,
  `${command} ;; ${EVIL}`,
  `${command} && `,
  `&& ${command}`,
  `${command} | `,
  `${command} ||| ${EVIL}`,
  `coproc ${command}`,
  `select x in 1; do ${command}; done`,
  `trap '${EVIL}' EXIT; ${command}`,
  `set -x; ${command}`,
  `[[ -f x ]] && ${command}`,
  `test -f x && ${command}`,
  `=${command}`,
  `\\${command}`,
  `%1 ${command}`,
]);
const HOSTILE = [
  ...AROUND,
  'git -c core.pager=touch status',
  'git -c core.fsmonitor="touch /tmp/owned" status',
  'git -C /tmp/evil status',
  'git --git-dir=/tmp/evil status',
  'git --exec-path=/tmp status',
  'git --paginate status',
  'git -p status',
  'git --config-env=core.pager=X status',
  'git status --help',
  'git stash',
  'git',
  'git "status" --x',
  'npm --prefix /tmp/evil test',
  'npm test --prefix /tmp/evil',
  'npm -g test',
  'npm run test',
  'npm test2>&1x',
  'npm test 2>&1x',
  'npm 2>&1 test x',
  'npm test >/dev/null x',
  '',
  ' ',
  '\n',
];

function stop(effect: string) {
  const bind = { '/command': { command: ['git push *', 'rm *'] } };
  return { id: 'stop', effect, action: 'tool.Bash', bind };
}

/** How many of two rules for the same commands never decide. */
function idle(first: string, second: string): number {
  return shadowedRules(parsePolicy({ rules: [{ ...stop(first), id: 'first' }, stop(second)] }))
    .length;
}

function under(effect: string, folder: string) {
  return { effect, action: 'tool.Bash', bind: { '/file_path': { under: folder } } };
}

/** The path of the mistake in a rule with this test. */
function mistakeIn(test: object): unknown {
  try {
    return parsePolicy({ rules: [{ effect: 'allow', bind: { '/x': test } }] });
  } catch (error) {
    return (error as { details?: { path?: string } }).details?.path;
  }
}

describe('a rule for commands', () => {
  it('lets pass what runs nothing but them', () => {
    const lines = [
      'git status',
      '  git   status  ',
      '\tnpm\ttest',
      'git status && npm test',
      'git status;npm test',
      'git status || npm test | npm test',
      `git 'status'`,
      '"git" status',
      `g'i't status`,
      'npm test 2>&1',
      'npm test >/dev/null 2>&1',
      'npm test 2> /dev/null; git status',
    ];
    expect(lines.map((command) => decision([ALLOW], { command }))).toEqual(
      lines.map(() => 'auto_approve'),
    );
  });

  it('lets none of the hostile lines pass, with further words allowed or not', () => {
    expect(new Set(HOSTILE).size).toBeGreaterThan(200);
    const passed = HOSTILE.filter(
      (command) => decision([ALLOW], { command }) !== 'require_approval',
    );
    expect(passed).toEqual([]);
    const open = { ...ALLOW, bind: { '/command': { command: ['git status *', 'npm test *'] } } };
    const withWords = HOSTILE.filter(
      (line) => decision([open], { command: line }) === 'auto_approve',
    );
    // These only add words, which such a rule wants.
    expect(
      withWords.filter((line) => !/^(?:git status|npm test)[ a-z"'=/.-]*$/.test(line)),
    ).toEqual(['git "status" --x', 'npm 2>&1 test x', 'npm test >/dev/null x']);
  });

  it('takes further words where it ends with *', () => {
    const open = { ...ALLOW, bind: { '/command': { command: 'git log *' } } };
    expect(decision([open], { command: 'git log' })).toBe('auto_approve');
    expect(decision([open], { command: `git log -n 5 "a b" | git log` })).toBe('auto_approve');
    expect(decision([open], { command: 'git logs' })).toBe('require_approval');
  });

  it('needs a text at the place', () => {
    for (const command of [undefined, null, 5, ['git status'], { sha256: 'x' }]) {
      expect(decision([ALLOW], { command })).toBe('require_approval');
    }
  });
});

describe('a rule that stops commands', () => {
  const everything = { effect: 'auto_approve', action: 'tool.*' };
  it('is met by one of several commands, and by way of another', () => {
    for (const command of ['git push', 'ls && git push -f', 'sudo rm x', 'ls | xargs -n 1 rm']) {
      expect(decision([stop('deny'), everything], { command })).toBe('deny');
    }
    expect(decision([stop('deny'), everything], { command: 'ls -l' })).toBe('auto_approve');
  });

  it('leaves a line that is not understood to a person, whatever rules follow', () => {
    for (const command of ['$(echo git) push', 'ls\ngit push', 'if git push; then ls; fi']) {
      const rules = [stop('deny'), everything];
      expect(decision(rules, { command })).toBe('require_approval');
      const { sentence } = explainPolicy(parsePolicy({ rules }), bash({ command }));
      expect(sentence).toBe(
        "The rule stop may deny it, which isn't certain, so no rule approves and a person decides: require_approval.",
      );
    }
  });

  it('asks the people of the rule about such a line', () => {
    const rules = [{ ...stop('require_approval'), approvals: 2 }, everything];
    const verdict = decidePolicy(
      compilePolicy(parsePolicy({ rules })),
      bash({ command: '`git push`' }),
    );
    expect(verdict.rule?.approvals).toBe(2);
  });

  it('is not shadowed by one that means less', () => {
    expect(idle('deny', 'allow')).toBe(1);
    expect(idle('require_approval', 'deny')).toBe(1);
    expect(idle('deny', 'require_approval')).toBe(0);
    expect(idle('allow', 'deny')).toBe(0);
    expect(idle('allow', 'auto_approve')).toBe(1);
  });
});

describe('a rule for folders', () => {
  it('lets only plain paths in the folder pass', () => {
    const rules = [under('allow', '/home/ana/shop')];
    const of = (file_path: unknown) => decision(rules, { file_path });
    expect(of('/home/ana/shop/src/a.ts')).toBe('allow');
    expect(of('/home/ana/shop')).toBe('allow');
    for (const path of [
      '/home/ana/shop/../.ssh/id',
      '/home/ana/shop/./a',
      '/home/ana/shop//a',
      '/home/ana/shopping/a',
      '/home/ana/Shop/a',
      'src/a.ts',
      '~/shop/a',
      '/home/ana/shop\\..\\x',
      '',
      null,
    ]) {
      expect(of(path)).toBe('require_approval');
    }
  });

  it('stops every spelling of a path, and asks where it depends on the folder', () => {
    const rules = [under('deny', '/home/ana/.ssh'), { effect: 'allow' }];
    const of = (file_path: string) => decision(rules, { file_path });
    for (const path of ['/home/ana/.ssh/id', '/home/ana/x/../.SSH/id', '//home//ana/.ssh']) {
      expect(of(path)).toBe('deny');
    }
    expect(of('/home/ana/x')).toBe('allow');
    expect(of('../.ssh/id')).toBe('require_approval');
  });
});

it('refuses commands and folders that no rule can mean', () => {
  for (const command of ['a; b', '$x', '*', 'git *x', 'A=1 b', '']) {
    expect(mistakeIn({ command })).toBe('rules[0].bind["/x"].command');
  }
  for (const folder of ['x', '/a/', '/a/../b', '']) {
    expect(mistakeIn({ under: folder })).toBe('rules[0].bind["/x"].under');
  }
});

it('says the words of each command', () => {
  expect(commandsIn(`a 'b c' | d --e="f g"`)).toEqual([
    ['a', 'b c'],
    ['d', '--e=f g'],
  ]);
  expect(runsOnly('a', [])).toBe(false);
  expect(runsAny('a b', ['b'])).toBe(true);
});
