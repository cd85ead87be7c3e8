/** A command of a page, and what the page says that it prints. */
export interface Step {
  /** The machine before the `$`; empty for the one that needs no name. */
  readonly machine: string;
  readonly command: string;
  readonly output: readonly string[];
  /** What somebody else does before it, or meanwhile: see `Stage`. */
  readonly directives: readonly string[];
  /** Whether it is one of a block of which only the commands are shown: it must end well, whatever it prints. */
  readonly silent: boolean;
  /** Where its output begins in the page. */
  readonly at: number;
}

interface Block {
  readonly language: string;
  readonly lines: readonly string[];
  /** The line of the page that its first one is. */
  readonly from: number;
  /** The comments before it. */
  readonly directives: readonly string[];
}

const PROMPT = /^([a-z]*)\$ (.*)$/;
const CONTINUED = /^> (.*)$/;
const DIRECTIVE = /^<!-- docs: (.*?) -->$/;
const FENCE = /^```(\w*)$/;
/** Before a block of `sh` whose commands are run as well. */
const RUNS = 'runs';

/** The commands of all blocks that are marked as `console`, and of `sh` after the directive `runs`, in their order. */
export function stepsOf(page: string): Step[] {
  let saved: string[] = [];
  return blocksOf(page).flatMap((block) => {
    const file = block.directives.find((one) => one.startsWith('save '));
    if (file !== undefined) saved.push(`file ${file.slice(5)} ${block.lines.join('\\n')}\\n`);
    const [first, ...others] = stepsIn(block);
    if (first === undefined) return [];
    const directives = [...saved, ...block.directives.filter((one) => one !== RUNS)];
    saved = [];
    return [{ ...first, directives }, ...others];
  });
}

function blocksOf(page: string): Block[] {
  const lines = page.split('\n');
  const blocks: Block[] = [];
  let directives: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const directive = DIRECTIVE.exec(line)?.[1];
    if (directive !== undefined) directives.push(directive);
    const language = FENCE.exec(line)?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    if (end === -1) throw new Error(`The block in line ${at + 1} has no end.`);
    blocks.push({ language, lines: lines.slice(at + 1, end), from: at + 1, directives });
    directives = [];
    at = end;
  }
  return blocks;
}

function stepsIn({ language, lines, from, directives }: Block): Step[] {
  if (language === 'console') return consoleSteps(lines, from);
  if (language !== 'sh' || !directives.includes(RUNS)) return [];
  return lines.map((command, n) => {
    return { machine: '', command, output: [], directives: [], silent: true, at: from + n };
  });
}

function consoleSteps(lines: readonly string[], from: number): Step[] {
  const steps: (Step & { output: string[] })[] = [];
  for (const [n, line] of lines.entries()) {
    const [, machine, command] = PROMPT.exec(line) ?? [];
    const last = steps.at(-1);
    if (machine !== undefined && command !== undefined) {
      const shown = { output: [], directives: [], silent: false };
      steps.push({ machine, command, ...shown, at: from + n + 1 });
    } else if (!last) {
      throw new Error(`Line ${from + n + 1} of the page belongs to no command: ${line}`);
    } else if (last.command.endsWith('\\') && CONTINUED.test(line)) {
      steps[steps.length - 1] = {
        ...last,
        command: `${last.command}\n${line.slice(2)}`,
        at: last.at + 1,
      };
    } else {
      last.output.push(line);
    }
  }
  return steps;
}

/** The page with other outputs, one for each step; null leaves one as it is. */
export function withOutputs(page: string, outputs: readonly (readonly string[] | null)[]): string {
  const lines = page.split('\n');
  for (const [index, { at, output, silent }] of [...stepsOf(page).entries()].toReversed()) {
    const printed = outputs[index] ?? null;
    if (printed !== null && !silent) lines.splice(at, output.length, ...printed);
  }
  return lines.join('\n');
}
