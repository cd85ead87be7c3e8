import { writeFileSync } from 'node:fs';
import { helpText, openApiText, toolsText } from './files.ts';

// Rewrites the pins that callers can see.
writeFileSync('test/surface/help.txt', helpText());
writeFileSync('test/surface/openapi.json', openApiText());
writeFileSync('test/surface/tools.json', toolsText());
