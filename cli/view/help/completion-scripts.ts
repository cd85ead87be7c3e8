import type { ArgumentSpec, CommandSpec, OptionSpec } from '../../command.ts';
import { GLOBAL_OPTIONS, optionsOf } from '../../input/flags.ts';
import { TOPICS } from './topics.ts';

// The scripts contain the whole command tree, so pressing Tab starts no process. Only for stored names, which may have
// changed, do they call svc, which prints only names that are harmless to a shell.

/** Marks values that the script must ask svc for. */
const ASKED = '@';
const ASK = 'svc completion --quiet --values';
/** The key for the flags of every command. */
const ANY = '-';

/** What may follow some words on the command line. */
interface Step {
  /** `inbox claim`; empty at the start. */
  readonly words: string;
  /** The next words of command names, with their summaries. */
  readonly next: readonly (readonly [string, string])[];
  /** The flags, if these words are a command. */
  readonly options: readonly OptionSpec[];
  readonly args: readonly ArgumentSpec[];
}

type CompletionSpec = Pick<CommandSpec, 'words' | 'summary' | 'args' | 'options' | 'writes'>;

function steps(all: readonly CommandSpec[]): Step[] {
  const commands = [...all, helpFor(all)];
  const names = new Set(
    commands.flatMap(({ words }) => words.map((_, at) => words.slice(0, at).join(' '))),
  );
  for (const { words } of commands) names.add(words.join(' '));
  return [...names].map((words) => stepAt(words, commands));
}

/** `svc help` isn't in the list because it's about all commands. */
function helpFor(commands: readonly CommandSpec[]): CompletionSpec {
  const nouns = commands.map(({ words }) => words[0] ?? '');
  const choices = [...TOPICS.map(({ name }) => name), ...new Set(nouns)];
  const summary = 'A page of help';
  return {
    words: ['help'],
    summary,
    args: [{ name: 'page', required: false, summary, choices }],
    options: [],
  };
}

function stepAt(name: string, commands: readonly CompletionSpec[]): Step {
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
  const options = [...(exact ? optionsOf(exact) : []), ...GLOBAL_OPTIONS];
  return { words: name, next: [...next], options, args: exact?.args ?? [] };
}

/** The known values, separated by blanks; null if there are none. */
function valuesOf({ choices, stored }: ArgumentSpec | OptionSpec): string | null {
  if (choices) return choices.join(' ');
  return stored === undefined || stored === 'paths' ? null : ASKED + stored;
}

/** Flags with known values: `command --flag` and its values. */
function choiceKeys(all: readonly Step[]): [string, string][] {
  const global = { words: ANY, options: GLOBAL_OPTIONS };
  const own = all.map(({ words, options }) => ({
    words,
    options: options.filter((option) => !GLOBAL_OPTIONS.includes(option)),
  }));
  return [...own, global].flatMap(({ words, options }) =>
    options.flatMap((option): [string, string][] => {
      const values = valuesOf(option);
      return values === null ? [] : [[`${words} --${option.flag}`, values]];
    }),
  );
}

/** Arguments with known values: the command with the number of arguments before, and the values. */
function argumentKeys(all: readonly Step[]): [string, string][] {
  return all.flatMap(({ words, args }) =>
    args.flatMap((argument, at): [string, string][] => {
      const values = valuesOf(argument);
      return values === null ? [] : [[`${words} ${at}`, values]];
    }),
  );
}

/** The flags of a step that take a value from the next word. */
function takingFlags({ options }: Step): string[] {
  return options
    .filter(({ value }) => value !== undefined && !value.startsWith('['))
    .flatMap(({ flag, short }) => [`--${flag}`, ...(short === undefined ? [] : [`-${short}`])]);
}

function nextOf({ next }: Step): string {
  return next.map(([word]) => word).join(' ');
}

function takesOf(step: Step): string {
  return takingFlags(step).join(' ');
}

function flagsOf({ options }: Step): string {
  return options.map(({ flag }) => `--${flag}`).join(' ');
}

