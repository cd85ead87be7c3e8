// The writer's thread from source, in development: a thread does not take over the loader of TypeScript.
import { register } from 'tsx/esm/api';

register();
await import('./thread-main.ts');
