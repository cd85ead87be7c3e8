import {
  byMinutes,
  byMinutesAndSeed,
  repeatTests,
  runProgram,
  type Run,
  type TortureOptions,
} from './runs.ts';

/** One thing that may be tortured. */
export interface Task {
  readonly name: string;
  /** In one line. */
  readonly what: string;
  /** The files it runs, relative to the repository. */
  readonly files: readonly string[];
  readonly run: Run;
}

type ArgsOf = Parameters<typeof runProgram>[1];

const program = (path: string, argsOf: ArgsOf): Pick<Task, 'files' | 'run'> => ({
  files: [path],
  run: runProgram(path, argsOf),
});

/** From this many minutes on, every point is tried; below that, some. */
const EACH_POINT_MINUTES = 30;
const IMAGES_A_MINUTE = 30;

/** Its work is counted, not timed. */
const byImages = ({ minutes }: TortureOptions): readonly string[] => [
  '--images',
  String(Math.ceil(minutes * IMAGES_A_MINUTE)),
  '--stride',
  String(Math.max(1, Math.ceil(EACH_POINT_MINUTES / minutes))),
];

const tests = (...files: string[]): Pick<Task, 'files' | 'run'> => ({
  files,
  run: repeatTests(files),
});

/** In the order in which they run. */
export const TASKS: readonly Task[] = [
  {
    name: 'kill',
    what: 'the daemon is killed while it takes deliveries, saves files and pushes',
    ...tests(
      'test/fault/kill.torture.test.ts',
      'test/fault/kill-disk.torture.test.ts',
      'test/fault/kill-push.torture.test.ts',
    ),
  },
  {
    name: 'power-cut',
    what: 'images of the disk as a power cut may leave it, and a kill at every write',
    ...program('test/fault/power-cut/torture-program.ts', byImages),
  },
  {
    name: 'simulator',
    what: 'random histories of queue, leases and approvals against a model',
    ...program('test/sim/torture-program.ts', byMinutesAndSeed),
  },
  {
    name: 'fuzz',
    what: 'input that is made up, by every door',
    ...program('test/fuzz/torture-program.ts', byMinutesAndSeed),
  },
  {
    name: 'log',
    what: 'random histories of a followed log, with crashes at each of its steps',
    ...tests('test/store/generations-model.torture.test.ts'),
  },
  {
    name: 'readers',
    what: 'readers in processes of their own beside a writer that folds its log in all the time',
    ...program('test/fault/readers/soak-program.ts', byMinutes),
  },
  {
    name: 'replica',
    what: 'copies that are killed, damaged, cut off and lied to, and brought up to date again',
    ...tests(
      'test/daemon/replica/kill.torture.test.ts',
      'test/daemon/replica/damage.e2e.test.ts',
      'test/fault/broken-line.torture.test.ts',
      'test/fault/team.torture.test.ts',
      'test/fault/team-cut.torture.test.ts',
    ),
  },
  {
    name: 'gateways',
    what: 'two gateways over one store, killed by turns under load',
    ...tests('test/fault/gateways.torture.test.ts'),
  },
  {
    name: 'tasks',
    what: 'gateways, daemons and svc mcp that are killed while a task waits for a person or an event',
    ...tests(
      'test/fault/task-kill.torture.test.ts',
      'test/fault/task-gateways.torture.test.ts',
      'test/fault/prompt-races.torture.test.ts',
    ),
  },
  {
    name: 'mail',
    what: 'processes that are killed while they send mail',
    ...tests(
      'test/gateway/mail/outbound/sender-kill.torture.test.ts',
      'test/gateway/mail/outbox-kill.torture.test.ts',
    ),
  },
  {
    name: 'clients',
    what: 'slow clients, large bodies and little memory',
    ...tests(
      'test/fault/slow-clients.torture.test.ts',
      'test/fault/memory.torture.test.ts',
      'test/fault/crowd.torture.test.ts',
    ),
  },
  {
    name: 'soak',
    what: 'two gateways and 200 projects under a steady load, one of them killed every five minutes',
    ...program('test/fault/soak-program.ts', byMinutes),
  },
];
