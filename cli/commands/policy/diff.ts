import { diffView } from '../../people/policy-view.ts';
import { showingPolicy } from '../../people/policy.ts';

/** `svc policy diff`: what would change, and what the linter says. */
export const run = showingPolicy(diffView);
