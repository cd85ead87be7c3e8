import { showing } from '../../operation-command.ts';
import { routeRetriedView } from '../../people/route-view.ts';

/** `svc route retry` */
export const run = showing(routeRetriedView);
