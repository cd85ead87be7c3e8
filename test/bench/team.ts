import { join } from 'node:path';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../helpers/programs.ts';
import { Member, newProject, TeamGateway, type TeamProject } from '../helpers/team.ts';
import type { Bench } from './bench.ts';
import { buildProduct } from './product.ts';
import { SharedTeam } from './shared-team.ts';

/** The hosted process with one project, as it ships. */
export class BenchTeam {
  readonly gateway: TeamGateway;
  readonly project: TeamProject;
  readonly #bench: Bench;
  #members = 0;

  private constructor(bench: Bench, gateway: TeamGateway, project: TeamProject) {
    this.#bench = bench;
    this.gateway = gateway;
    this.project = project;
  }

  /** `prepare` gets the closed database of the project before the gateway starts. */
  static async start(bench: Bench, prepare?: (file: string) => void): Promise<BenchTeam> {
    await buildProduct(bench.progress);
    const dataFolder = bench.workshop.place('gateway');
    const project = await newProject(dataFolder, 'team');
    prepare?.(join(dataFolder, 'projects', project.id, 'project.db'));
    const listen = `127.0.0.1:${await freePort()}`;
    const gateway = bench.workshop.own(await TeamGateway.start({ dataFolder, listen }));
    return new BenchTeam(bench, gateway, project);
  }

  /** The same with its database on a libSQL server. */
  static async onServer(bench: Bench, secret: string): Promise<BenchTeam> {
    const shared = await SharedTeam.start(bench, 1, secret);
    const [project] = shared.projects;
    if (!project) throw new Error('No project was made.');
    return new BenchTeam(bench, await shared.gateway(), project);
  }

  /** One more machine; its daemon is not started. `through` is the address by which it knows the gateway. */
  member(through = this.gateway.url): Member {
    const home = this.#bench.workshop.place(`member-${(this.#members += 1)}`);
    const one = new Member({ home, gateway: through, project: this.project });
    const end = (): Promise<void> => one.down().then(ignore, ignore);
    this.#bench.workshop.own({ end });
    return one;
  }

  /** One more machine, whose copy is there and up to date. */
  async liveMember(): Promise<Member> {
    const one = this.member();
    await one.up();
    await live(one);
    return one;
  }
}

const ignore = (): void => undefined;

/** Resolves when the copy of a member is up to date, at the time this was seen. */
export async function live(member: Member, withinMs = 120_000): Promise<number> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const state = await replicaState(member);
    if (state === 'live') return performance.now();
    if (performance.now() > deadline) throw new Error(`The copy is not live but ${state}.`);
    await sleep(20);
  }
}

/** Asked on the socket, as `svc status` does. */
function replicaState(member: Member): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = { socketPath: member.socketPath, path: '/_daemon/status' };
    const sent = request(asked, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => {
        const { replica } = JSON.parse(text) as { replica?: { state: string } | null };
        resolve(replica?.state ?? 'absent');
      });
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}
