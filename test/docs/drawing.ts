import type { Piece, Style } from './screen.ts';

/** Sizes in the units of the picture, which are pixels where it is shown at its own width of 800. */
const WIDTH = 800;
const LINE = 19;
const SIZE = 13;
const CHAR = 7.83;
const LEFT = 22;
const TOP = 58;
const BOTTOM = 20;
/** How long a line comes after the one before, where there is movement. */
const STEP_SECONDS = 0.08;
const COMMAND_SECONDS = 0.7;

const LOOK = `
  text { font: ${SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre; fill: var(--ink); }
  svg { --page: #ffffff; --edge: #d0d7de; --ink: #1f2328; --dim: #59636e; --red: #c4232c; --green: #116329; --yellow: #7d4e00; --blue: #0550ae; }
  .page { fill: var(--page); stroke: var(--edge); }
  .dot { fill: var(--edge); }
  .bold { font-weight: 700; }
  .dim { fill: var(--dim); }
  .c31 { fill: var(--red); }
  .c32 { fill: var(--green); }
  .c33 { fill: var(--yellow); }
  .c34, .c36 { fill: var(--blue); }
  @media (prefers-color-scheme: dark) {
    svg { --page: #0d1117; --edge: #3d444d; --ink: #f0f6fc; --dim: #9198a1; --red: #ff7b72; --green: #56d364; --yellow: #e3b341; --blue: #79c0ff; }
  }
  @media (prefers-reduced-motion: no-preference) {
    .line { animation: come 0.3s both; }
    @keyframes come { from { opacity: 0.45; } to { opacity: 1; } }
  }
`;

/** A command, and what it printed. */
export interface Scene {
  readonly command: string;
  readonly lines: readonly (readonly Piece[])[];
}

/**
 * The picture of a terminal: text alone, light or dark as its reader has it. Lines brighten one after the other, and can be
 * read before they do, and where nothing moves.
 */
export function draw(scenes: readonly Scene[], title: string): string {
  const rows: { readonly pieces: readonly Piece[]; readonly at: number }[] = [];
  let seconds = 0;
  for (const [index, { command, lines }] of scenes.entries()) {
    if (index > 0) rows.push({ pieces: [], at: seconds });
    rows.push({ pieces: prompt(command), at: seconds });
    seconds += COMMAND_SECONDS;
    for (const pieces of lines) {
      rows.push({ pieces, at: seconds });
      seconds += STEP_SECONDS;
    }
    seconds += COMMAND_SECONDS;
  }
  const height = TOP + rows.length * LINE + BOTTOM;
  const texts = rows.map(({ pieces, at }, row) => line(pieces, { y: TOP + row * LINE, at }));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>${LOOK}</style>
<rect class="page" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
<circle class="dot" cx="22" cy="20" r="6"/><circle class="dot" cx="42" cy="20" r="6"/><circle class="dot" cx="62" cy="20" r="6"/>
${texts.filter((text) => text !== '').join('\n')}
</svg>
`;
}

function prompt(command: string): Piece[] {
  return [
    { text: '$ ', style: { color: 32 } },
    { text: command, style: { bold: true } },
  ];
}

function line(pieces: readonly Piece[], { y, at }: { y: number; at: number }): string {
  let column = 0;
  const spans = pieces.map(({ text, style }) => {
    const x = (LEFT + column * CHAR).toFixed(1);
    // Each sign of ours is one cell wide, and one unit long.
    column += text.length;
    return text.trim() === '' ? '' : `<tspan x="${x}"${classes(style)}>${escaped(text)}</tspan>`;
  });
  const shown = spans.join('');
  if (shown === '') return '';
  return `<text class="line" y="${y}" style="animation-delay:${at.toFixed(2)}s">${shown}</text>`;
}

function classes({ bold, dim, color }: Style): string {
  const names = [bold && 'bold', dim && 'dim', color !== undefined && `c${color}`];
  const named = names.filter((name) => typeof name === 'string');
  return named.length === 0 ? '' : ` class="${named.join(' ')}"`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
