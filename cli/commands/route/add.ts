import type { Additions } from '../../command.ts';
import { routeAddedView } from '../../people/route-view.ts';
import { showingSecret } from '../../people/shown-once.ts';

export const declaration: Additions = {
  seeAlso: ['route test', 'route attempts', 'listen'],
};

/** `svc route add` */
export const run = showingSecret(routeAddedView);
