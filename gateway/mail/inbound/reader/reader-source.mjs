// The reader's thread from source, in development: a thread does not take over the loader of TypeScript.
import { register } from 'tsx/esm/api';

register();
await import('./reader-main.ts');
