import { isObject } from '../../shared/untyped.ts';
import type { View } from '../view/output.ts';
import { age } from '../view/table.ts';
import { plainText } from '../view/terminal-text.ts';
import { wholeTable } from './columns.ts';
import { sizeText } from '../view/sizes.ts';

const COLUMNS = [
  { head: 'SIZE', right: true },
  { head: 'UPDATED' },
  { head: 'TYPE' },
  { head: 'PATH' },
] as const;

/** Stored files as a person reads them; an answer of another form is shown as any other. */
export function fileListView(answer: unknown): View {
  const items: unknown = isObject(answer) ? answer['items'] : null;
  if (!Array.isArray(items) || items.length === 0 || !items.every(isObject)) return {};
  return {
    lines: (look) =>
      wholeTable(
        COLUMNS,
        items.map(({ size_bytes: size, updated_at: at, content_type: type, path }) => [
          typeof size === 'number' ? sizeText(size) : '–',
          typeof at === 'string' ? age(at, look.now) : '–',
          plainText(type ?? '–'),
          plainText(path ?? '–'),
        ]),
        look,
      ),
  };
}