/** The key of the empty step is a blank, because no shell allows an empty key. */
function byWords(
  all: readonly Step[],
  text: (step: Step) => string,
): (readonly [string, string])[] {
  return all.map((step) => [step.words || ' ', text(step)]);
}

function bashTable(name: string, entries: readonly (readonly [string, string])[]): string {
  const lines = entries.map(([key, text]) => `    [${quoted(key)}]=${quoted(text)}\n`);
  return `  local -A ${name}=(\n${lines.join('')}  )`;
}

// Bash splits `--flag=value` into three words.
const BASH_WALK = `  local name="" key=" " word before i count=0
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ $word == -* ]]; then
      case " \${svc_takes[$key]-} " in
        *" $word "*)
          i=$((i + 1))
          if [[ $i -lt $COMP_CWORD && \${COMP_WORDS[i]} == "=" ]]; then i=$((i + 1)); fi
          ;;
      esac
      continue
    fi
    case " \${svc_next[$key]-} " in
      *" $word "*) name="\${name:+$name }$word" key="$name" count=0 ;;
      *) count=$((count + 1)) ;;
    esac
  done
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  if [[ $before == "=" ]]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  if [[ $current == "=" ]]; then current=""; fi
  local values="\${svc_choices[$name $before]-\${svc_choices[${ANY} $before]-}}"
  local arguments="\${svc_args[$name $count]-}"
  if [[ $values == ${ASKED}* ]]; then values="$(${ASK} "\${values#${ASKED}}" 2>/dev/null)"; fi
  if [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ $i -gt $COMP_CWORD ]]; then
    COMPREPLY=()
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "\${svc_flags[$key]-}" -- "$current"))
  else
    if [[ $arguments == ${ASKED}* ]]; then arguments="$(${ASK} "\${arguments#${ASKED}}" 2>/dev/null)"; fi
    COMPREPLY=($(compgen -W "\${svc_next[$key]-} $arguments" -- "$current"))
  fi
}
complete -o default -F _svc svc`;

/** For bash 4 and later, without the bash-completion package. */
export function bashScript(commands: readonly CommandSpec[]): string {
  const all = steps(commands);
  return [
    '# Completion of svc for bash.',
    '_svc() {',
    bashTable('svc_next', byWords(all, nextOf)),
    bashTable('svc_flags', byWords(all, flagsOf)),
    bashTable('svc_takes', byWords(all, takesOf)),
    bashTable('svc_choices', choiceKeys(all)),
    bashTable('svc_args', argumentKeys(all)),
    BASH_WALK,
  ].join('\n');
}

/** `word:summary`, one per line, the format zsh wants. */
function described(pairs: Step['next']): string {
  return pairs.map(([word, text]) => `${word.replaceAll(':', '\\:')}:${text}`).join('\n');
}

function describedFlags({ options }: Step): string {
  return described(options.map(({ flag, summary }) => [`--${flag}`, summary]));
}

function zshTable(name: string, entries: readonly (readonly [string, string])[]): string {
  const lines = entries.map(([key, text]) => `    ${quoted(key)} ${quoted(text)}\n`);
  return `  ${name}=(\n${lines.join('')}  )`;
}

const ZSH_WALK = `  local name="" key=" " word i count=0
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    if [[ $word == -* ]]; then
      if [[ " \${svc_takes[$key]} " == *" $word "* ]]; then i=$((i + 1)); fi
    elif [[ $'\\n'"\${svc_next[$key]}" == *$'\\n'"$word:"* ]]; then
      name="\${name:+$name }$word" key="$name" count=0
    else
      count=$((count + 1))
    fi
  done
  local -a lines
  local before="\${words[CURRENT-1]}" arguments="\${svc_args[$name $count]}"
  local values="\${svc_choices[$name $before]:-\${svc_choices[${ANY} $before]}}"
  if [[ $values == ${ASKED}* ]]; then values="$(${ASK} "\${values#${ASKED}}" 2>/dev/null)"; fi
  if [[ -n $values ]]; then
    compadd -- \${=values}
  elif [[ $i -gt $CURRENT ]]; then
    _files
  elif [[ \${words[CURRENT]} == -* ]]; then
    lines=("\${(@f)svc_flags[$key]}")
    _describe 'flag' lines
  elif [[ -n $arguments ]]; then
    if [[ $arguments == ${ASKED}* ]]; then arguments="$(${ASK} "\${arguments#${ASKED}}" 2>/dev/null)"; fi
    compadd -- \${=arguments}
  elif [[ -n \${svc_next[$key]} ]]; then
    lines=("\${(@f)svc_next[$key]}")
    _describe 'command' lines
  else
    _files
  fi
}
if [[ \${funcstack[1]} == _svc ]]; then _svc "$@"; else compdef _svc svc; fi`;

