// The process that synchronizes from source, in development: it brings its own loader of TypeScript.
import { register } from 'tsx/esm/api';

register();
await import('./child.ts');
