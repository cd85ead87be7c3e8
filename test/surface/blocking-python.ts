import { readFileSync } from 'node:fs';

const CLIENT = 'clients/python/src/svc_agents';
export const FOLDER = `${CLIENT}/_generated`;
const HEAD =
  '# Written by `npm run surface` from the asynchronous client: edit SOURCE. Do not edit this.\n';

/** The asynchronous client's files, and what their blocking ones are called. */
const MODULES: Readonly<Record<string, string>> = {
  _async: 'client',
  _async_context: 'context',
  _async_group: 'group',
};

/** What coroutines can do or must say and blocking methods can't; each stands in some file. */
const WORDS: readonly (readonly [asynchronous: string, blocking: string])[] = [
  ['The asynchronous client', 'The blocking client'],
  [', as coroutines', ''],
  [', as a coroutine', ''],
  ['Use it in one event loop.', 'Threads may share it.'],
  [' Cancelled, it gives its events back.', ''],
  [' If the lease is lost, the handler is cancelled.', ''],
];

/** The blocking client, made from the asynchronous one, by path. `methods` is the text of `async_api.py`. */
export function blockingFiles(methods: string): [path: string, text: string][] {
  const read = Object.keys(MODULES).map((name) => readFileSync(`${CLIENT}/${name}.py`, 'utf8'));
  const unused = WORDS.filter(([word]) => ![methods, ...read].some((text) => text.includes(word)));
  if (unused.length > 0) throw new Error(`Nothing says ${unused.map(([word]) => word).join('; ')}`);
  return [
    [`${FOLDER}/api.py`, blocking(methods)],
    ...Object.entries(MODULES).map(([name, made], index): [string, string] => {
      const head = HEAD.replace('SOURCE', `${name}.py`);
      return [`${FOLDER}/${made}.py`, head + blocking(moved(read[index] ?? ''))];
    }),
  ];
}

/** The text in the folder below. */
function moved(text: string): string {
  return text
    .replaceAll(/^( *from \.)(?!_generated)/gm, '$1.')
    .replaceAll('from ._generated ', 'from . ')
    .replaceAll('from ._generated.', 'from .');
}

/** The same without coroutines. A paragraph whose first line ends with `# async only` is left out. */
function blocking(text: string): string {
  const kept = text.replaceAll(/^ .*# async only\n(?:.+\n)+\n/gm, '');
  return WORDS.reduce((all, [word, other]) => all.replaceAll(word, other), kept)
    .replaceAll(/from \.\.(_async\w*) import/g, (_, name: string) => `from ${here(name)} import`)
    .replaceAll(/\basync (?=def|with|for)/g, '')
    .replaceAll(/\bawait /g, '')
    .replaceAll(/\bAwaitable\[(\w+)\]/g, '$1')
    .replaceAll(/\bUnion\[(\w+), \1\]/g, '$1')
    .replaceAll(/^ {4}Awaitable,\n/gm, '')
    .replaceAll('Awaitable, ', '')
    .replaceAll(/\b(_*)a(?=(?:iter|enter|exit)__)/g, '$1')
    .replaceAll(/\basync_(?=\w)|\bAsync(?=[A-Z])/g, '')
    .replaceAll(/\b(\w+) as \1\b/g, '$1')
    .replaceAll(/\basyncio\b/g, 'threading');
}

function here(module: string): string {
  const made = MODULES[module];
  return made === undefined ? `..${module.replace('async', 'sync')}` : `.${made}`;
}
