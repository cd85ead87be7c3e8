import { ServiceError } from '../../lib/errors.ts';
import { didYouMean } from '../../lib/suggest.ts';
import type { Repositories } from '../../store/repositories.ts';
import type { SourceRow } from '../../store/tables/inbox/sources.ts';

/** The source with this name. NOT_FOUND names the nearest one. */
export async function sourceNamed(
  { sources }: Pick<Repositories, 'sources'>,
  name: string,
): Promise<SourceRow> {
  const row = await sources.findByName(name);
  if (row) return row;
  const names = (await sources.list()).map((one) => one.name);
  const hint = `No source ${name} in this project.${didYouMean(name, names)}`;
  throw new ServiceError('NOT_FOUND', { hint });
}
