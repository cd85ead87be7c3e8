import { writeFileSync } from 'node:fs';
import { draw, type Scene } from './drawing.ts';
import { Screen } from './screen.ts';
import { Stage, unshown } from './stage.ts';

/** What the tour shows, in its order; `directives` as on pages. */
const TOUR = [
  { command: 'svc source add github --verification github' },
  { command: 'svc trigger github.pull_request.opened' },
  { command: "svc inbox work --exec './review.sh' --max 1" },
  {
    command: 'svc ask approval deploy.production "Deploy v2.1" && ./deploy.sh',
    directives: ['meanwhile press "Approve"'],
  },
  { command: 'svc ledger query --limit 4 --quiet' },
  { command: 'svc ledger verify' },
];
const BEFORE = [
  `printf '#!/bin/sh\\njq -r .payload.pull_request.title\\n' > review.sh`,
  `printf '#!/bin/sh\\necho v2.1 is out\\n' > deploy.sh`,
  'chmod +x review.sh deploy.sh',
];
const TITLE = 'A terminal: a webhook arrives, an agent works on it, asks a person, and goes on';

const stage = Stage.open({ color: true, columns: 96 });
try {
  for (const command of BEFORE) await stage.run(unshown(command));
  const scenes: Scene[] = [];
  for (const { command, directives = [] } of TOUR) {
    const { raw } = await stage.run({ ...unshown(command), directives });
    scenes.push({ command, lines: new Screen().write(raw).pieces() });
  }
  writeFileSync('docs/tour.svg', draw(scenes, TITLE));
} finally {
  await stage.close();
}
