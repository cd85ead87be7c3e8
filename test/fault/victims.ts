import { join } from 'node:path';
import { keyOf, svc, svcUp } from '../helpers/daemon.ts';
import { freePort } from '../helpers/programs.ts';
import { Member, newProject, TeamGateway } from '../helpers/team.ts';

/** Servers that can be killed, and how their workers and people find them. */
export interface Victim {
  /** Where hooks and people's pages are. */
  readonly url: string;
  readonly dataFolder: string;
  /** What a worker needs. */
  readonly env: Readonly<Record<string, string>>;
  readonly key: string;
  readonly kill: () => Promise<void>;
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<unknown>;
}

/** Starts one below a folder. */
export type StartVictim = (folder: string) => Promise<Victim>;

/** A daemon with its own project. */
export const daemonVictim: StartVictim = async (home) => {
  let up = await svcUp(home);
  const { base_url: url } = up;
  const port = new URL(url).port;
  return {
    url,
    dataFolder: join(home, 'data'),
    env: { SVC_HOME: home },
    key: await keyOf(home),
    kill: async () => void process.kill(up.pid, 'SIGKILL'),
    restart: async () => {
      const told = await svc(home, ['up', '--port', port, '--json']);
      up = JSON.parse(told) as typeof up;
    },
    stop: () => svc(home, ['down']),
  };
};

/** A gateway that workers call themselves. */
export const gatewayVictim: StartVictim = async (folder) => {
  const { gateway, dataFolder, project } = await shopGateway(folder);
  return {
    url: gateway.url,
    dataFolder,
    env: {
      SVC_HOME: join(folder, 'nobody'),
      SVC_GATEWAY: gateway.url,
      SVC_API_KEY: project.apiKey,
    },
    key: project.apiKey,
    kill: () => gateway.kill(),
    restart: () => gateway.start(),
    stop: () => gateway.stop(),
  };
};

/** A gateway and a daemon with a replica of it, which workers call: one of them dies, or both. */
export const teamVictim: StartVictim = async (folder) => {
  const { gateway, dataFolder, project } = await shopGateway(folder);
  const home = join(folder, 'member');
  const member = new Member({ home, gateway: gateway.url, project });
  await member.up();
  let kills = 0;
  let dead: readonly ('gateway' | 'daemon')[] = [];
  return {
    url: gateway.url,
    dataFolder,
    env: { SVC_HOME: home },
    key: project.apiKey,
    kill: async () => {
      const turns = [['gateway'], ['daemon'], ['gateway', 'daemon']] as const;
      dead = turns[kills % turns.length] ?? [];
      kills += 1;
      if (dead.includes('daemon')) process.kill(member.pid, 'SIGKILL');
      if (dead.includes('gateway')) await gateway.kill();
    },
    restart: async () => {
      if (dead.includes('gateway')) await gateway.start();
      if (dead.includes('daemon')) await member.up();
    },
    stop: async () => {
      await member.down();
      await gateway.stop();
    },
  };
};

/** A gateway at a port of its own, which it has again after a restart. */
async function shopGateway(folder: string) {
  const dataFolder = join(folder, 'gateway');
  const project = await newProject(dataFolder, 'shop', 'owner@team.example');
  const listen = `127.0.0.1:${await freePort()}`;
  let running = await TeamGateway.start({ dataFolder, listen });
  const gateway = {
    url: running.url,
    kill: () => running.end('SIGKILL'),
    start: async () => void (running = await TeamGateway.start({ dataFolder, listen })),
    stop: () => running.end(),
  };
  return { gateway, dataFolder, project };
}
