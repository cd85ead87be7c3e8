// Starts the reader's thread from source in development: a thread doesn't inherit the TypeScript loader.
import { register } from 'tsx/esm/api';

register();
await import('./reader-main.ts');
