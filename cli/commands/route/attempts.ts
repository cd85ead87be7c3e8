import { showing } from '../../operation-command.ts';
import { attemptsView } from '../../people/route-view.ts';

/** `svc route attempts` */
export const run = showing(attemptsView);
