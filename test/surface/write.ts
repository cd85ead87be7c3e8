import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { PINS, surface } from './pin.ts';
import { pythonFiles } from './python.ts';

// Rewrites what callers can see, a file for each operation, and the Python client.
const { pins, document, help } = surface();
rmSync(PINS, { recursive: true, force: true });
mkdirSync(PINS);
for (const pin of pins) writeFileSync(`${PINS}/${pin.name}.json`, JSON.stringify(pin, null, 2));
writeFileSync('test/surface/document.json', JSON.stringify(document, null, 2));
writeFileSync('test/surface/help.txt', help);
for (const [path, text] of pythonFiles()) writeFileSync(path, text);
