import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { makerFields, type MakerNames } from '../access/maker.ts';
import type { RouteRow } from '../../store/tables/inbox/routes.ts';

/** A route as callers see it, without its secret. */
export const routeView = named(
  'Route',
  z
    .object({
      id: z.string().describe('`rte_…`.'),
      callback_url: z.string().describe('Where events are sent.'),
      match_source: z.string().nullable().describe('Only events of this source; null means all.'),
      match_type: z
        .string()
        .nullable()
        .describe('Only this type, or a prefix and `*`; null means all.'),
      enabled: z.boolean().describe('False after a 410 Gone answer or route_disable.'),
      disabled_reason: z.string().nullable().describe('Why it is disabled.'),
      created_at: z.string().describe('When it was added.'),
      ...makerFields,
    })
    .describe('Where matching events are sent.'),
);

export const routeId = z
  .string()
  .regex(/^rte_[0-9a-z]{26}$/, 'Expected a route id such as `rte_01j…`.')
  .describe('The route, `rte_…`.');

export const deliveryId = z
  .string()
  .regex(/^dlv_[0-9a-z]{26}$/, 'Expected a delivery id such as `dlv_01j…`.');

/** The additional data that binds a sealed secret to its row; the vault can't open it anywhere else. */
export function routeAad(projectId: string, id: string): string {
  return `route|${projectId}|${id}|secret`;
}

/** The public fields of a stored route. */
export async function toRouteView(
  row: RouteRow,
  names: MakerNames,
): Promise<z.input<typeof routeView>> {
  const { id, callback_url, match_source, match_type, disabled_reason, created_at } = row;
  const { created_by } = row;
  const enabled = row.enabled === 1;
  const maker = await names.of(created_by);
  return {
    id,
    callback_url,
    match_source,
    match_type,
    enabled,
    disabled_reason,
    created_at,
    created_by,
    maker,
  };
}
