import { showing } from '../../operation-command.ts';
import { routeEnabledView } from '../../people/route-view.ts';

/** `svc route enable` */
export const run = showing(routeEnabledView);
