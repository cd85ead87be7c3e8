import type { JSX } from 'hono/jsx/jsx-runtime';
import { fileDelete } from '../../../../../shared/operations/file/delete.ts';
import { fileGet } from '../../../../../shared/operations/file/get.ts';
import { isReservedPath } from '../../../../../shared/rules/disk/disk-name.ts';
import { digitsOf } from '../../../ui/number.ts';
import { linksTo } from './disk-queries.ts';
import { Facts } from '../../../ui/detail.tsx';
import type { Detail, Item } from '../../../ui/item.tsx';
import { ago, exact, line, ours } from '../../../ui/text.tsx';
import type { PageContext } from '../../page-context.ts';
import { linkTable } from './links.tsx';
import { diskUrl, folderUrl, named } from './parts.tsx';
import { downloadUrl, picturesFrom, previewOf, type ReadFile } from './preview.tsx';

/** One file: what's in it, and the links to it. */
export const fileItem: Item<ReadFile> = {
  urlOf: (context, path) => diskUrl(context, 'files', { path }),
  up: (context, path) => [folderUrl(context, 'files', path), 'Files'],
  find: (context, path) => context.call(fileGet, { path }),
  detail,
  acts: [
    {
      name: 'delete',
      text: 'Delete',
      needs: fileDelete,
      may: (_context, { path }) => !isReservedPath(path),
      asks: (_context, { path, version }) => ({
        heading: 'Delete this file?',
        consequences: named(path, 'It’s gone at once, and its public links stop working.'),
        hidden: [['version', version.toString()]],
        yes: 'Yes, delete it',
      }),
      // Unless somebody replaced it since the visitor saw it.
      run: async (context, { path }, { value }) => {
        await context.call(fileDelete, { path, if_version: Number(value('version')) });
        return null;
      },
    },
  ],
};

async function detail(context: PageContext, file: ReadFile): Promise<Detail> {
  const links = await context.read(linksTo, { path: file.path });
  return {
    title: 'File',
    heading: exact(file.path),
    main: previewOf(context, file),
    side: { title: 'About this file', lines: about(context, file) },
    below: links.length > 0 && (
      <section class="about" aria-labelledby="links">
        <h2 id="links">Public links</h2>
        {linkTable(context, links)}
      </section>
    ),
    picturesFrom: picturesFrom(context, file),
  };
}

function about(context: PageContext, file: ReadFile): JSX.Element {
  const { size_bytes: size, content_type: type, updated_at: updated, version, sha256 } = file;
  return (
    <>
      <Facts
        facts={[
          ['Written', ago(context, updated)],
          ['Type', line(type)],
          ['Size', `${digitsOf(size)} bytes`],
          ['Version', version.toString()],
          ['SHA-256', ours(sha256)],
        ]}
      />
      <a
        class="btn small"
        href={downloadUrl(context, file)}
        rel="noreferrer noopener"
        target="_blank"
      >
        Download
      </a>
    </>
  );
}
