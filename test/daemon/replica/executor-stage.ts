import { ReplicaExecutor, type ReadableReplica } from '../../../daemon/replica/serve/executor.ts';
import type { Freshness } from '../../../daemon/replica/status.ts';
import { UpstreamError } from '../../../daemon/upstream/upstream-error.ts';
import type { UpstreamCall } from '../../../daemon/upstream/upstream.ts';
import type { Caller } from '../../../shared/kernel/context.ts';
import type { Answer, Credentials } from '../../../shared/kernel/executor.ts';
import type { ProjectReader } from '../../../shared/store/project-store.ts';
import { KeyCache } from '../../../shared/kernel/key-cache.ts';
import { Waits } from '../../../shared/kernel/waits.ts';
import { Admission } from '../../../shared/admission/admission.ts';
import { Pace } from '../../../shared/kernel/pace.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { operationNamed } from '../../surface/scenario.ts';

const NEVER = new AbortController().signal;
const ORIGIN = 'https://gateway.example';

/** A copy that is as fresh as a test says. Its rows are real. */
class FakeReplica implements ReadableReplica {
  readonly waits = new Waits();
  readonly pace = new Pace();
  readonly keyCache = new KeyCache();
  readonly written: (number | null)[] = [];
  /** What became of calls that were passed on. */
  readonly heard: ('answer' | 'late' | 'silence')[] = [];
  readonly contact = {
    isSilent: false,
    isPrompt: (): Promise<boolean> => Promise.resolve(!this.contact.isSilent),
    attend: (): void => undefined,
    noteAnswer: (): void => void this.heard.push('answer'),
    noteLate: (): void => void this.heard.push('late'),
    noteSilence: (): void => void this.heard.push('silence'),
  };
  readonly info: ReadableReplica['info'];
  store: ProjectReader | null;
  fresh: Freshness = { usable: 'live', ageMs: 5 };
  isSettled = true;
  settledAsked = 0;
  /** Called with `settledAsked`. */
  onSettled: (times: number) => void = () => undefined;

  constructor({ url, projectId: id }: TestGateway, store: ProjectReader) {
    const urls = { api: url, mcp: `${url}/mcp`, hooks: url };
    const server = {
      version: '0.0.0',
      urls,
      channels: [],
      telegramBot: null,
      mail: { domain: null, from: null },
    };
    this.info = { project: { id, slug: 'test', name: 'Test' }, server, schemaVersion: 1 };
    this.store = store;
  }

  freshness(): Freshness {
    return this.fresh;
  }

  now(): number {
    return Date.now();
  }

  noteWritten(position: number | null): void {
    this.written.push(position);
  }

  settled(): Promise<boolean> {
    this.settledAsked += 1;
    this.onSettled(this.settledAsked);
    return Promise.resolve(this.isSettled);
  }
}

/** An executor between a copy and a gateway that both answer as a test says. */
export class ExecutorStage {
  readonly gateway: TestGateway;
  readonly #store: ProjectReader;
  replica: FakeReplica;
  executor: ReplicaExecutor;
  asked: UpstreamCall[] = [];
  answerOf: (call: UpstreamCall) => Promise<Answer> = async () => ({ value: null });

  private constructor(gateway: TestGateway, store: ProjectReader) {
    this.gateway = gateway;
    this.#store = store;
    this.replica = new FakeReplica(gateway, store);
    this.executor = this.executorWith(() => this.replica);
  }

  /** There is one key, `color`: "blue". */
  static async open(): Promise<ExecutorStage> {
    const gateway = await TestGateway.start();
    await gateway.call('PUT', '/v1/kv/color', { body: 'blue' });
    const project = await gateway.gateway.projects.find(gateway.projectId);
    if (!project) throw new Error('There is no project.');
    return new ExecutorStage(gateway, project.store);
  }

  reset(): void {
    this.replica = new FakeReplica(this.gateway, this.#store);
    this.asked = [];
    this.answerOf = async () => ({ value: 'from the gateway' });
    this.executor = this.executorWith(() => this.replica);
  }

  executorWith(replica: () => FakeReplica | null): ReplicaExecutor {
    return new ReplicaExecutor({
      projectId: this.gateway.projectId,
      replica,
      admission: Admission.local(),
      upstream: {
        origin: ORIGIN,
        call: (call) => {
          this.asked.push(call);
          return this.answerOf(call);
        },
      },
    });
  }

  credentials(apiKey = this.gateway.apiKey): Credentials {
    return {
      authorization: `Bearer ${apiKey}`,
      agentHeader: undefined,
      userAgent: 'codex/1',
      requestId: 'r1',
      idempotencyKey: undefined,
    };
  }

  async run(name: string, input: unknown, caller?: Caller): Promise<Answer> {
    const identity = caller ?? (await this.executor.authenticate(this.credentials()));
    return this.executor.execute(operationNamed(name), input, identity, NEVER);
  }

  get askedNames(): string[] {
    return this.asked.map(({ operation }) => operation.name);
  }

  /** The gateway knows the key, and answers anything else with this. */
  acceptKeys(value: unknown, diskPrefixes?: readonly string[]): void {
    const whoami = {
      project: { id: this.gateway.projectId },
      key: { id: 'key_other', ...(diskPrefixes && { disk_prefixes: diskPrefixes }) },
      scopes: ['disk'],
      agent: { label: null, platform: 'unknown', source: 'none' },
    };
    this.answerOf = async ({ operation }) => ({
      value: operation.name === 'whoami' ? whoami : value,
    });
  }
}

/** The error for a gateway that gave no answer. */
export function silence(mayHaveArrived: boolean): UpstreamError {
  return new UpstreamError({ gateway: ORIGIN, reason: 'x', mayHaveArrived, advice: 'Wait.' });
}
