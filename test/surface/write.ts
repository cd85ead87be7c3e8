import { writeFileSync } from 'node:fs';
import { operations } from '../../shared/operations/index.ts';
import { commandModule } from './command-module.ts';

// Rewrites what is derived from the operations: the module of the command line, then the pins that callers can see.
writeFileSync('cli/operations.generated.ts', commandModule(operations));

// Loaded after that module is written, because help is made from it.
const { helpText, openApiText, toolsText } = await import('./files.ts');
writeFileSync('test/surface/help.txt', helpText());
writeFileSync('test/surface/openapi.json', openApiText());
writeFileSync('test/surface/tools.json', toolsText());
