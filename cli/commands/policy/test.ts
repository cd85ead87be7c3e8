import { traceView } from '../../people/policy-view.ts';
import { showingPolicy } from '../../people/policy.ts';

/** `svc policy test`: how each rule comes out. */
export const run = showingPolicy(traceView);
