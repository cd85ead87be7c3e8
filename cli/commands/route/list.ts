import { showing } from '../../operation-command.ts';
import { routeListView } from '../../people/route-view.ts';

/** `svc route list` */
export const run = showing(routeListView);
