import { readdirSync, readFileSync } from 'node:fs';

/** A program of a page that works on events. */
export interface DocumentedBot {
  /** Such as `docs/clients.md`. */
  readonly page: string;
  readonly text: string;
}

/** The bots of all pages in a language (`python`, `ts`). */
export function documentedBots(language: string): DocumentedBot[] {
  const guides = readdirSync('docs').filter((name) => name.endsWith('.md'));
  const pages = [
    'README.md',
    'SKILL.md',
    'clients/python/README.md',
    'clients/typescript/README.md',
  ];
  return [...pages, ...guides.map((name) => `docs/${name}`)].flatMap((page) => {
    const blocks = readFileSync(page, 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm);
    return [...blocks].flatMap(([, kind, text = '']) =>
      kind === language && text.includes('.work(') ? [{ page, text }] : [],
    );
  });
}
