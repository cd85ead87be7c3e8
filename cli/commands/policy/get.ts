import { showing } from '../../operation-command.ts';
import { policyView } from '../../people/policy-view.ts';

/** `svc policy get` */
export const run = showing(policyView);
