import { ServiceError } from '../../shared/lib/errors.ts';
import type { ControlStore, ProjectRecord } from '../store/control-store.ts';

/** The project with this slug or id; NOT_FOUND if there is none, or it's still being created or deleted. */
export async function namedProject(control: ControlStore, name: string): Promise<ProjectRecord> {
  const record = (await control.findProjectBySlug(name)) ?? (await control.findProject(name));
  if (record && record.state !== 'reserved' && record.state !== 'deleting') return record;
  throw new ServiceError('NOT_FOUND', {
    hint: 'No project has this slug or id. See: svc gateway project list',
  });
}
