import { archiveUse } from '../../shared/store/log/log-archive.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { Caller, LongContext, ServerInfo, Vault } from '../../shared/kernel/context.ts';
import { ServiceError } from '../../shared/lib/errors.ts';
import type { Answer, Credentials, Executor, Follower } from '../../shared/kernel/executor.ts';
import { longContext } from '../../shared/kernel/long-context.ts';
import { admit, type Executable } from '../../shared/kernel/operation.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import type { Project } from '../projects/project.ts';
import type { Projects } from '../projects/projects.ts';
import type { RateLimiter } from '../auth/rate-limiter.ts';
import { runWrite } from './write.ts';

export interface AuthorityDeps {
  readonly projects: Projects;
  readonly authenticator: Authenticator;
  readonly rateLimiter: RateLimiter;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly server: ServerInfo;
  /** Validates every answer against its schema; tests turn it on. */
  readonly checkAnswers: boolean;
}

/** Runs operations in the process that has the data. */
export class Authority implements Executor {
  readonly #deps: AuthorityDeps;

  constructor(deps: AuthorityDeps) {
    this.#deps = deps;
  }

  authenticate(credentials: Credentials): Promise<Caller> {
    return this.#deps.authenticator.check(credentials);
  }

  meter(caller: Caller): Readonly<Record<string, string>> {
    return this.#deps.rateLimiter.take(caller.keyId, this.#deps.clock.now());
  }

  async execute(
    operation: Executable,
    input: unknown,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<Answer> {
    const checked = admit(operation, input, caller);
    const project = await this.#deps.projects.find(caller.projectId);
    if (!project) throw new ServiceError('UNAUTHENTICATED');
    const answer = await this.#run(operation, checked, { caller, project, signal });
    if (this.#deps.checkAnswers) operation.output.parse(answer.value);
    return operation.effect === 'write' ? { ...answer, position: project.position } : answer;
  }

  async follow(caller: Caller, follower: Follower): Promise<() => void> {
    const project = await this.#deps.projects.find(caller.projectId);
    if (!project) throw new ServiceError('UNAUTHENTICATED');
    return project.waits.follow(caller.keyId, follower);
  }

  async #run(
    operation: Executable,
    input: unknown,
    call: { caller: Caller; project: Project; signal: AbortSignal },
  ): Promise<Answer> {
    const { handler } = operation;
    const { caller, project, signal } = call;
    const { clock, vault, server } = this.#deps;
    const base = {
      caller,
      project: project.info,
      server,
      vault,
      now: clock.now(),
      unspentTransfer: (month: string) => project.transfer.unspent(month),
      replicaLog: () => archiveUse(project.databasePath, server.replicaLogBytes ?? null),
    };
    if (handler.kind === 'read') {
      return { value: await project.store.read((store) => handler.run({ store, ...base }, input)) };
    }
    const { blobs, waits, pace } = project;
    const read: LongContext['read'] = (fn) => project.store.read(fn);
    const long = (): LongContext =>
      longContext(base, { blobs, waits, pace, read, now: () => clock.now() }, signal);
    return handler.kind === 'long'
      ? { value: await handler.run(long(), input) }
      : runWrite({ operation, handler, input, base, project, long });
  }
}
