import { showing } from '../../operation-command.ts';
import { routeDisabledView } from '../../people/route-view.ts';

/** `svc route disable` */
export const run = showing(routeDisabledView);
