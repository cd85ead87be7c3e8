import { writeFileSync } from 'node:fs';
import { helpText, openApiText, toolsText } from './files.ts';
import { pythonFiles } from './python.ts';
import { methodsText, placesText, typesText } from './typescript.ts';

// Rewrites the pins that callers can see, and the types of the client.
writeFileSync('test/surface/help.txt', helpText());
writeFileSync('test/surface/openapi.json', openApiText());
writeFileSync('test/surface/tools.json', toolsText());
for (const [path, text] of pythonFiles()) writeFileSync(path, text);
writeFileSync('clients/typescript/types.ts', typesText());
writeFileSync('clients/typescript/places.ts', placesText());
writeFileSync('clients/typescript/methods.ts', methodsText());
