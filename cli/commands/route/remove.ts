import { showing } from '../../operation-command.ts';
import { routeRemovedView } from '../../people/route-view.ts';

/** `svc route remove` */
export const run = showing(routeRemovedView);
