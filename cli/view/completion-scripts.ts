import type { CommandSpec, OptionSpec } from '../command.ts';
import { GLOBAL_OPTIONS } from '../input/parse.ts';

// The scripts hold the whole tree as data, so that pressing Tab starts no process.

/** What may follow some words of a command line. */
interface Step {
  /** `inbox claim`; empty at the start. */
  readonly words: string;
  /** The next words of command names, with what they are. */
  readonly next: readonly (readonly [string, string])[];
  /** The flags of the command with this name, if it is one. */
  readonly options: readonly OptionSpec[];
}

function steps(commands: readonly CommandSpec[]): Step[] {
  const names = new Set(
    commands.flatMap(({ words }) => words.map((_, at) => words.slice(0, at).join(' '))),
  );
  for (const { words } of commands) names.add(words.join(' '));
  return [...names].map((words) => stepAt(words, commands));
}

function stepAt(name: string, commands: readonly CommandSpec[]): Step {
  const words = name === '' ? [] : name.split(' ');
  const next = new Map<string, string>();
  for (const command of commands) {
    const following = command.words[words.length];
    const fits = words.every((word, at) => command.words[at] === word);
    if (!fits || following === undefined) continue;
    const whole = command.words.length === words.length + 1;
    next.set(
      following,
      whole ? command.summary : (next.get(following) ?? `Commands of ${following}`),
    );
  }
  const exact = commands.find((command) => command.words.join(' ') === name);
  return { words: name, next: [...next], options: [...(exact?.options ?? []), ...GLOBAL_OPTIONS] };
}

/** Flags whose values are known, as `command --flag` and the values. */
function choiceKeys(all: readonly Step[]): [string, string][] {
  return all.flatMap(({ words, options }) =>
    options.flatMap(({ flag, choices }): [string, string][] =>
      choices ? [[`${words} --${flag}`, choices.join(' ')]] : [],
    ),
  );
}

function flagsOf({ options }: Step): string {
  return options.map(({ flag }) => `--${flag}`).join(' ');
}

const WALK = `  local name="" word i
  for ((i = FIRST; i < CURRENT_WORD; i++)); do
    word="\${WORDS[i]}"
    case " \${svc_next[$name]-} " in
      *" $word "*) name="\${name:+$name }$word" ;;
    esac
  done`;

/** For bash 4 and later, without the bash-completion package. */
export function bashScript(commands: readonly CommandSpec[]): string {
  const all = steps(commands);
  const walk = WALK.replace('FIRST', '1')
    .replace('CURRENT_WORD', 'COMP_CWORD')
    .replace('WORDS', 'COMP_WORDS');
  return `# Completion of svc for bash.
_svc() {
  local -A svc_next=(
${all.map((step) => `    [${quoted(step.words || ' ')}]=${quoted(step.next.map(([word]) => word).join(' '))}`).join('\n')}
  )
  local -A svc_flags=(
${all.map((step) => `    [${quoted(step.words || ' ')}]=${quoted(flagsOf(step))}`).join('\n')}
  )
  local -A svc_choices=(
${choiceKeys(all)
  .map(([key, choices]) => `    [${quoted(key)}]=${quoted(choices)}`)
  .join('\n')}
  )
${walk.replaceAll('[$name]', '[${name:- }]')}
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  local values="\${svc_choices[$name $before]-}"
  if [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "\${svc_flags[\${name:- }]-}" -- "$current"))
  else
    COMPREPLY=($(compgen -W "\${svc_next[\${name:- }]-}" -- "$current"))
  fi
}
complete -o default -F _svc svc`;
}

/** `word:what it is`, a line each, as zsh describes them. */
function described(pairs: Step['next']): string {
  return quoted(pairs.map(([word, text]) => `${word.replaceAll(':', '\\:')}:${text}`).join('\n'));
}

/** For zsh, as a file \`_svc\` of \`fpath\` or sourced. */
export function zshScript(commands: readonly CommandSpec[]): string {
  const all = steps(commands);
  return `#compdef svc
# Completion of svc for zsh.
_svc() {
  local -A svc_next svc_flags svc_choices
  svc_next=(
${all.map((step) => `    ${quoted(step.words || ' ')} ${described(step.next)}`).join('\n')}
  )
  svc_flags=(
${all.map((step) => `    ${quoted(step.words || ' ')} ${described(step.options.map(({ flag, summary }) => [`--${flag}`, summary]))}`).join('\n')}
  )
  svc_choices=(
${choiceKeys(all)
  .map(([key, choices]) => `    ${quoted(key)} ${quoted(choices)}`)
  .join('\n')}
  )
  local name="" key word i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}" key="\${name:- }"
    if [[ $'\\n'"\${svc_next[$key]}" == *$'\\n'"$word:"* ]]; then
      name="\${name:+$name }$word"
    fi
  done
  key="\${name:- }"
  local -a lines
  local choices="\${svc_choices[$name \${words[CURRENT-1]}]}"
  if [[ -n $choices ]]; then
    compadd -- \${=choices}
  elif [[ \${words[CURRENT]} == -* ]]; then
    lines=("\${(@f)svc_flags[$key]}")
    _describe 'flag' lines
  elif [[ -n \${svc_next[$key]} ]]; then
    lines=("\${(@f)svc_next[$key]}")
    _describe 'command' lines
  else
    _files
  fi
}
if [[ \${funcstack[1]} == _svc ]]; then _svc "$@"; else compdef _svc svc; fi`;
}

/** For fish. */
export function fishScript(commands: readonly CommandSpec[]): string {
  const lines = steps(commands).flatMap(({ words, next, options }) => {
    const exactly = quoted(`test (__svc_words) = ${quoted(words)}`);
    const under = quoted(`string match -q -- ${quoted(`${words} *`)} (__svc_words)' '`);
    const names = next.map(
      ([word, text]) => `complete -c svc -f -n ${exactly} -a ${quoted(word)} -d ${quoted(text)}`,
    );
    const flags = options.map(({ flag, summary, choices, value }) => {
      const values = choices ? ` -x -a ${quoted(choices.join(' '))}` : value && ' -r';
      return `complete -c svc -n ${under} -l ${flag}${values ?? ''} -d ${quoted(summary)}`;
    });
    return words === '' ? names : [...names, ...flags];
  });
  return `# Completion of svc for fish.
function __svc_words
    set -l typed
    for word in (commandline -opc)[2..]
        string match -q -- '-*' $word; or set -a typed $word
    end
    echo "$typed"
end
complete -c svc -f
${lines.join('\n')}`;
}

/** A word that no shell reads anything into. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
