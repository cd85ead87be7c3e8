// Starts the writer thread from source in development, because a thread doesn't inherit the TypeScript loader.
import { register } from 'tsx/esm/api';

register();
await import('./thread-main.ts');
