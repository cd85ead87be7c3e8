import { ScriptedAgent, type Outcome } from './agent.ts';
import { EVENT_TASKS } from './tasks-events.ts';
import { PROJECT_TASKS } from './tasks-project.ts';
import { Town } from './world.ts';

// Prints how the tasks go, so that two wordings can be compared: npx tsx test/surface/mcp-tasks/print.ts

const town = await Town.open();
const outcomes: Outcome[] = [];
for (const task of [...EVENT_TASKS, ...PROJECT_TASKS]) {
  outcomes.push(await ScriptedAgent.do(task, await town.place(`task-${outcomes.length}`)));
}
await town.close();

const columns: readonly (readonly [title: string, (one: Outcome) => string | number])[] = [
  ['task', ({ task }) => task.padEnd(46)],
  ['calls', ({ calls }) => calls],
  ['before', ({ before }) => before],
  ['read', ({ read }) => read],
  ['recoveries', ({ recoveries }) => recoveries],
  ['faults', ({ faults }) => faults.join('; ')],
];
const lines = [
  columns.map(([title]) => title.padEnd(title === 'task' ? 46 : 0)),
  ...outcomes.map((one) => columns.map(([title, of]) => String(of(one)).padStart(title.length))),
];
process.stdout.write(`${lines.map((line) => line.join('  ').trimEnd()).join('\n')}\n`);
