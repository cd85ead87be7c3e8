// Starts the scrub from source in development, because a process doesn't inherit the TypeScript loader.
import { register } from 'tsx/esm/api';

register();
await import('./scrub-main.ts');