/** For zsh: save it as `_svc` in `fpath`, or source it. */
export function zshScript(commands: readonly CommandSpec[]): string {
  const all = steps(commands);
  return [
    '#compdef svc',
    '# Completion of svc for zsh.',
    '_svc() {',
    '  local -A svc_next svc_flags svc_takes svc_choices svc_args',
    zshTable(
      'svc_next',
      byWords(all, ({ next }) => described(next)),
    ),
    zshTable('svc_flags', byWords(all, describedFlags)),
    zshTable('svc_takes', byWords(all, takesOf)),
    zshTable('svc_choices', choiceKeys(all)),
    zshTable('svc_args', argumentKeys(all)),
    ZSH_WALK,
  ].join('\n');
}

const FISH_WORDS = `# The words of the command and its arguments so far, without flags and what they take.
function __svc_words
    set -l typed
    set -l name
    set -l skip no
    for word in (commandline -opc)[2..]
        if test $skip = yes
            set skip no
        else if string match -q -- '-*' $word
            contains -- "$name $word" $__svc_takes; and set skip yes
        else
            set -a typed $word
            contains -- "$typed" $__svc_names; and set name "$typed"
        end
    end
    echo "$typed"
end`;

function fishLines({ words, next, options, args }: Step): string[] {
  const exactly = quoted(`test (__svc_words) = ${quoted(words)}`);
  const under = quoted(`string match -q -- ${quoted(`${words} *`)} (__svc_words)' '`);
  const names = next.map(
    ([word, text]) => `complete -c svc -f -n ${exactly} -a ${quoted(word)} -d ${quoted(text)}`,
  );
  if (words === '') return names;
  const flags = options.map((option) => {
    const { flag, summary, value } = option;
    const offered = fishValues(option);
    const values = offered === null ? value && ' -r' : ` -x -a ${offered}`;
    return `complete -c svc -n ${under} -l ${flag}${values ?? ''} -d ${quoted(summary)}`;
  });
  const known = args.flatMap((argument, at) => {
    const pattern = quoted(`^${words}${' [^ ]+'.repeat(at)}$`);
    const there = quoted(`string match -qr -- ${pattern} (__svc_words)`);
    const offered = fishValues(argument);
    if (argument.stored === 'paths') return [`complete -c svc -F -n ${there}`];
    return offered === null ? [] : [`complete -c svc -f -n ${there} -a ${offered}`];
  });
  return [...names, ...flags, ...known];
}

/** Fish runs the command in brackets when it completes. */
function fishValues(spec: ArgumentSpec | OptionSpec): string | null {
  const values = valuesOf(spec);
  if (!values?.startsWith(ASKED)) return values && quoted(values);
  return quoted(`(${ASK} ${values.slice(ASKED.length)} 2>/dev/null)`);
}

export function fishScript(commands: readonly CommandSpec[]): string {
  const all = steps(commands);
  const takes = all.flatMap((step) => takingFlags(step).map((flag) => `${step.words} ${flag}`));
  return [
    '# Completion of svc for fish.',
    `set -g __svc_names ${all.map(({ words }) => quoted(words)).join(' ')}`,
    `set -g __svc_takes ${takes.map(quoted).join(' ')}`,
    FISH_WORDS,
    'complete -c svc -f',
    ...all.flatMap(fishLines),
  ].join('\n');
}

/** Quotes a word so that no shell expands anything in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
